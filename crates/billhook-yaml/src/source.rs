//! From tokens to the nodes of a stream, in document order: the grammar of YAML 1.1.

use std::collections::HashMap;

use billhook_apimachinery::Span;

use crate::error::YamlError;
use crate::place::{Mark, Place};
use crate::scalar::{Scalar, Tag};
use crate::scanner::Scanner;
use crate::token::{Token, What};

/// The end of a collection, or a node (without its content).
#[derive(Clone, Debug)]
pub(crate) enum Kind<'t> {
    Scalar(Scalar<'t>),
    Sequence,
    Mapping,
    /// Another reference to the node of an anchor: its number and its name.
    Alias(usize, &'t str),
    End,
}

/// A [`Kind`] and where it is.
#[derive(Clone, Debug)]
pub(crate) struct Node<'t> {
    pub(crate) kind: Kind<'t>,
    /// The start of the node, with its tag and anchor.
    pub(crate) place: Place,
    /// All of a scalar; the start of a collection; the end of it, if that is what this is.
    pub(crate) span: Span,
    /// The number of the anchor that is set here; none is 0.
    pub(crate) anchor: usize,
}

/// The next thing that the grammar expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The content of a document after `---`.
    Content,
    Node,
    SequenceEntry,
    /// The same for a sequence at the column of its key.
    IndentlessEntry,
    MappingKey,
    MappingValue,
    FlowEntry {
        is_first: bool,
    },
    PairKey,
    PairValue,
    PairEnd,
    FlowKey {
        is_first: bool,
    },
    FlowValue,
    FlowNoValue,
    /// The end of the document.
    Done,
}

/// Where a node may stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    Flow,
    Block,
    /// Block, where also a sequence may begin that is not indented.
    Member,
}

/// Reads nodes from the text.
pub(crate) struct Source<'t> {
    scanner: Scanner<'t>,
    state: State,
    /// The states after the open collections and the current node.
    states: Vec<State>,
    /// The ends of the last token and of the last one that is text.
    end: Mark,
    reach: usize,
    tags: HashMap<&'t str, String>,
    anchors: HashMap<&'t str, usize>,
    anchor_count: usize,
    is_started: bool,
    /// Whether an error ended the stream.
    is_broken: bool,
}

impl<'t> Source<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Source {
            scanner: Scanner::new(text),
            state: State::Done,
            states: Vec::new(),
            end: Mark::default(),
            reach: 0,
            tags: HashMap::new(),
            anchors: HashMap::new(),
            anchor_count: 0,
            is_started: false,
            is_broken: false,
        }
    }

    /// Moves to the next document; returns false at the end of the stream.
    pub(crate) fn next_document(&mut self) -> Result<bool, YamlError> {
        self.anchors.clear();
        let is_first = !std::mem::replace(&mut self.is_started, true);
        while !is_first && matches!(self.peek()?.what, What::DocumentEnd) {
            self.take()?;
        }
        self.state = match self.peek()?.what {
            What::StreamEnd => return Ok(false),
            What::Version { .. } | What::TagDirective { .. } | What::DocumentStart => {
                self.directives()?;
                self.take()?;
                State::Content
            }
            _ if is_first => {
                self.directives()?;
                State::Node
            }
            _ => return Err(self.error("did not find expected <document start>")?),
        };
        self.states = vec![State::Done];
        Ok(true)
    }

    /// Takes the end of a document, if there is one.
    pub(crate) fn end_document(&mut self) -> Result<(), YamlError> {
        if matches!(self.peek()?.what, What::DocumentEnd) {
            self.take()?;
        }
        Ok(())
    }

    /// Reads the rest of the document for its errors, unless there was one.
    pub(crate) fn drain(&mut self) -> Result<(), YamlError> {
        while self.state != State::Done {
            self.next()?;
        }
        if self.is_broken { Ok(()) } else { self.end_document() }
    }

    /// Returns the place after the last token, whatever it was.
    pub(crate) fn place(&self) -> Place {
        self.end.place()
    }

    fn directives(&mut self) -> Result<(), YamlError> {
        self.tags = HashMap::new();
        let mut has_version = false;
        loop {
            let has_directives = has_version || !self.tags.is_empty();
            let mark = self.peek()?.start;
            let refuse = |problem: &str| Err(YamlError::of_parser(mark, problem));
            match &self.peek()?.what {
                What::Version { .. } if has_version => {
                    return refuse("found duplicate %YAML directive");
                }
                What::Version { is_1_1: false } => {
                    return refuse("found incompatible YAML document");
                }
                What::Version { .. } => has_version = true,
                What::TagDirective { handle, prefix } => {
                    let (handle, prefix) = (*handle, prefix.clone());
                    if self.tags.insert(handle, prefix).is_some() {
                        return refuse("found duplicate %TAG directive");
                    }
                }
                What::DocumentStart => break,
                _ if has_directives => {
                    return refuse("did not find expected <document start>");
                }
                _ => break,
            }
            self.take()?;
        }
        for (handle, prefix) in [("!", "!"), ("!!", "tag:yaml.org,2002:")] {
            self.tags.entry(handle).or_insert_with(|| prefix.to_owned());
        }
        Ok(())
    }

    fn peek(&mut self) -> Result<&Token<'t>, YamlError> {
        self.scanner.peek()
    }

    fn take(&mut self) -> Result<Token<'t>, YamlError> {
        let token = self.scanner.take()?;
        self.end = token.end;
        if token.start.offset < token.end.offset {
            self.reach = token.end.offset;
        }
        Ok(token)
    }

    /// The error of the next token.
    fn error(&mut self, problem: &str) -> Result<YamlError, YamlError> {
        Ok(YamlError::of_parser(self.peek()?.start, problem))
    }

    /// Goes on after a node or a collection.
    fn pop(&mut self) {
        self.state = self.states.pop().unwrap_or(State::Done);
    }

    /// The next node of the document.
    pub(crate) fn next(&mut self) -> Result<Node<'t>, YamlError> {
        let node = self.next_node();
        if node.is_err() {
            (self.state, self.is_broken) = (State::Done, true);
        }
        node
    }

    fn next_node(&mut self) -> Result<Node<'t>, YamlError> {
        match self.state {
            State::Content => self.content(),
            State::Node => self.node(Context::Block),
            State::SequenceEntry => self.sequence_entry(),
            State::IndentlessEntry => self.indentless_entry(),
            State::MappingKey => self.mapping_key(),
            State::MappingValue => self.mapping_value(),
            State::FlowEntry { is_first } => self.flow_entry(is_first),
            State::PairKey => self.pair_key(),
            State::PairValue => self.pair_value(),
            State::PairEnd => {
                self.state = State::FlowEntry { is_first: false };
                self.end_of_collection()
            }
            State::FlowKey { is_first } => self.flow_key(is_first),
            State::FlowValue => self.flow_value(),
            State::FlowNoValue => {
                self.state = State::FlowKey { is_first: false };
                self.absent()
            }
            State::Done => Err(self.error("did not find expected node content")?),
        }
    }

    fn content(&mut self) -> Result<Node<'t>, YamlError> {
        match self.peek()?.what {
            What::Version { .. }
            | What::TagDirective { .. }
            | What::DocumentStart
            | What::DocumentEnd
            | What::StreamEnd => {
                self.pop();
                Ok(self.absent_at(self.end))
            }
            _ => self.node(Context::Block),
        }
    }

    /// Reads a node after which the grammar goes on with a state.
    fn node_then(&mut self, state: State, context: Context) -> Result<Node<'t>, YamlError> {
        self.states.push(state);
        self.node(context)
    }

    /// A node that is not written, at the next token.
    fn absent(&mut self) -> Result<Node<'t>, YamlError> {
        let mark = self.peek()?.start;
        Ok(self.absent_at(mark))
    }

    fn absent_at(&self, mark: Mark) -> Node<'t> {
        let scalar = Scalar { text: "".into(), plain: true, tag: Tag::None };
        let span = Span::new(self.reach, self.reach);
        Node { kind: Kind::Scalar(scalar), place: mark.place(), span, anchor: 0 }
    }

    fn end_of_collection(&mut self) -> Result<Node<'t>, YamlError> {
        let place = self.peek()?.start.place();
        Ok(Node { kind: Kind::End, place, span: Span::new(self.reach, self.reach), anchor: 0 })
    }

    /// Takes the token that ends a collection.
    fn close(&mut self) -> Result<Node<'t>, YamlError> {
        self.pop();
        let place = self.take()?.start.place();
        Ok(Node { kind: Kind::End, place, span: Span::new(self.reach, self.reach), anchor: 0 })
    }

    fn node(&mut self, context: Context) -> Result<Node<'t>, YamlError> {
        let token = self.peek()?;
        let start = token.start;
        match token.what {
            What::Scalar { .. } => return self.scalar(start, 0, None),
            What::Alias(name) => return self.alias(name),
            _ => {}
        }
        let Properties { anchor, tag } = self.properties(start)?;
        let has_properties = anchor > 0 || tag.is_some();
        let (kind, state) = match self.peek()?.what {
            What::BlockEntry if context == Context::Member => {
                (Kind::Sequence, State::IndentlessEntry)
            }
            What::BlockSequence if context != Context::Flow => {
                (Kind::Sequence, State::SequenceEntry)
            }
            What::BlockMapping if context != Context::Flow => (Kind::Mapping, State::MappingKey),
            What::FlowSequence => (Kind::Sequence, State::FlowEntry { is_first: true }),
            What::FlowMapping => (Kind::Mapping, State::FlowKey { is_first: true }),
            What::Scalar { .. } => return self.scalar(start, anchor, tag),
            _ if has_properties => {
                self.pop();
                let scalar = Scalar { text: "".into(), plain: true, tag: tag.unwrap_or(Tag::None) };
                let span = Span::new(start.offset, self.reach);
                return Ok(Node { kind: Kind::Scalar(scalar), place: start.place(), span, anchor });
            }
            _ => return Err(self.error("did not find expected node content")?),
        };
        // The dash of a sequence without indentation is that of its first entry.
        let from = if has_properties { start } else { self.peek()?.start };
        if state != State::IndentlessEntry {
            self.take()?;
        }
        self.state = state;
        let span = Span::new(from.offset, from.offset);
        Ok(Node { kind, place: from.place(), span, anchor })
    }

    fn alias(&mut self, name: &'t str) -> Result<Node<'t>, YamlError> {
        self.pop();
        let Token { start, end, .. } = self.take()?;
        let place = start.place();
        let Some(id) = self.anchors.get(name) else {
            let message = format!("yaml: unknown anchor '{name}' referenced");
            return Err(YamlError::plain(place, message));
        };
        let span = Span::new(start.offset, end.offset);
        Ok(Node { kind: Kind::Alias(*id, name), place, span, anchor: 0 })
    }

    fn scalar(
        &mut self,
        start: Mark,
        anchor: usize,
        tag: Option<Tag>,
    ) -> Result<Node<'t>, YamlError> {
        self.pop();
        let token = self.take()?;
        let What::Scalar { text, plain } = token.what else {
            return Err(YamlError::of_parser(token.start, "did not find expected node content"));
        };
        let span = Span::new(start.offset, token.end.offset);
        let kind = Kind::Scalar(Scalar { text, plain, tag: tag.unwrap_or(Tag::None) });
        Ok(Node { kind, place: start.place(), span, anchor })
    }

    /// Takes an anchor and a tag, in any order.
    fn properties(&mut self, start: Mark) -> Result<Properties, YamlError> {
        let mut properties = Properties { anchor: 0, tag: None };
        loop {
            let token = self.scanner.peek()?;
            let mark = token.start;
            match &token.what {
                What::Anchor(name) if properties.anchor == 0 => {
                    let name = *name;
                    self.anchor_count += 1;
                    properties.anchor = self.anchor_count;
                    self.anchors.insert(name, self.anchor_count);
                }
                What::Tag { handle: "", suffix } if properties.tag.is_none() => {
                    properties.tag = Some(Tag::of(suffix));
                }
                What::Tag { handle, suffix } if properties.tag.is_none() => {
                    let (handle, suffix) = (*handle, suffix.clone());
                    let Some(prefix) = self.tags.get(handle) else {
                        // An error on the first line shows in where the node starts.
                        let mark = if mark.line > 0 { mark } else { start };
                        return Err(YamlError::of_parser(mark, "found undefined tag handle"));
                    };
                    properties.tag = Some(Tag::of(&format!("{prefix}{suffix}")));
                }
                _ => return Ok(properties),
            }
            self.take()?;
        }
    }

    fn sequence_entry(&mut self) -> Result<Node<'t>, YamlError> {
        match self.peek()?.what {
            What::BlockEntry => {
                let mark = self.take()?.end;
                match self.peek()?.what {
                    What::BlockEntry | What::BlockEnd => Ok(self.absent_at(mark)),
                    _ => self.node_then(State::SequenceEntry, Context::Block),
                }
            }
            What::BlockEnd => self.close(),
            _ => Err(self.error("did not find expected '-' indicator")?),
        }
    }

    fn indentless_entry(&mut self) -> Result<Node<'t>, YamlError> {
        if !matches!(self.peek()?.what, What::BlockEntry) {
            self.pop();
            return self.end_of_collection();
        }
        let mark = self.take()?.end;
        match self.peek()?.what {
            What::BlockEntry | What::Key | What::Value | What::BlockEnd => Ok(self.absent_at(mark)),
            _ => self.node_then(State::IndentlessEntry, Context::Block),
        }
    }

    fn mapping_key(&mut self) -> Result<Node<'t>, YamlError> {
        match self.peek()?.what {
            What::Key => {
                let mark = self.take()?.end;
                self.member(mark, State::MappingValue)
            }
            What::BlockEnd => self.close(),
            _ => Err(self.error("did not find expected key")?),
        }
    }

    fn mapping_value(&mut self) -> Result<Node<'t>, YamlError> {
        if !matches!(self.peek()?.what, What::Value) {
            self.state = State::MappingKey;
            return self.absent();
        }
        let mark = self.take()?.end;
        self.member(mark, State::MappingKey)
    }

    /// Reads the key or the value of a member after its indicator.
    fn member(&mut self, mark: Mark, state: State) -> Result<Node<'t>, YamlError> {
        match self.peek()?.what {
            What::Key | What::Value | What::BlockEnd => {
                self.state = state;
                Ok(self.absent_at(mark))
            }
            _ => self.node_then(state, Context::Member),
        }
    }

    /// Passes the comma before an entry of a flow collection.
    fn separator(&mut self, missing: &'static str) -> Result<(), YamlError> {
        if !matches!(self.peek()?.what, What::FlowEntry) {
            return Err(self.error(missing)?);
        }
        self.take().map(drop)
    }

    fn flow_entry(&mut self, is_first: bool) -> Result<Node<'t>, YamlError> {
        if !is_first && !matches!(self.peek()?.what, What::FlowSequenceEnd) {
            self.separator("did not find expected ',' or ']'")?;
        }
        match self.peek()?.what {
            What::FlowSequenceEnd => self.close(),
            What::Key => {
                let token = self.take()?;
                self.state = State::PairKey;
                let offset = token.start.offset;
                let span = Span::new(offset, offset);
                Ok(Node { kind: Kind::Mapping, place: token.start.place(), span, anchor: 0 })
            }
            _ => self.node_then(State::FlowEntry { is_first: false }, Context::Flow),
        }
    }

    /// The key of a mapping of one member, which has no braces.
    fn pair_key(&mut self) -> Result<Node<'t>, YamlError> {
        match self.peek()?.what {
            What::Value | What::FlowEntry | What::FlowSequenceEnd => {
                // The server passes the token, whatever it is.
                let mark = self.take()?.end;
                self.state = State::PairValue;
                Ok(self.absent_at(mark))
            }
            _ => self.node_then(State::PairValue, Context::Flow),
        }
    }

    fn pair_value(&mut self) -> Result<Node<'t>, YamlError> {
        if matches!(self.peek()?.what, What::Value) {
            self.take()?;
            if !matches!(self.peek()?.what, What::FlowEntry | What::FlowSequenceEnd) {
                return self.node_then(State::PairEnd, Context::Flow);
            }
        }
        self.state = State::PairEnd;
        self.absent()
    }

    fn flow_key(&mut self, is_first: bool) -> Result<Node<'t>, YamlError> {
        if !is_first && !matches!(self.peek()?.what, What::FlowMappingEnd) {
            self.separator("did not find expected ',' or '}'")?;
        }
        match self.peek()?.what {
            What::FlowMappingEnd => self.close(),
            What::Key => {
                self.take()?;
                match self.peek()?.what {
                    What::Value | What::FlowEntry | What::FlowMappingEnd => {
                        self.state = State::FlowValue;
                        self.absent()
                    }
                    _ => self.node_then(State::FlowValue, Context::Flow),
                }
            }
            _ => self.node_then(State::FlowNoValue, Context::Flow),
        }
    }

    fn flow_value(&mut self) -> Result<Node<'t>, YamlError> {
        if matches!(self.peek()?.what, What::Value) {
            self.take()?;
            if !matches!(self.peek()?.what, What::FlowEntry | What::FlowMappingEnd) {
                return self.node_then(State::FlowKey { is_first: false }, Context::Flow);
            }
        }
        self.state = State::FlowKey { is_first: false };
        self.absent()
    }
}

/// The properties of a node.
struct Properties {
    /// The number of the anchor; none is 0.
    anchor: usize,
    tag: Option<Tag>,
}
