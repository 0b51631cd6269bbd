//! Templates of `format` that are literals, with a literal list of values (CE-10).

use billhook_apimachinery::value::grow;

use crate::language::ast::{Expr, Kind};
use crate::language::functions::{clauses, requirement};
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
        if let Err(part) = shown(*clause, value, types) {
            let (expected, found) = (requirement(*clause), type_of(part, types).runtime_name());
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

/// Checks whether a clause can show a value; if not, returns the part at fault.
fn shown<'e>(clause: char, value: &'e Expr, types: &[Type]) -> Result<(), &'e Expr> {
    use Type::{Bool, Bytes, Double, Dyn, Int, Message, Object, Opaque, Optional, String, Uint};
    let of = type_of(value, types).unwrapped();
    let fits = match clause {
        _ if matches!(of, Dyn) => true,
        'd' | 'o' => matches!(of, Int | Uint),
        'f' | 'e' => matches!(of, Double | String),
        'b' => matches!(of, Int | Uint | Bool),
        'x' | 'X' => matches!(of, Int | Uint | String | Bytes),
        _ => !matches!(of, Object(_) | Opaque(_) | Message(_) | Optional(_)),
    };
    if !fits {
        return Err(value);
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
