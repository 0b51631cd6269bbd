//! Time zones by name or offset.

use billhook_apimachinery::{print, time_zone};

use super::error::EvaluationError;
use super::time::Timestamp;

/// The offset from UTC in seconds that a zone has at a time: of a name or of `[+-]hh:mm`.
pub(crate) fn offset_of(zone: &str, at: Timestamp) -> Result<i32, EvaluationError> {
    let Some((hours, minutes)) = zone.split_once(':') else {
        return offset_at(zone, at.seconds);
    };
    let number = |text: &str| {
        text.parse::<i32>().map_err(|_| {
            let quoted = print::quote(text);
            EvaluationError::new(format!("strconv.Atoi: parsing {quoted}: invalid syntax"))
        })
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let minutes = if zone.starts_with('-') { minutes.saturating_neg() } else { minutes };
    Ok(hours.saturating_mul(60).saturating_add(minutes).saturating_mul(60))
}

/// The offset from UTC in seconds that a zone has at a moment.
fn offset_at(name: &str, seconds: i64) -> Result<i32, EvaluationError> {
    match name {
        "" | "UTC" | "Local" => Ok(0),
        _ if name.contains("..") || name.starts_with(['/', '\\']) => {
            Err(EvaluationError::new("time: invalid location name"))
        }
        _ => time_zone::offset_at(name, seconds)
            .ok_or_else(|| EvaluationError::new(format!("unknown time zone {name}"))),
    }
}
