//! The nodes of a stream in document order, from the events of the grammar.
//!
//! The grammar is that of YAML 1.2. What the server's YAML 1.1 refuses although 1.2 allows it is
//! refused here: tabs where indentation is expected, surrogates in escapes, names of anchors with
//! other characters than letters, digits, `-` and `_`, directives other than `%YAML 1.1` and `%TAG`.

use std::borrow::Cow;

use billhook_apimachinery::Span as Bytes;
use granit_parser::{
    ErrorKind, Event, Marker, Parser, ScalarStyle, ScanError, Span, StrInput, StructureStyle,
};

use crate::MAX_DEPTH;
use crate::error::{Place, YamlError};
use crate::reach::Reach;
use crate::scalar::{Scalar, Tag};

/// The end of a collection, or a node (without its content).
#[derive(Clone, Debug)]
pub(crate) enum Kind<'t> {
    Scalar(Scalar<'t>),
    Sequence,
    Mapping,
    /// Another reference to the node of an anchor.
    Alias(usize),
    End,
}

/// A [`Kind`] and where it is.
#[derive(Clone, Debug)]
pub(crate) struct Node<'t> {
    pub(crate) kind: Kind<'t>,
    /// The start of the node, with its tag and anchor.
    pub(crate) place: Place,
    /// All of a scalar; the start of a collection; the end of it, if that is what this is.
    pub(crate) span: Bytes,
    /// The number of the anchor that is set here; none is 0.
    pub(crate) anchor: usize,
}

/// The header of a block scalar.
struct Header {
    place: Place,
    offset: usize,
    /// The offset after its indicators.
    end: usize,
    /// Whether all line breaks at the end belong to the scalar.
    keeps: bool,
}

/// An open collection.
struct Open {
    flow: bool,
    sequence: bool,
    /// The minimum number of columns by which the lines of a scalar in it are indented.
    indent: usize,
}

/// Reads nodes from the text.
pub(crate) struct Source<'t> {
    text: &'t str,
    bom_stand_in: Option<char>,
    parser: Parser<'t, StrInput<'t>>,
    /// Offset and place after the last token.
    done: usize,
    done_at: Place,
    /// Whether that token is a scalar without quotes.
    after_plain: bool,
    reach: Reach,
    open: Vec<Open>,
    /// The lines that were indented further and that no quoted scalar has gone over yet.
    indented: &'t [(usize, usize)],
}

impl<'t> Source<'t> {
    pub(crate) fn new(
        text: &'t str,
        bom_stand_in: Option<char>,
        indented: &'t [(usize, usize)],
    ) -> Self {
        let options = granit_parser::options! {
            emit_anchor_events: true,
            emit_unresolved_aliases: true,
            emit_comments: false,
            flow_nesting_limit: MAX_DEPTH,
            block_nesting_limit: MAX_DEPTH,
            max_reserved_directive_params: 0,
        };
        Source {
            text,
            bom_stand_in,
            parser: Parser::new_from_str_with_options(text, options),
            done: 0,
            done_at: Place { line: 1, column: 1 },
            after_plain: false,
            reach: Reach::default(),
            open: Vec::new(),
            indented,
        }
    }

    /// Moves to the next document; returns false at the end of the stream.
    pub(crate) fn next_document(&mut self) -> Result<bool, YamlError> {
        loop {
            match self.event()? {
                Some((Event::DocumentStart(explicit, version), span)) => {
                    self.open.clear();
                    self.check_directives(span)?;
                    if version.is_some_and(|version| (version.major, version.minor) != (1, 1)) {
                        return Err(YamlError::at(start(span), "found incompatible YAML document"));
                    }
                    if explicit {
                        self.token(span, false)?;
                    }
                    return Ok(true);
                }
                Some((Event::StreamEnd, span)) => {
                    self.check_gap(span.start)?;
                    return Ok(false);
                }
                Some((Event::DocumentEnd, span)) => self.token(span, false)?,
                Some(_) => {}
                None => return Ok(false),
            }
        }
    }

    /// Returns the place after the last token, whatever it was.
    pub(crate) fn place(&self) -> Place {
        self.done_at
    }

    /// The next node of the document.
    pub(crate) fn next(&mut self) -> Result<Node<'t>, YamlError> {
        let Some((event, span)) = self.event()? else {
            return Err(YamlError::at(self.done_at, "found unexpected end of stream"));
        };
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.scalar(text, style, anchor, tag.as_deref(), span)
            }
            Event::SequenceStart(style, anchor, _) => {
                self.collection(Kind::Sequence, style, anchor, span)
            }
            Event::MappingStart(style, anchor, _) => {
                self.collection(Kind::Mapping, style, anchor, span)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                self.token(span, false)?;
                self.open.pop();
                let end = Bytes::new(self.reach.offset(), self.reach.offset());
                Ok(Node { kind: Kind::End, place: start(span), span: end, anchor: 0 })
            }
            Event::Alias(id) => {
                let name = span.slice(self.text).unwrap_or_default().trim_start_matches('*');
                check_anchor_name(name, start(span))?;
                self.token(span, false)?;
                let bytes = Bytes::new(offset(span.start), offset(span.end));
                Ok(Node { kind: Kind::Alias(id), place: start(span), span: bytes, anchor: 0 })
            }
            Event::UnresolvedAlias(name) => {
                let message = format!("yaml: unknown anchor '{name}' referenced");
                Err(YamlError::plain(start(span), message))
            }
            _ => Err(YamlError::at(start(span), "did not find expected node content")),
        }
    }

    fn event(&mut self) -> Result<Option<(Event<'t>, Span)>, YamlError> {
        self.parser.next_event().transpose().map_err(|error| self.refuse(&error))
    }

    fn refuse(&self, error: &ScanError) -> YamlError {
        let mark = *error.marker();
        let is_escape = matches!(
            error.kind(),
            ErrorKind::UnknownQuotedScalarEscape
                | ErrorKind::InvalidUnicodeEscape
                | ErrorKind::InvalidLowSurrogate
                | ErrorKind::MissingLowSurrogate
                | ErrorKind::UnpairedLowSurrogate
        );
        let scalar = mark.byte_offset().filter(|_| is_escape).and_then(|at| self.text.get(at..));
        // The grammar names the start of the scalar, the server the escape.
        match scalar.map(|scalar| check_escapes(scalar, place(mark))) {
            Some(Err(escape)) => escape,
            _ => YamlError::of_scan(error),
        }
    }

    fn collection(
        &mut self,
        kind: Kind<'t>,
        style: StructureStyle,
        anchor: usize,
        span: Span,
    ) -> Result<Node<'t>, YamlError> {
        let property = self.properties(span, anchor)?;
        if span.start.index() < span.end.index() {
            self.token(span, false)?;
        }
        let raw = span.start.byte_offset().and_then(|at| self.text.get(at..)).unwrap_or_default();
        let flow = style == StructureStyle::Flow;
        // A sequence at the column of the key it belongs to does not start at its first `-`.
        let inherits = flow || matches!(kind, Kind::Sequence) && !raw.starts_with('-');
        let indent = if inherits { self.indent() } else { span.start.col() + 1 };
        // The grammar may say that a sequence in a mapping starts after its first `-`.
        let in_mapping = self.open.last().is_some_and(|open| !open.sequence);
        match kind {
            Kind::Sequence if !flow && in_mapping => self.reach.take_dash(self.text),
            _ => self.reach.extend(offset(span.start)),
        }
        let from = match property {
            Some(property) => offset(property),
            None if flow => offset(span.start),
            None => self.reach.offset(),
        };
        self.open.push(Open { flow, sequence: matches!(kind, Kind::Sequence), indent });
        let place = place(property.unwrap_or(span.start));
        Ok(Node { kind, place, span: Bytes::new(from, from), anchor })
    }

    fn scalar(
        &mut self,
        text: Cow<'t, str>,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&granit_parser::Tag>,
        span: Span,
    ) -> Result<Node<'t>, YamlError> {
        let property = self.properties(span, anchor)?;
        let mut at = place(property.unwrap_or(span.start));
        let mut from = offset(property.unwrap_or(span.start));
        let raw = span.slice(self.text).unwrap_or_default();
        let mut text = text;
        let is_absent = raw.is_empty() && style == ScalarStyle::Plain;
        match style {
            ScalarStyle::Plain if is_absent && tag.is_none() => text = Cow::Borrowed(""),
            ScalarStyle::Plain => {
                self.check_flow_colon(span)?;
                self.check_lines(raw, place(span.start))?;
            }
            ScalarStyle::DoubleQuoted => {
                check_escapes(raw, start(span))?;
                self.go_over_indented(span);
            }
            ScalarStyle::SingleQuoted => self.go_over_indented(span),
            ScalarStyle::Literal | ScalarStyle::Folded => {
                let header = self.block_header();
                self.reach.extend(header.end);
                if property.is_none() {
                    (at, from) = (header.place, header.offset);
                }
                if self.ends_without_break(&text, span, &header) {
                    let mut owned = text.into_owned();
                    owned.pop();
                    text = Cow::Owned(owned);
                }
            }
        }
        if !is_absent {
            self.token(span, style == ScalarStyle::Plain)?;
        } else if property.is_none() {
            let is_item = self.open.last().is_some_and(|open| open.sequence);
            from = self.reach.take_absent(self.text, is_item).start;
        }
        let bytes = Bytes::new(from, self.reach.offset());
        if let Some(stand_in) = self.bom_stand_in
            && text.contains(stand_in)
        {
            text = Cow::Owned(text.replace(stand_in, "\u{feff}"));
        }
        let plain = style == ScalarStyle::Plain;
        let scalar = Scalar { text, plain, tag: tag.map_or(Tag::None, Tag::of) };
        Ok(Node { kind: Kind::Scalar(scalar), place: at, span: bytes, anchor })
    }

    /// Takes the tag and the anchor of a node. Returns where the first of them is.
    fn properties(&mut self, span: Span, anchor: usize) -> Result<Option<Marker>, YamlError> {
        let mut properties = [span.tag_span(), None];
        if anchor != 0
            && let Some((Event::Anchor(_, name), span)) = self.event()?
        {
            check_anchor_name(&name, start(span))?;
            properties = match properties {
                [Some(tag), _] if tag.start.index() > span.start.index() => [Some(span), Some(tag)],
                [tag, _] => [tag, Some(span)],
            };
        }
        let mut first = None;
        for property in properties.into_iter().flatten() {
            self.token(property, false)?;
            first = first.or(Some(property.start));
        }
        Ok(first)
    }

    /// Takes the continuation lines of a quoted scalar from those that were indented.
    fn go_over_indented(&mut self, span: Span) {
        while let [(line, _), rest @ ..] = self.indented
            && (span.start.line() + 1..=span.end.line()).contains(line)
        {
            self.indented = rest;
        }
    }

    /// Notes a token.
    fn token(&mut self, span: Span, plain: bool) -> Result<(), YamlError> {
        self.check_gap(span.start)?;
        if let Some((line, _)) = self.indented.first()
            && *line <= span.end.line()
        {
            let place = Place { line: *line, column: 1 };
            return Err(YamlError::at(place, "found a line that is not indented enough"));
        }
        if span.start.index() < span.end.index() {
            self.reach.extend(offset(span.end));
        }
        if let Some(end) = span.end.byte_offset().filter(|end| *end >= self.done) {
            self.done = end;
            self.done_at = place(span.end);
            self.after_plain = plain;
        }
        Ok(())
    }

    /// The text between the last token and a mark.
    fn gap(&self, to: Marker) -> &'t str {
        to.byte_offset().and_then(|to| self.text.get(self.done..to)).unwrap_or_default()
    }

    /// Refuses tabs that YAML 1.1 does not take for white space: those where a block collection
    /// may go on or a nested one may start.
    fn check_gap(&self, to: Marker) -> Result<(), YamlError> {
        let gap = self.gap(to);
        if self.in_flow() || memchr::memchr(b'\t', gap.as_bytes()).is_none() {
            return Ok(());
        }
        let indent = self.indent();
        let mut place = self.done_at;
        let mut after_plain = self.after_plain;
        let before = self.text.get(..self.done).unwrap_or_default();
        let mut may_start = matches!(before.trim_end_matches(' ').as_bytes(), [] | [.., b'\n']);
        let mut comment = false;
        let mut spaced = true;
        for (offset, c) in gap.char_indices() {
            match c {
                '\n' => {
                    (comment, may_start) = (false, true);
                    place.advance("\n");
                    spaced = true;
                    continue;
                }
                _ if comment => {}
                '\t' if may_start && !after_plain => {
                    return Err(YamlError::at(
                        place,
                        "found character that cannot start any token",
                    ));
                }
                '\t' if may_start && place.column <= indent => {
                    return Err(YamlError::at(
                        place,
                        "found a tab character that violates indentation",
                    ));
                }
                ' ' | '\t' | '\r' => spaced = true,
                '#' | '%' if spaced && (c == '#' || place.column == 1) => {
                    (comment, after_plain) = (true, false);
                }
                '-' | '?' | ':' => {
                    let rest = gap.get(offset + 1..).unwrap_or_default();
                    may_start &= rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']);
                    (spaced, after_plain) = (false, false);
                }
                _ => (may_start, spaced, after_plain) = (false, false, false),
            }
            place.column += 1;
        }
        Ok(())
    }

    fn in_flow(&self) -> bool {
        self.open.last().is_some_and(|open| open.flow)
    }

    fn indent(&self) -> usize {
        self.open.last().map_or(0, |open| open.indent)
    }

    /// Refuses tabs in the indentation of the further lines of a scalar without quotes.
    fn check_lines(&self, raw: &str, mut place: Place) -> Result<(), YamlError> {
        if memchr::memchr(b'\t', raw.as_bytes()).is_none() {
            return Ok(());
        }
        let indent = self.indent();
        for line in raw.split('\n').skip(1) {
            place = Place { line: place.line + 1, column: 1 };
            let indentation =
                line.as_bytes().iter().take(indent).take_while(|b| **b == b' ').count();
            if indentation < indent && line.as_bytes().get(indentation) == Some(&b'\t') {
                place.column += indentation;
                let problem = "found a tab character that violates indentation";
                return Err(YamlError::at(place, problem));
            }
        }
        Ok(())
    }

    /// Returns whether the last line break of a block scalar is the end of the text, which is not a
    /// line break in YAML 1.1.
    fn ends_without_break(&self, text: &str, span: Span, header: &Header) -> bool {
        let is_blank = |text: &str| text.bytes().all(|byte| matches!(byte, b' ' | b'\t'));
        let rest = span.end.byte_offset().and_then(|end| self.text.get(end..));
        if !text.ends_with('\n') || !rest.is_some_and(is_blank) {
            return false;
        }
        let last = self.text.rsplit(['\n', '\r']).next().unwrap_or_default();
        if last.is_empty() || !is_blank(last) {
            return !last.is_empty();
        }
        // Blanks are content if they go further than the indentation. Otherwise they are nothing,
        // while 1.2 takes them for a line if nothing precedes them.
        let content = text.strip_suffix('\n').unwrap_or(text);
        let last_content = content.rsplit('\n').next().unwrap_or_default();
        if text == "\n" {
            return header.keeps && lines_behind(self.text.get(header.offset..)) == 1;
        }
        !last_content.is_empty() && is_blank(last_content) && last_content.len() < last.len()
    }

    /// Returns the header of the block scalar after the last token.
    fn block_header(&self) -> Header {
        let rest = self.text.get(self.done..).unwrap_or_default();
        let (mut spaced, mut comment) = (true, false);
        for (offset, c) in rest.char_indices() {
            let is_blank = matches!(c, ' ' | '\t' | '\r' | '\n');
            match c {
                '\n' => comment = false,
                _ if comment => {}
                '#' if spaced => comment = true,
                '|' | '>' => {
                    let mut at = self.done_at;
                    at.advance(rest.get(..offset).unwrap_or_default());
                    let indicators = rest.get(offset + 1..).unwrap_or_default();
                    let is_indicator = |c: char| matches!(c, '+' | '-' | '0'..='9');
                    let after = indicators.trim_start_matches(is_indicator);
                    let (indicators, _) = indicators.split_at(indicators.len() - after.len());
                    let offset = self.done + offset;
                    let end = offset + 1 + indicators.len();
                    return Header { place: at, offset, end, keeps: indicators.contains('+') };
                }
                _ => {}
            }
            spaced = is_blank;
        }
        Header { place: self.done_at, offset: self.done, end: self.done, keeps: false }
    }

    /// `{a:}`: a colon before a flow indicator belongs to the scalar in YAML 1.1.
    fn check_flow_colon(&self, span: Span) -> Result<(), YamlError> {
        if !self.in_flow() {
            return Ok(());
        }
        let rest = span.end.byte_offset().and_then(|end| self.text.get(end..)).unwrap_or_default();
        match rest.as_bytes() {
            [b':', b',' | b'[' | b']' | b'{' | b'}', ..] => {
                Err(YamlError::at(place(span.end), "could not find expected ' ' behind ':'"))
            }
            _ => Ok(()),
        }
    }

    fn check_directives(&self, span: Span) -> Result<(), YamlError> {
        let mut place = self.done_at;
        for line in self.gap(span.start).split_inclusive('\n') {
            if let Some(directive) = line.strip_prefix('%').filter(|_| place.column == 1) {
                let name = directive.split([' ', '\t', '\r', '\n']).next();
                if !matches!(name, Some("YAML" | "TAG")) {
                    return Err(YamlError::at(place, "found unknown directive name"));
                }
            }
            place.advance(line);
        }
        Ok(())
    }
}

/// Returns the number of lines that begin in a text.
fn lines_behind(text: Option<&str>) -> usize {
    memchr::memchr_iter(b'\n', text.unwrap_or_default().as_bytes()).count()
}

fn offset(mark: Marker) -> usize {
    mark.byte_offset().unwrap_or_default()
}

fn place(mark: Marker) -> Place {
    Place { line: mark.line(), column: mark.col() + 1 }
}

fn start(span: Span) -> Place {
    place(span.start)
}

fn check_anchor_name(name: &str, place: Place) -> Result<(), YamlError> {
    if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')) {
        return Ok(());
    }
    Err(YamlError::at(place, "did not find expected alphabetic or numeric character"))
}

/// Refuses unknown escapes, `\/` among them, and escaped surrogates, also in pairs.
fn check_escapes(raw: &str, mut place: Place) -> Result<(), YamlError> {
    let mut escapes = memchr::memchr_iter(b'\\', raw.as_bytes()).peekable();
    while let Some(at) = escapes.next() {
        escapes.next_if_eq(&(at + 1));
        if let Some(problem) = raw.get(at + 1..).and_then(escape_problem) {
            place.advance(raw.get(..at).unwrap_or_default());
            return Err(YamlError::at(place, problem));
        }
    }
    Ok(())
}

/// Returns the problem with the escape after a backslash.
fn escape_problem(escape: &str) -> Option<&'static str> {
    let digits = match escape.as_bytes().first()? {
        b'u' => escape.get(1..5),
        b'U' => escape.get(1..9),
        b'0' | b'a' | b'b' | b't' | b'\t' | b'n' | b'v' | b'f' | b'r' | b'e' | b' ' | b'"'
        | b'\\' | b'N' | b'_' | b'L' | b'P' | b'x' | b'\r' | b'\n' => None,
        _ => return Some("found unknown escape character"),
    };
    let code = u32::from_str_radix(digits?, 16).ok()?;
    char::from_u32(code).is_none().then_some("found invalid Unicode character escape code")
}
