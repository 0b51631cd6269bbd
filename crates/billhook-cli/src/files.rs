//! Files that are written: at once, or not at all.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use crate::input::read_file;

/// How many links may lead to a file, as on Linux.
const MAX_LINKS: usize = 40;

/// Writes a file that only its owner can read. It is a new one in any case: what a file of this
/// name allows, and who holds it open, does not matter. Links are not followed.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => {
            return Err(invalid("a link, which is not followed; name the file itself"));
        }
        Ok(metadata) if !metadata.is_file() => return Err(invalid("not a regular file")),
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    write_beside(path, bytes, |_| Ok(()), || Ok(()))
}

/// Writes a file that all can read, who find it whole or not at all.
pub(crate) fn write_public(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_beside(path, bytes, open_to_readers, || Ok(()))
}

/// Replaces what was read from a file, at once; a file that may not be written, or that has been
/// changed by others meanwhile, stays as it is. Links to it are followed. Its mode and its owner
/// stay. A file with several names, or whose owner a new one cannot have, is written in place.
pub(crate) fn replace(path: &Path, before: &[u8], after: &[u8]) -> io::Result<()> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() || is_open_file(path)? {
        return Err(invalid("not a regular file"));
    }
    if metadata.permissions().readonly() {
        return Err(io::Error::new(ErrorKind::PermissionDenied, "the file is read-only"));
    }
    let path = path.canonicalize()?;
    // Renaming needs no permission to write the file.
    let file = OpenOptions::new().write(true).open(&path)?;
    let check = || match read_file(&path)? == before {
        true => Ok(()),
        false => Err(io::Error::other("the file has changed meanwhile and stays as it is")),
    };
    if names(&metadata) > 1 {
        return check().and_then(|()| write_over(file, before, after));
    }
    let mut is_other = false;
    let keep = |new: &File| {
        is_other = !keep_owner(new, &metadata)?;
        match is_other {
            true => Err(io::Error::other("the new file has another owner")),
            false => new.set_permissions(metadata.permissions()),
        }
    };
    match write_beside(&path, after, keep, check) {
        Err(_) if is_other => check().and_then(|()| write_over(file, before, after)),
        done => done,
    }
}

/// Writes a new file, which takes the place of one in the end.
fn write_beside(
    path: &Path,
    bytes: &[u8],
    keep: impl FnOnce(&File) -> io::Result<()>,
    check: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    let new = beside(path);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // A file of this name that is there is not ours.
    let mut file = options.open(&new)?;
    let written = file
        .write_all(bytes)
        .and_then(|()| keep(&file))
        .and_then(|()| file.sync_all())
        .and_then(|()| check())
        .and_then(|()| fs::rename(&new, path));
    written.inspect_err(|_| {
        // The first error is the one that counts.
        let _ = fs::remove_file(&new);
    })
}

/// Writes a file in place; if that fails, what was in it is written again.
fn write_over(mut file: File, before: &[u8], after: &[u8]) -> io::Result<()> {
    let mut write = |bytes: &[u8]| {
        file.rewind()?;
        file.write_all(bytes)?;
        file.set_len(bytes.len() as u64)?;
        file.sync_all()
    };
    write(after).inspect_err(|_| {
        let _ = write(before);
    })
}

/// The name of a new file beside a file, which no search takes for a manifest.
fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".billhook-{}", std::process::id()));
    path.with_file_name(name)
}

/// Whether a path stands for a file that a process has open, such as `/dev/stdin`: the file that
/// it happens to be was never named.
fn is_open_file(path: &Path) -> io::Result<bool> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let parent = match path.parent() {
            Some(parent) if parent.as_os_str().is_empty() => Path::new(".").canonicalize()?,
            Some(parent) => parent.canonicalize()?,
            None => return Ok(false),
        };
        if parent == Path::new("/dev")
            || ["/dev/fd", "/proc"].iter().any(|it| parent.starts_with(it))
        {
            return Ok(true);
        }
        match fs::read_link(&path) {
            Ok(target) => path = parent.join(target),
            Err(_) => return Ok(false),
        }
    }
    Ok(false)
}

fn invalid(message: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, message)
}

/// How many names a file has.
#[cfg(unix)]
fn names(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(metadata)
}

#[cfg(not(unix))]
fn names(_: &Metadata) -> u64 {
    1
}

/// Lets all read a new file.
#[cfg(unix)]
fn open_to_readers(new: &File) -> io::Result<()> {
    new.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))
}

#[cfg(not(unix))]
fn open_to_readers(_: &File) -> io::Result<()> {
    Ok(())
}

/// Sets the owner and the group of a new file; returns whether it has them.
#[cfg(unix)]
fn keep_owner(new: &File, metadata: &Metadata) -> io::Result<bool> {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let (owner, group) = (metadata.uid(), metadata.gid());
    let has_them = |new: &Metadata| (new.uid(), new.gid()) == (owner, group);
    Ok(has_them(&new.metadata()?) || fchown(new, Some(owner), Some(group)).is_ok())
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) -> io::Result<bool> {
    Ok(true)
}
