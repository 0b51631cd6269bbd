//! Traces for people: a tree, with the values in a column.

use std::fmt;

use super::{ExpressionTrace, TracedOutcome, TracedTurn};

/// The most characters of an expression and of a value in a line.
const WIDEST: usize = 60;

/// A line of the tree: the expression with what is before it, the value, and the type and cost.
struct Line {
    head: String,
    columns: Option<[String; 3]>,
}

impl fmt::Display for ExpressionTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Vec::new();
        part(self, "", "", &mut lines);
        let width = |text: &str| text.chars().count();
        let mut widths = [0; 3];
        for line in &lines {
            let Some([value, type_name, _]) = &line.columns else { continue };
            for (widest, text) in widths.iter_mut().zip([&line.head, value, type_name]) {
                *widest = (*widest).max(width(text));
            }
        }
        let [head, value, type_name] = widths;
        for (position, line) in lines.iter().enumerate() {
            if position > 0 {
                f.write_str("\n")?;
            }
            let text = match &line.columns {
                None => line.head.clone(),
                Some([shown, of, cost]) => {
                    format!("{:head$}  {shown:value$}  {of:type_name$}  {cost}", line.head)
                }
            };
            f.write_str(text.trim_end())?;
        }
        Ok(())
    }
}

/// Adds the lines of a part, whose first one begins with `first` and all others with `rest`.
fn part(trace: &ExpressionTrace, first: &str, rest: &str, lines: &mut Vec<Line>) {
    let columns = match &trace.outcome {
        TracedOutcome::Value { text, type_name } => {
            [cut(text), type_name.clone(), format!("cost {}", trace.cost)]
        }
        TracedOutcome::Error(error) => {
            [format!("error: {}", one_line(error)), String::new(), format!("cost {}", trace.cost)]
        }
        TracedOutcome::NotEvaluated => ["not evaluated".to_owned(), String::new(), String::new()],
    };
    lines.push(Line { head: format!("{first}{}", cut(&trace.text)), columns: Some(columns) });
    let count = trace.parts.len() + trace.turns.len();
    let mut children = 0;
    let mut branch = || {
        children += 1;
        let is_last = children == count;
        let (first, more) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        (format!("{rest}{first}"), format!("{rest}{more}"))
    };
    for child in &trace.parts {
        let (first, more) = branch();
        part(child, &first, &more, lines);
    }
    for (position, child) in trace.turns.iter().enumerate() {
        if position + 1 == trace.turns.len() && trace.turns_left_out > 0 {
            let head = format!("{rest}┆  … {} more …", trace.turns_left_out);
            lines.push(Line { head, columns: None });
        }
        let (first, more) = branch();
        turn(child, &first, &more, lines);
    }
}

fn turn(turn: &TracedTurn, first: &str, rest: &str, lines: &mut Vec<Line>) {
    let variables: Vec<String> =
        turn.variables.iter().map(|(name, value)| format!("{name} = {}", cut(value))).collect();
    lines.push(Line { head: format!("{first}{}", variables.join(", ")), columns: None });
    let last = turn.parts.len().saturating_sub(1);
    for (position, child) in turn.parts.iter().enumerate() {
        let (first, more) =
            if position == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        part(child, &format!("{rest}{first}"), &format!("{rest}{more}"), lines);
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cut(text: &str) -> String {
    let text = one_line(text);
    match text.char_indices().nth(WIDEST) {
        None => text,
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}
