//! The difference of two values, as errors about updates end with it (BK-107).

/// The lines around a change that are shown.
const CONTEXT: usize = 3;

/// Returns the difference of two values of which one replaces the other, both as JSON.
pub(super) fn difference(before: &str, after: &str) -> String {
    let (before, after) = (indented(before), indented(after));
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| {
        pairs.take_while(|(old, new)| old == new).count()
    };
    let first = same(&mut old.iter().zip(&new));
    let most = old.len().min(new.len()) - first;
    let last = same(&mut old.iter().rev().zip(new.iter().rev())).min(most);
    let start = first.saturating_sub(CONTEXT);
    let shown = |lines: &[&str]| (lines.len() - last + CONTEXT).min(lines.len()) - start;
    let mut out = format!("@@ -{},{} +{},{} @@\n", start + 1, shown(&old), start + 1, shown(&new));
    let mut push = |sign: &str, lines: Option<&[&str]>| {
        for line in lines.unwrap_or_default() {
            out.push_str(&format!("{sign}{line}\n"));
        }
    };
    push(" ", old.get(start..first));
    push("-", old.get(first..old.len() - last));
    push("+", new.get(first..new.len() - last));
    push(" ", old.get(old.len() - last..(old.len() - last + CONTEXT).min(old.len())));
    out
}

/// Compact JSON with a line for each value, indented by a space for each level.
fn indented(json: &str) -> String {
    let mut out = String::new();
    let (mut depth, mut is_text, mut is_escaped) = (0, false, false);
    let mut rest = json.chars().peekable();
    while let Some(c) = rest.next() {
        out.push(c);
        let ends = |c: Option<&char>| matches!(c, Some('}' | ']'));
        match c {
            _ if is_text => {
                is_text = c != '"' || is_escaped;
                is_escaped = c == '\\' && !is_escaped;
            }
            '"' => is_text = true,
            ':' => out.push(' '),
            '{' | '[' if !ends(rest.peek()) => {
                depth += 1;
                begin_line(&mut out, depth);
            }
            '{' | '[' => out.extend(rest.next()),
            ',' => begin_line(&mut out, depth),
            _ => {}
        }
        if !is_text && ends(rest.peek()) {
            depth = depth.saturating_sub(1);
            begin_line(&mut out, depth);
        }
    }
    out
}

fn begin_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.push_str(&" ".repeat(depth));
}
