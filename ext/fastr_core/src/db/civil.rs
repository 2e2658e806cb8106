//! Calendar arithmetic of the proleptic Gregorian calendar, and dates and times as text. It cannot panic for any number
//! of days or microseconds.

const DAY: i64 = 86_400_000_000;

/// Days from 1970-01-01 to a date. (The algorithm is Howard Hinnant's `days_from_civil`.)
#[must_use]
pub fn days(year: i64, month: i64, day: i64) -> i64 {
    // The year begins in March here, so that the leap day is its last.
    let (year, month) = if month <= 2 {
        (year - 1, month + 9)
    } else {
        (year, month - 3)
    };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The date so many days after 1970-01-01: year, month, day. Year 0 is 1 BC.
#[must_use]
pub fn date(days: i64) -> (i64, u8, u8) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (
        year,
        u8::try_from(month).unwrap_or(1),
        u8::try_from(day).unwrap_or(1),
    )
}

/// `2026-01-31`; years beyond four digits get a sign, as ISO 8601 has it.
pub(crate) fn write_date(out: &mut Vec<u8>, days: i64) {
    let (year, month, day) = date(days);
    if (0..=9999).contains(&year) {
        write_padded(out, year.unsigned_abs(), 4);
    } else {
        out.push(if year < 0 { b'-' } else { b'+' });
        write_padded(out, year.unsigned_abs(), 4);
    }
    out.push(b'-');
    write_padded(out, u64::from(month), 2);
    out.push(b'-');
    write_padded(out, u64::from(day), 2);
}

/// `23:59:59` or `23:59:59.000001`.
pub(crate) fn write_clock(out: &mut Vec<u8>, microseconds: i64) {
    let (seconds, fraction) = (microseconds / 1_000_000, microseconds % 1_000_000);
    write_padded(out, (seconds / 3600).unsigned_abs(), 2);
    out.push(b':');
    write_padded(out, (seconds / 60 % 60).unsigned_abs(), 2);
    out.push(b':');
    write_padded(out, (seconds % 60).unsigned_abs(), 2);
    if fraction != 0 {
        out.push(b'.');
        write_padded(out, fraction.unsigned_abs(), 6);
    }
}

/// `2026-01-31T23:59:59.000000Z`: always six digits, so that JSON is the same whatever keeps the times.
pub(crate) fn write_timestamp(out: &mut Vec<u8>, microseconds: i64) {
    write_date(out, microseconds.div_euclid(DAY));
    out.push(b'T');
    write_whole_clock(out, microseconds.rem_euclid(DAY));
    out.push(b'Z');
}

fn write_whole_clock(out: &mut Vec<u8>, microseconds: i64) {
    write_clock(out, microseconds);
    if microseconds % 1_000_000 == 0 {
        out.extend_from_slice(b".000000");
    }
}

/// A date as databases that keep dates as text store it.
pub(crate) fn stored_date(days: i32) -> String {
    match days {
        i32::MAX => "infinity".into(),
        i32::MIN => "-infinity".into(),
        days => text(|out| write_date(out, i64::from(days))),
    }
}

/// A point in time as databases that keep times as text store it: `2026-01-31 23:59:59.000000`, in UTC.
pub(crate) fn stored_timestamp(microseconds: i64) -> String {
    match microseconds {
        i64::MAX => "infinity".into(),
        i64::MIN => "-infinity".into(),
        moment => text(|out| {
            write_date(out, moment.div_euclid(DAY));
            out.push(b' ');
            write_whole_clock(out, moment.rem_euclid(DAY));
        }),
    }
}

fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn write_padded(out: &mut Vec<u8>, number: u64, width: usize) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(number);
    out.extend(std::iter::repeat_n(
        b'0',
        width.saturating_sub(digits.len()),
    ));
    out.extend_from_slice(digits.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timestamp(microseconds: i64) -> String {
        let mut out = Vec::new();
        write_timestamp(&mut out, microseconds);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn days_and_dates_are_each_others_inverse() {
        for day in (-800_000..800_000).step_by(13) {
            let (year, month, of_month) = date(day);
            assert_eq!(days(year, i64::from(month), i64::from(of_month)), day);
        }
    }

    #[test]
    fn points_in_time_are_written_as_iso_8601() {
        assert_eq!(timestamp(0), "1970-01-01T00:00:00.000000Z");
        assert_eq!(timestamp(-1), "1969-12-31T23:59:59.999999Z");
        for (moment, expected) in [
            (951_827_696_000_000, "2000-02-29T12:34:56.000000Z"),
            (-62_167_219_200_000_000, "0000-01-01T00:00:00.000000Z"),
            (-62_198_755_200_000_000, "-0001-01-01T00:00:00.000000Z"),
            (253_402_300_800_000_000, "+10000-01-01T00:00:00.000000Z"),
        ] {
            assert_eq!(timestamp(moment), expected);
        }
    }

    #[test]
    fn the_ends_of_the_range_do_not_panic() {
        assert!(timestamp(i64::MAX).starts_with("+294247"));
        assert!(timestamp(i64::MIN).starts_with("-290308"));
    }
}
