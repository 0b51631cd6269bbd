//! Excerpts with marks, as compilers print them.

use annotate_snippets::{
    Annotation, AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet,
};
use billhook::Span;

use crate::finding::{Finding, Severity};
use crate::source::{Source, character_start};
use crate::visible::visible;

/// How much of a long line is shown before and after what is marked, in bytes.
const AROUND: usize = 60;

/// Returns a finding for people: its text, the marked lines of the document and of the definition,
/// and advice; in color if it is for a terminal.
pub fn human(finding: &Finding, colored: bool) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let (rule, text) = (visible(&finding.rule), visible(&finding.text));
    let excerpt = finding.place.as_ref().zip(finding.span);
    let excerpt = excerpt.map(|(place, span)| Excerpt::new(&place.source, span));
    let schema = finding.schema.as_ref();
    let of_schema = schema.map(|label| Excerpt::new(&label.source, label.span));
    let title = level.primary_title(text.as_str()).id(rule.as_str());
    let mut elements: Vec<Element<'_>> = Vec::new();
    match &excerpt {
        Some(excerpt) => {
            let kind = AnnotationKind::Primary;
            elements.extend(excerpt.elements(kind, finding.label.as_deref()));
        }
        None if !finding.file().is_empty() => {
            elements.push(Origin::path(visible(finding.file())).into());
        }
        None => {}
    }
    if let Some((excerpt, label)) = of_schema.as_ref().zip(schema) {
        elements.extend(excerpt.elements(AnnotationKind::Context, Some(&label.text)));
    }
    if let Some(help) = &finding.help {
        elements.push(Level::HELP.message(visible(help)).into());
    }
    let group: Group<'_> = title.elements(elements);
    let renderer = if colored { Renderer::styled() } else { Renderer::plain() };
    let rendered = renderer.render(&[group]);
    let mut out = String::with_capacity(rendered.len() + 2);
    for line in rendered.lines().filter(|line| !is_nameless_origin(line)) {
        out.push_str(line);
        out.push('\n');
    }
    out.push('\n');
    out
}

/// Whether a line announces a file without a name, as the renderer does for an excerpt whose place
/// has a line of its own.
fn is_nameless_origin(line: &str) -> bool {
    let mut parts = line.split('\u{1b}');
    let first = parts.next().unwrap_or_default();
    let colored = parts.filter_map(|part| part.split_once('m')).map(|(_, text)| text);
    std::iter::once(first).chain(colored).collect::<String>().trim() == ":::"
}

/// The line of a marked part, without characters that a terminal would not print.
struct Excerpt {
    file: String,
    line: usize,
    column: usize,
    text: String,
    /// Whether the text begins as the line does.
    is_whole: bool,
    mark: std::ops::Range<usize>,
}

impl Excerpt {
    fn new(source: &Source, span: Span) -> Self {
        let start = source.position(span.start);
        let (text, at) = (source.text(), start.offset);
        let part = |from: usize, to: usize| {
            let (from, to) = (character_start(text, from), character_start(text, to));
            text.get(from..to).unwrap_or_default()
        };
        let before = part(source.line_start(start.line).max(at.saturating_sub(AROUND)), at);
        let end = span.end.clamp(at, at + 2 * AROUND);
        let marked = part(at, end).split(['\n', '\r']).next().unwrap_or_default();
        let after = part(at + marked.len(), end + AROUND);
        let after = after.split(['\n', '\r']).next().unwrap_or_default();
        let mut shown = visible(&before.replace('\t', "    "));
        let is_whole = shown.chars().count() + 1 == start.column;
        let mark_start = shown.len();
        shown.push_str(&visible(marked));
        let mark = mark_start..shown.len();
        shown.push_str(&visible(after));
        let file = visible(source.name());
        Excerpt { file, line: start.line, column: start.column, text: shown, is_whole, mark }
    }

    fn elements(&self, kind: AnnotationKind, label: Option<&str>) -> Vec<Element<'_>> {
        let mut annotation: Annotation<'_> = kind.span(self.mark.clone());
        if let Some(label) = label {
            annotation = annotation.label(visible(label));
        }
        let snippet = Snippet::source(self.text.as_str()).line_start(self.line);
        let snippet = snippet.annotation(annotation);
        if self.is_whole {
            return vec![snippet.path(self.file.as_str()).into()];
        }
        // The column is not that in the excerpt.
        let origin = Origin::path(self.file.as_str()).line(self.line).char_column(self.column);
        vec![origin.into(), snippet.into()]
    }
}
