//! Lists of indexes, such as `0-3,7`.

/// Parses a list of indexes below a number of completions; returns how many there are.
///
/// # Errors
///
/// The first thing that is wrong with the list.
pub(super) fn count(list: &str, completions: i64) -> Result<i64, String> {
    let mut previous = None;
    let mut total: i64 = 0;
    if list.is_empty() {
        return Ok(0);
    }
    for interval in list.split(',') {
        let (first, last) = bounds(interval, completions)?;
        if let Some(previous) = previous.filter(|previous| *previous >= first) {
            return Err(not_increasing(previous, first));
        }
        previous = Some(last);
        total = total.saturating_add(last - first + 1);
    }
    Ok(total)
}

fn bounds(interval: &str, completions: i64) -> Result<(i64, i64), String> {
    let index = |text: &str| match text.parse::<i64>() {
        Err(_) => Err(format!("cannot convert string to integer for index: {text:?}")),
        Ok(index) if index >= completions => Err(format!("too large index: {text:?}")),
        Ok(index) => Ok(index),
    };
    let parts: Vec<&str> = interval.split('-').collect();
    match parts.as_slice() {
        [first] => index(first).map(|first| (first, first)),
        [first, last] => {
            let (first, last) = (index(first)?, index(last)?);
            if first >= last { Err(not_increasing(first, last)) } else { Ok((first, last)) }
        }
        _ => Err(format!(
            "the fragment {interval:?} violates the requirement that an index interval can have at \
             most two parts separated by '-'"
        )),
    }
}

fn not_increasing(previous: i64, current: i64) -> String {
    format!("non-increasing order, previous: {previous}, current: {current}")
}
