//! Templates of `format` that are literals, with a literal list of values (CE-10).

use billhook_apimachinery::value::grow;

use crate::language::ast::{Expr, Kind};
use crate::language::functions::clauses;
use crate::language::types::Type;

/// The problem, and the value at fault if there is one.
type Problem<'e> = (Option<&'e Expr>, String);

/// Checks the clauses of a template, and that each value is of a type its clause can show.
pub(super) fn validate<'e>(
    template: &str,
    values: &'e [(Expr, bool)],
    types: &[Type],
) -> Result<(), Problem<'e>> {
    let clauses = clauses(template).map_err(|problem| (None, problem))?;
    for (index, clause) in clauses.iter().enumerate() {
        let Some((value, _)) = values.get(index) else {
            return Err((None, format!("index {index} out of range")));
        };
        if let Err((part, expected)) = shown(*clause, value, types) {
            let found = type_of(part, types).runtime_name();
            let text = format!("error during formatting: {expected}, was given {found}");
            return Err((Some(part), text));
        }
    }
    if values.len() > clauses.len() {
        return Err((
            None,
            format!(
                "too many arguments supplied to string.format (expected {}, got {})",
                clauses.len(),
                values.len()
            ),
        ));
    }
    Ok(())
}

fn type_of<'t>(expr: &Expr, types: &'t [Type]) -> &'t Type {
    types.get(expr.id).unwrap_or(&Type::Dyn)
}

/// Checks whether a clause can show a value; if not, returns the part at fault and the message.
fn shown<'e>(
    clause: char,
    value: &'e Expr,
    types: &[Type],
) -> Result<(), (&'e Expr, &'static str)> {
    use Type::{Bool, Bytes, Double, Dyn, Int, Message, Object, Opaque, Optional, String, Uint};
    let of = type_of(value, types).unwrapped();
    let (fits, purpose) = match clause {
        _ if matches!(of, Dyn) => (true, ""),
        'd' => (matches!(of, Int | Uint), "decimal clause can only be used on integers"),
        'f' => (matches!(of, Double | String), "fixed-point clause can only be used on doubles"),
        'e' => (matches!(of, Double | String), "scientific clause can only be used on doubles"),
        'b' => {
            (matches!(of, Int | Uint | Bool), "only integers and bools can be formatted as binary")
        }
        'o' => (matches!(of, Int | Uint), "octal clause can only be used on integers"),
        'x' | 'X' => (
            matches!(of, Int | Uint | String | Bytes),
            "only integers, byte buffers, and strings can be formatted as hex",
        ),
        _ => (
            !matches!(of, Object(_) | Opaque(_) | Message(_) | Optional(_)),
            "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, \
             types, durations, and timestamps",
        ),
    };
    if !fits {
        return Err((value, purpose));
    }
    grow(|| match &value.kind {
        Kind::List(elements) if clause == 's' => {
            elements.iter().try_for_each(|(element, _)| shown(clause, element, types))
        }
        Kind::Map(entries) if clause == 's' => entries.iter().try_for_each(|entry| {
            shown(clause, &entry.key, types)?;
            shown(clause, &entry.value, types)
        }),
        _ => Ok(()),
    })
}
