//! Texts that were read, and the places in them.

use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use billhook::{FieldPath, Segment, Span, Spans, ValueSpan};

/// The mark that some editors write before a text; it is not a character of it.
const MARK: char = '\u{feff}';
/// How many bytes are counted at a time, so that lines of any length cost the same.
const BLOCK: usize = 1024;

/// A text that was read, with its name. What is needed to find places in it is made when the first
/// place is asked for.
#[derive(Debug, Default)]
pub struct Source {
    name: String,
    path: Option<PathBuf>,
    text: Text,
    /// The offsets at which lines begin.
    lines: OnceLock<Vec<usize>>,
    /// The number of characters before each [`BLOCK`] of bytes.
    blocks: OnceLock<Vec<usize>>,
    /// The documents by their number.
    documents: OnceLock<Vec<(usize, Document)>>,
}

#[derive(Debug)]
struct Document {
    spans: Spans,
    /// The parts that several values are written as.
    shared: OnceLock<HashSet<Span>>,
    /// The keys that are written more than once.
    repeated: HashSet<String>,
}

impl Document {
    fn shared(&self) -> &HashSet<Span> {
        self.shared.get_or_init(|| {
            let mut seen = HashSet::new();
            let parts = self.spans.iter().flat_map(|span| span.key.into_iter().chain([span.value]));
            parts.filter(|part| !seen.insert(*part)).collect()
        })
    }
}

/// The bytes that were read.
#[derive(Debug)]
enum Text {
    Utf8(String),
    /// Other bytes, and the text that they begin with.
    Other(Vec<u8>, String),
}

impl Default for Text {
    fn default() -> Self {
        Text::Utf8(String::new())
    }
}

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Position {
    /// The offset in bytes.
    pub offset: usize,
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
}

impl Source {
    /// Creates a source from the name of a file and its bytes. After bytes that are not UTF-8 no
    /// places are known.
    pub fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        let text = String::from_utf8(bytes.into()).map_or_else(
            |error| {
                let end = error.utf8_error().valid_up_to();
                let bytes = error.into_bytes();
                let text = bytes.get(..end).and_then(|text| std::str::from_utf8(text).ok());
                let text = text.unwrap_or_default().to_owned();
                Text::Other(bytes, text)
            },
            Text::Utf8,
        );
        Source { name: name.into(), text, ..Self::default() }
    }

    /// Creates a source from the path of a file and its bytes. The name is the path, as far as it
    /// is UTF-8.
    pub fn of_file(path: &Path, bytes: impl Into<Vec<u8>>) -> Self {
        let source = Source::new(path.to_string_lossy(), bytes);
        Source { path: Some(path.to_owned()), ..source }
    }

    /// Creates a source of the same file with another text.
    #[must_use]
    pub fn with_text(&self, text: impl Into<Vec<u8>>) -> Self {
        Source { path: self.path.clone(), ..Source::new(self.name.as_str(), text) }
    }

    /// Returns the path of the file; `None` if none is known, as of standard input.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Returns the name of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the text up to the first byte that is not UTF-8.
    pub fn text(&self) -> &str {
        match &self.text {
            Text::Utf8(text) | Text::Other(_, text) => text,
        }
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        match &self.text {
            Text::Utf8(text) => text.as_bytes(),
            Text::Other(bytes, _) => bytes,
        }
    }

    /// Returns the place of an offset.
    pub fn position(&self, offset: usize) -> Position {
        let offset = character_start(self.text(), offset);
        let line = self.lines().partition_point(|start| *start <= offset).max(1);
        let before = self.characters(self.line_start(line));
        let column = self.characters(offset).saturating_sub(before) + 1;
        Position { offset, line, column }
    }

    /// Returns the offset of a line and a character in it, both from 1.
    pub fn offset(&self, line: usize, column: usize) -> usize {
        let rest = self.text().get(self.line_start(line)..).unwrap_or_default();
        let skipped = rest.chars().take(column.saturating_sub(1)).take_while(|c| *c != '\n');
        self.line_start(line) + skipped.map(char::len_utf8).sum::<usize>()
    }

    /// Returns the offset of a line, from 1; that of the end if there are fewer lines.
    pub fn line_start(&self, line: usize) -> usize {
        let start = line.checked_sub(1).and_then(|line| self.lines().get(line));
        start.copied().unwrap_or(self.text().len())
    }

    /// The offsets at which lines begin, the first after a byte order mark.
    fn lines(&self) -> &[usize] {
        self.lines.get_or_init(|| {
            let text = self.text();
            let first = if text.starts_with(MARK) { MARK.len_utf8() } else { 0 };
            let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
            std::iter::once(first).chain(breaks).collect()
        })
    }

    /// The number of characters before an offset.
    fn characters(&self, offset: usize) -> usize {
        let bytes = self.text().as_bytes();
        let count = |bytes: &[u8]| bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        let blocks = self.blocks.get_or_init(|| {
            let mut sum = 0;
            let sums = bytes.chunks(BLOCK).map(|block| {
                sum += count(block);
                sum
            });
            std::iter::once(0).chain(sums).collect()
        });
        let block = offset / BLOCK;
        let rest = bytes.get(block * BLOCK..offset).unwrap_or_default();
        blocks.get(block).copied().unwrap_or_default() + count(rest)
    }

    /// Returns the spans of a document by its number, from 0; `None` if it cannot be read, or is
    /// empty.
    pub fn spans(&self, document: usize) -> Option<&Spans> {
        self.document(document).map(|document| &document.spans)
    }

    /// Whether a part of a document is that of several values: of an anchor and its aliases.
    pub(crate) fn is_shared(&self, document: usize, span: Span) -> bool {
        self.document(document).is_some_and(|document| document.shared().contains(&span))
    }

    /// Whether a key is written more than once in its object.
    pub(crate) fn is_repeated(&self, document: usize, path: &FieldPath) -> bool {
        let document = self.document(document).filter(|document| !document.repeated.is_empty());
        document.is_some_and(|document| document.repeated.contains(&path.to_dotted()))
    }

    /// Returns the spans of all documents that are not empty; of none if the text cannot be read.
    pub fn documents(&self) -> impl Iterator<Item = &Spans> {
        self.read().iter().map(|(_, document)| &document.spans)
    }

    fn document(&self, number: usize) -> Option<&Document> {
        let documents = self.read();
        let found = documents.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        documents.get(found).map(|(_, document)| document)
    }

    fn read(&self) -> &[(usize, Document)] {
        self.documents.get_or_init(|| {
            let read = billhook::read_manifests_with_spans(self.text().as_bytes());
            let manifests = read.unwrap_or_default().into_iter();
            let document = |manifest: billhook::Manifest| {
                let number = manifest.index();
                let repeated = manifest.duplicates().iter().cloned().collect();
                let (spans, shared) = (manifest.into_spans()?, OnceLock::new());
                Some((number, Document { spans, shared, repeated }))
            };
            manifests.filter_map(document).collect()
        })
    }
}

/// A document of a source, or an object in a list there.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Place {
    /// The source.
    pub source: Arc<Source>,
    /// The number of the document, from 0; `None` for the source as a whole.
    pub document: Option<usize>,
    /// The path of the object in the document.
    pub base: FieldPath,
}

impl Place {
    /// A source as a whole.
    pub fn file(source: Arc<Source>) -> Self {
        Place { source, document: None, base: FieldPath::default() }
    }

    /// A document by its number, from 0.
    pub fn document(source: Arc<Source>, document: usize) -> Self {
        Place { source, document: Some(document), base: FieldPath::default() }
    }

    /// The item of a list.
    #[must_use]
    pub fn item(mut self, item: usize) -> Self {
        self.base = self.base.name("items").index(item);
        self
    }

    /// Returns the span of a field of the object. Of a field that is not there it is that of the
    /// innermost one around it.
    pub fn find(&self, path: &FieldPath) -> Option<Found> {
        let spans = self.source.spans(self.document?)?;
        let whole = self.base.join(path);
        let (depth, span) = spans.nearest(&whole)?;
        let base = self.base.segments().count();
        Some(Found { is_exact: depth == whole.segments().count(), is_top: depth <= base, span })
    }

    /// Returns the span of a part of a text, given the text that a field holds and the part in
    /// bytes; none if it is not certain, as with escapes.
    pub fn find_part(&self, path: &FieldPath, text: &str, part: Range<usize>) -> Option<Span> {
        let value = self.find(path).filter(|found| found.is_exact)?.span.value;
        let written = self.source.text().get(value.start..value.end)?;
        let inside = written_part(written, text, part)?;
        Some(Span::new(value.start + inside.start, value.start + inside.end))
    }

    /// Returns the path of a field by the text that [`FieldPath::to_dotted`] makes of it; `None` if
    /// no such field exists.
    pub fn resolve(&self, dotted: &str) -> Option<FieldPath> {
        let spans = self.source.spans(self.document?)?;
        spans.resolve(&self.base, dotted)
    }
}

/// Returns where a part of a text is in the scalar that it is written as. Line breaks and
/// indentation may be written in other ways than the text has them.
fn written_part(written: &str, text: &str, part: Range<usize>) -> Option<Range<usize>> {
    let mut rest = written.char_indices().peekable();
    let (mut start, mut end, mut before) = (None, None, None);
    for (at, character) in text.char_indices().take_while(|(at, _)| *at < part.end) {
        let found = loop {
            let (place, found) = rest.next()?;
            if found == character || found.is_whitespace() && character.is_whitespace() {
                break place..place + found.len_utf8();
            }
            let is_escape = match (before, found) {
                // The quote or the header that a scalar begins with.
                (None, _) => "|>+-0123456789\"'".contains(found),
                (Some('\''), '\'') => true,
                (_, '\\') => rest.peek().is_some_and(|(_, next)| *next == character),
                _ => false,
            };
            if !is_escape && !found.is_whitespace() {
                return None;
            }
        };
        before = Some(character);
        if at == part.start {
            start = Some(found.start);
        }
        end = Some(found.end);
    }
    Some(start?..end?)
}

/// The longest value that is underlined, in bytes.
const LONGEST: usize = 120;

/// The span of a field, or of one around it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Found {
    /// The key and the value.
    pub span: ValueSpan,
    /// Whether it is the field itself.
    pub is_exact: bool,
    /// Whether it is the whole object.
    pub is_top: bool,
}

impl Found {
    /// Returns the part to underline: the value of the field itself if it fits on a line, otherwise
    /// its key.
    pub fn mark(&self, text: &str) -> Span {
        let value = self.span.value;
        let whole = text.get(value.start..value.end).unwrap_or_default();
        let part = whole.get(..character_start(whole, LONGEST)).unwrap_or_default();
        let is_short = !part.trim_end().contains('\n') && !part.is_empty() && part == whole;
        match self.span.key {
            Some(key) if !self.is_exact || !is_short => key,
            _ if is_short => value,
            // The first line of what has no key.
            _ => {
                let line = part.split('\n').next().unwrap_or_default().trim_end();
                Span::new(value.start, value.start + line.len())
            }
        }
    }
}

/// The start of the character that an offset is in; at most the end of the text.
pub(crate) fn character_start(text: &str, offset: usize) -> usize {
    let offset = offset.min(text.len());
    let before = (0..4).map(|back| offset.saturating_sub(back));
    before.into_iter().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}

/// The last step of a path, if it is a name.
pub(crate) fn last_name(path: &FieldPath) -> Option<&str> {
    match path.segments().last()? {
        Segment::Name(name) | Segment::Key(name) => Some(name),
        _ => None,
    }
}
