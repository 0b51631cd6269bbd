//! `billhook normalize` and `billhook neat`: objects in the form that is best to compare, or to
//! keep.

use std::path::PathBuf;

use billhook::{DecodeError, DecodeOptions, FieldValidation};
use billhook_apimachinery::value::DeepValue;
use clap::Args;

use crate::crds::Crds;
use crate::identity::Identity;
use crate::input::{Document, objects};
use crate::options::{CrdPaths, Format, read_stdin_once};
use crate::problem::{Problem, RunError, Status};
use crate::report::{self, Objects};
use crate::server::Server;

pub(crate) const HELP: &str = "\
`normalize` and `neat` leave out what only servers write: the status, if it is a subresource, and
`generation`, `resourceVersion`, `uid`, `managedFields` and other metadata, with the annotations of
client-side apply and of the templates of a DaemonSet. What a server gave an object, such as the
addresses of a Service, stays.

Exit status:
  0  no object is refused
  1  an object is refused
  2  unusable input: bad arguments, a missing file, not YAML or JSON, no CRD for an object

Examples:
  billhook normalize --crd crds/ live.yaml
  billhook neat --crd crds/ live.yaml > neat.yaml
  billhook neat --crd crds/ --output json manifests/";

#[derive(Debug, Args)]
pub(crate) struct Normal {
    #[command(flatten)]
    crd: CrdPaths,
    #[command(flatten)]
    server: Server,
    /// Output format of objects
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = Format::Yaml)]
    output: Format,
    /// Objects: files, directories or `-` for standard input
    #[arg(value_name = "OBJECT", required = true)]
    objects: Vec<PathBuf>,
}

impl Normal {
    /// Checks combinations of options that clap cannot rule out.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        read_stdin_once(self.crd.paths.iter().chain(&self.objects))
    }
}

/// The forms of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Decoded, with all defaults.
    Normal,
    /// The smallest manifest that decodes to the same object.
    Neat,
}

/// Runs the command.
pub(crate) fn run(command: &Normal, form: Form) -> Result<Status, RunError> {
    let config = command.server.config(&command.objects)?;
    let options = command.server.crd_options(&config);
    let (crds, problems) = Crds::read(&command.crd.paths, &config, &command.objects, options);
    let mut status = report::problems(&problems);
    if status > Status::Fine {
        return Ok(status);
    }
    let mut printer = Objects::new(command.output);
    for found in objects(&command.objects) {
        match found.and_then(|document| formed(document, &crds, form)) {
            Ok(object) => printer.print(&object)?,
            Err(problem) => status = status.max(report::problem(&problem)),
        }
    }
    Ok(status)
}

fn formed(document: Document, crds: &Crds, form: Form) -> Result<DeepValue, Box<Problem>> {
    let Document { place, mut value, .. } = document;
    let identity = Identity::of(&value);
    let (_, version) = crds.version_of(&value, &identity, &place)?;
    let refused = |error: DecodeError| Problem::refused(place.clone(), error.status_message());
    version.remove_server_state(&mut value);
    if form == Form::Neat {
        return version.neat(&value).map_err(refused);
    }
    let options = DecodeOptions::default().field_validation(FieldValidation::Ignore);
    version.decode_value(&mut value, &options).map_err(refused)?;
    // Decoding sets some of it.
    version.remove_server_state(&mut value);
    Ok(value)
}
