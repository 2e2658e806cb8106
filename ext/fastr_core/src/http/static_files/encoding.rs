//! Which precompressed siblings a client takes (RFC 9110, section 12.5.3).

use http::HeaderMap;
use http::header::ACCEPT_ENCODING;

/// A coding with its sibling's ending, in the order of preference.
pub(super) const CODINGS: [(&str, &str); 2] = [("br", ".br"), ("gzip", ".gz")];

/// The set of [`CODINGS`] a client takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Accepted([bool; CODINGS.len()]);

impl Accepted {
    pub(super) const NOTHING: Accepted = Accepted([false; CODINGS.len()]);
    /// How many sets there are.
    pub(super) const SETS: usize = 1 << CODINGS.len();

    /// Reads `Accept-Encoding`. Weights above zero all mean yes: the better coding wins whatever the client's order.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let mut named = [None; CODINGS.len()];
        let mut others = false;
        let values = headers
            .get_all(ACCEPT_ENCODING)
            .into_iter()
            .filter_map(|value| value.to_str().ok());
        for element in values.flat_map(|value| value.split(',')) {
            let (coding, parameters) = element.split_once(';').unwrap_or((element, ""));
            let coding = coding.trim().trim_start_matches("x-");
            let taken = !has_no_weight(parameters);
            if coding == "*" {
                others = taken;
            }
            let position = CODINGS
                .iter()
                .position(|(known, _)| known.eq_ignore_ascii_case(coding));
            if let Some(position) = position {
                named[position] = Some(taken);
            }
        }
        Accepted(named.map(|taken| taken.unwrap_or(others)))
    }

    /// Whether the coding with this position is taken.
    pub(super) fn takes(self, position: usize) -> bool {
        self.0[position]
    }

    /// The number of this set.
    pub(super) fn set(self) -> usize {
        self.0
            .iter()
            .fold(0, |set, taken| set * 2 + usize::from(*taken))
    }
}

/// Whether the weight is zero: `q=0`, `q=0.000`.
fn has_no_weight(parameters: &str) -> bool {
    let weight = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim()
            .eq_ignore_ascii_case("q")
            .then_some(value.trim())
    });
    weight.is_some_and(|weight| {
        weight.starts_with('0') && weight.bytes().all(|byte| matches!(byte, b'0' | b'.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(value: &str) -> [bool; 2] {
        let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, value.parse().unwrap())]);
        Accepted::of(&headers).0
    }

    #[test]
    fn weights_and_the_star_decide() {
        assert_eq!(accepted("gzip, deflate, br"), [true, true]);
        assert_eq!(accepted("BR;q=0, x-gzip;Q=0.001"), [false, true]);
        assert_eq!(accepted("*"), [true, true]);
        assert_eq!(accepted("*;q=0, br"), [true, false]);
        assert_eq!(accepted("gzip; q=0.000 ,*; q=1"), [true, false]);
        assert_eq!(accepted("brr,;;q,=,"), [false, false]);
    }

    #[test]
    fn a_megabyte_of_stars_takes_linear_time() {
        let started = std::time::Instant::now();
        assert_eq!(accepted(&"*;q=0,;".repeat(150_000)), [false, false]);
        assert!(started.elapsed().as_secs() < 2);
    }

    proptest::proptest! {
        #[test]
        fn no_header_makes_the_parser_panic(
            value in proptest::collection::vec(proptest::num::u8::ANY, 0..40),
            near in "(br|gzip|x-|[*;,=q0-9. ]){0,12}",
        ) {
            for bytes in [value.as_slice(), near.as_bytes()] {
                if let Ok(value) = http::HeaderValue::from_bytes(bytes) {
                    let taken = Accepted::of(&HeaderMap::from_iter([(ACCEPT_ENCODING, value)]));
                    proptest::prop_assert!(taken.set() < Accepted::SETS);
                }
            }
        }
    }
}
