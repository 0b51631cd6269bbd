//! Markdown within a paragraph: words with their style, and lines made of them.

use anstyle::{AnsiColor, Style};

/// The width of lines.
pub(super) const WIDTH: usize = 88;
const CODE: Style = AnsiColor::Cyan.on_default();
const STRONG: Style = Style::new().bold();
const EMPHASIS: Style = Style::new().italic();
/// Code of more characters than this may be broken at its spaces.
const KEPT_TOGETHER: usize = 44;

/// A part of a line that is not broken.
#[derive(Debug, Default)]
struct Word {
    /// With styles.
    text: String,
    /// Without styles.
    width: usize,
}

impl Word {
    fn push(&mut self, text: &str, style: Style) {
        self.width += text.chars().count();
        self.text.push_str(&format!("{style}{text}{style:#}"));
    }
}

/// Splits Markdown into words for lines of a width. Code keeps its marks; emphasis becomes style.
fn words(markdown: &str, width: usize) -> Vec<Word> {
    let mut words = vec![Word::default()];
    let mut style = Style::new();
    let mut rest = markdown.trim();
    while let Some(first) = rest.chars().next() {
        let span = span(rest);
        match first {
            '`' if span > 1 => {
                let (code, after) = rest.split_at_checked(span).unwrap_or((rest, ""));
                push(&mut words, code, CODE, code.chars().count() <= KEPT_TOGETHER.min(width));
                rest = after;
                continue;
            }
            '*' if rest.starts_with("**") => {
                style = toggled(style, STRONG);
                rest = rest.trim_start_matches("**");
                continue;
            }
            '*' if is_emphasis(rest, style) => {
                style = toggled(style, EMPHASIS);
                rest = rest.trim_start_matches('*');
                continue;
            }
            '\\' => rest = rest.strip_prefix('\\').unwrap_or_default(),
            _ => {}
        }
        let end = rest.char_indices().skip(1).find(|(_, c)| matches!(c, '`' | '*' | '\\'));
        let (text, after) =
            rest.split_at_checked(end.map_or(rest.len(), |(at, _)| at)).unwrap_or((rest, ""));
        push(&mut words, text, style, false);
        rest = after;
    }
    words.retain(|word| word.width > 0);
    words
}

/// The length of the code that a text starts with, its marks included.
fn span(text: &str) -> usize {
    let marks = text.len() - text.trim_start_matches('`').len();
    let (mark, rest) = text.split_at_checked(marks).unwrap_or_default();
    match rest.find(mark) {
        Some(length) if marks > 0 => 2 * marks + length,
        _ => 1,
    }
}

fn toggled(style: Style, other: Style) -> Style {
    if style == other { Style::new() } else { other }
}

/// Whether a star opens or closes emphasis: a word begins or ends there.
fn is_emphasis(rest: &str, style: Style) -> bool {
    let next = rest.chars().nth(1);
    style == EMPHASIS || next.is_some_and(char::is_alphabetic) && rest.matches('*').count() > 1
}

/// Adds text to the last word; each space begins a new one unless the text is kept together.
fn push(words: &mut Vec<Word>, text: &str, style: Style, together: bool) {
    let parts: Vec<&str> = if together { vec![text] } else { text.split(' ').collect() };
    for (index, part) in parts.into_iter().enumerate() {
        if index > 0 {
            words.push(Word::default());
        }
        if let Some(word) = words.last_mut()
            && !part.is_empty()
        {
            word.push(part, style);
        }
    }
}

/// Markdown in one line without styles.
pub(crate) fn plain(markdown: &str) -> String {
    let words: Vec<String> =
        words(markdown, usize::MAX).into_iter().map(|word| word.text).collect();
    anstream::adapter::strip_str(&words.join(" ")).to_string()
}

/// The width of Markdown in one line.
pub(crate) fn width(markdown: &str) -> usize {
    words(markdown, usize::MAX).iter().map(|word| word.width + 1).sum::<usize>().saturating_sub(1)
}

/// Breaks Markdown into lines of up to `width` characters, longer ones only for words that are;
/// each with its width.
pub(crate) fn wrap(markdown: &str, width: usize) -> Vec<(String, usize)> {
    let mut lines: Vec<(String, usize)> = Vec::new();
    for word in words(markdown, width) {
        match lines.last_mut() {
            Some((line, used)) if *used + 1 + word.width <= width => {
                line.push(' ');
                line.push_str(&word.text);
                *used += 1 + word.width;
            }
            _ => lines.push((word.text, word.width)),
        }
    }
    lines
}
