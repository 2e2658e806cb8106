//! The text forms in which databases without types of their own keep dates and times.

use fastr_core::db::civil;

pub(crate) struct Moment {
    pub(crate) seconds: i64,
    pub(crate) nanoseconds: u32,
}

/// `2026-01-31`
pub(crate) fn date(text: &str) -> Option<(i64, u8, u8)> {
    let mut parts = text.splitn(3, '-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if year.len() != 4 || month.len() != 2 || day.len() != 2 {
        return None;
    }
    let (year, month, day) = (digits(year)?, digits(month)?, digits(day)?);
    let valid = (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day);
    valid.then_some((year, month as u8, day as u8))
}

/// `2026-01-31 23:59:59`, with `T` for the blank, a fraction, and `Z` or an offset; UTC without one.
pub(crate) fn moment(text: &str) -> Option<Moment> {
    let day = text.get(..10)?;
    let (year, month, day) = date(day)?;
    let rest = match text.as_bytes().get(10) {
        None => "00:00:00",
        Some(b' ' | b'T') => text.get(11..)?,
        Some(_) => return None,
    };
    let (clock, offset) = split_offset(rest)?;
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let mut parts = clock.split(':').map(digits);
    let (hour, minute) = (parts.next()??, parts.next()??);
    let second = parts.next().unwrap_or(Some(0))?;
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = civil::days(year, i64::from(month), i64::from(day)) * 86_400
        + hour * 3600
        + minute * 60
        + second
        - offset;
    Some(Moment {
        seconds,
        nanoseconds: nanoseconds(fraction)?,
    })
}

fn split_offset(text: &str) -> Option<(&str, i64)> {
    if let Some(clock) = text.strip_suffix('Z').or_else(|| text.strip_suffix(" UTC")) {
        return Some((clock, 0));
    }
    let Some(at) = text.rfind(['+', '-']) else {
        return Some((text, 0));
    };
    let (clock, offset) = text.split_at(at);
    let sign = if offset.starts_with('-') { -1 } else { 1 };
    let compact: String = offset[1..]
        .chars()
        .filter(|character| *character != ':')
        .collect();
    let (hours, minutes) = compact.split_at_checked(2)?;
    let minutes = if minutes.is_empty() {
        0
    } else {
        digits(minutes)?
    };
    Some((
        clock.trim_end(),
        sign * (digits(hours)? * 3600 + minutes * 60),
    ))
}

fn nanoseconds(fraction: &str) -> Option<u32> {
    let kept = fraction.get(..fraction.len().min(9))?;
    let number = u32::try_from(digits(kept)?).ok()?;
    Some(number * 10u32.pow(9 - kept.len() as u32))
}

fn digits(text: &str) -> Option<i64> {
    let all = !text.is_empty() && text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
    all.then(|| text.parse().ok()).flatten()
}

fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
