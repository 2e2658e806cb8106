//! The `Range` header (RFC 9110, section 14.2), with a bound on the work it can ask for.

/// The most ranges one request may ask for; a request for more gets the whole file.
const MAX_RANGES: usize = 16;

/// A range of bytes: from `start`, `length` of them, never empty and never beyond the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: u64,
    pub(super) length: u64,
}

/// What a `Range` header asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The whole file: the header is malformed, of another unit, or asks for more than the file holds.
    Whole,
    /// These parts, in the order of asking; by position when some had to be coalesced.
    Parts(Vec<Span>),
    /// Only parts that do not exist.
    Nothing,
}

/// Reads a header for a file of this size.
pub(super) fn parse(header: &str, size: u64) -> Wanted {
    read(header, size).unwrap_or(Wanted::Whole)
}

/// None when the header is malformed, which means that it is ignored.
fn read(header: &str, size: u64) -> Option<Wanted> {
    let (unit, list) = header.split_once('=')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    let mut spans = Vec::new();
    let mut asked = 0;
    for spec in list
        .split(',')
        .map(|spec| spec.trim_matches([' ', '\t']))
        .filter(|spec| !spec.is_empty())
    {
        asked += 1;
        if asked > MAX_RANGES {
            return None;
        }
        spans.extend(span(spec, size)?);
    }
    if asked == 0 {
        return None;
    }
    // Spans lie within the file, so that 16 of them can overflow only beside files no disk holds.
    let total = spans
        .iter()
        .try_fold(0_u64, |total, span| total.checked_add(span.length))?;
    Some(match (spans.is_empty(), total > size) {
        (true, _) => Wanted::Nothing,
        (_, true) => Wanted::Whole,
        _ => Wanted::Parts(coalesced(spans)),
    })
}

/// One range: the outer None is malformed, the inner one lies beyond the end.
fn span(spec: &str, size: u64) -> Option<Option<Span>> {
    let (first, last) = spec.split_once('-')?;
    if first.is_empty() {
        let length = number(last)?.min(size);
        return Some((length > 0).then(|| Span {
            start: size - length,
            length,
        }));
    }
    let start = number(first)?;
    let end = if last.is_empty() {
        u64::MAX
    } else {
        number(last)?
    };
    if end < start {
        return None;
    }
    Some((start < size).then(|| Span {
        start,
        length: end.min(size - 1) - start + 1,
    }))
}

/// A number of any length; what no file can reach is the largest number.
fn number(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u64::MAX))
}

/// Joins spans that overlap or touch. When none do, the order of asking stays.
fn coalesced(spans: Vec<Span>) -> Vec<Span> {
    let mut sorted = spans.clone();
    sorted.sort_unstable_by_key(|span| span.start);
    let mut joined: Vec<Span> = Vec::with_capacity(sorted.len());
    for span in sorted {
        match joined
            .last_mut()
            .filter(|last| last.start + last.length >= span.start)
        {
            Some(last) => last.length = last.length.max(span.start + span.length - last.start),
            None => joined.push(span),
        }
    }
    if joined.len() == spans.len() {
        spans
    } else {
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(header: &str, size: u64) -> Vec<(u64, u64)> {
        match parse(header, size) {
            Wanted::Parts(spans) => spans.iter().map(|span| (span.start, span.length)).collect(),
            other => panic!("{header}: {other:?}"),
        }
    }

    #[test]
    fn first_last_open_and_suffix_ranges_are_read() {
        assert_eq!(parts("bytes=0-0", 10), [(0, 1)]);
        assert_eq!(parts("Bytes = 2-5", 10), [(2, 4)]);
        assert_eq!(parts("bytes=7-", 10), [(7, 3)]);
        assert_eq!(parts("bytes=-3", 10), [(7, 3)]);
        assert_eq!(parts("bytes=-99", 10), [(0, 10)]);
        assert_eq!(parts("bytes=4-99", 10), [(4, 6)]);
        assert_eq!(parts("bytes=5-6 ,, 0-1,", 10), [(5, 2), (0, 2)]);
    }

    #[test]
    fn overlapping_and_touching_ranges_are_coalesced() {
        assert_eq!(parts("bytes=5-6,0-1,1-2", 10), [(0, 3), (5, 2)]);
        assert_eq!(parts("bytes=2-3,0-1", 10), [(0, 4)]);
    }

    #[test]
    fn malformed_ranges_are_ignored() {
        for header in [
            "",
            "bytes",
            "bytes=",
            "bytes=-",
            "bytes=a-b",
            "bytes=1",
            "bytes=5-4",
            "bytes=1-2;3-4",
            "bytes=+1-2",
            "bytes=--1",
            "bytes=1--2",
            "bytes=-1-2",
            "items=0-1",
            "bytes=0x1-2",
            "bytes=1 -2",
            "bytes=0-1,x",
        ] {
            assert_eq!(parse(header, 10), Wanted::Whole, "{header}");
        }
    }

    #[test]
    fn numbers_never_wrap_around() {
        assert_eq!(parse("bytes=18446744073709551616-", 10), Wanted::Nothing);
        assert_eq!(parts("bytes=1-18446744073709551616", 10), [(1, 9)]);
        assert_eq!(parts("bytes=-99999999999999999999999", 10), [(0, 10)]);
        assert_eq!(parts("bytes=0-18446744073709551615", 10), [(0, 10)]);
    }

    #[test]
    fn ranges_beyond_the_end_are_unsatisfiable() {
        for (header, size) in [
            ("bytes=10-", 10),
            ("bytes=-0", 10),
            ("bytes=0-", 0),
            ("bytes=-5", 0),
            ("bytes=10-11,12-", 10),
        ] {
            assert_eq!(parse(header, size), Wanted::Nothing, "{header}");
        }
        assert_eq!(parts("bytes=20-30,1-1", 10), [(1, 1)]);
    }

    #[test]
    fn many_or_repeated_ranges_get_the_whole_file() {
        let many: Vec<String> = (0..17).map(|n| format!("{}-{}", n * 10, n * 10)).collect();
        assert_eq!(
            parse(&format!("bytes={}", many.join(",")), 1000),
            Wanted::Whole
        );
        assert_eq!(
            parts(&format!("bytes={}", many[1..].join(",")), 1000).len(),
            16
        );
        assert_eq!(parse("bytes=0-,0-", 1000), Wanted::Whole);
        assert_eq!(
            parse(&format!("bytes={}", "0-,".repeat(500_000)), 1000),
            Wanted::Whole
        );
    }

    proptest! {
        #[test]
        fn parts_lie_within_the_file_and_never_exceed_it(header in "bytes=([0-9]{0,3}-[0-9]{0,3},?){0,18}", size in 0_u64..500) {
            if let Wanted::Parts(spans) = parse(&header, size) {
                prop_assert!(spans.iter().all(|span| span.length > 0 && span.start + span.length <= size));
                prop_assert!(spans.iter().map(|span| span.length).sum::<u64>() <= size);
            }
        }

        #[test]
        fn no_header_makes_the_parser_panic(header in "\\PC{0,40}", size in any::<u64>()) {
            let _ = parse(&header, size);
        }
    }
}
