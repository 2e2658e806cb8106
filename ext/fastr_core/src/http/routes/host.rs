//! Constraints on the host of a request.

use regex::Regex;

use super::constraint::plain;
use super::dialect::translate;

/// Which hosts a route answers for. A port in the request's host does not matter, nor does case.
#[derive(Debug, Clone, Copy)]
pub enum HostPattern<'a> {
    /// This host.
    Exact(&'a str),
    /// The hosts that this expression covers from end to end.
    Regex(&'a str),
}

/// A compiled [`HostPattern`].
#[derive(Debug)]
pub(super) enum Host {
    Exact(Box<str>),
    Regex(Regex),
}

impl Host {
    pub(super) fn new(pattern: HostPattern<'_>) -> Result<Self, String> {
        match pattern {
            HostPattern::Exact("") => Err("its host constraint is empty".to_owned()),
            HostPattern::Exact(host) => Ok(Host::Exact(host.into())),
            HostPattern::Regex(source) => Regex::new(&format!(r"\A(?i:{})\z", translate(source)))
                .map(Host::Regex)
                .map_err(|error| {
                    format!("its host constraint is no usable regex: {}", plain(&error))
                }),
        }
    }

    /// Whether the request's host, which may carry a port, is meant.
    pub(super) fn accepts(&self, host: &str) -> bool {
        let host = without_port(host);
        match self {
            Host::Exact(own) => own.eq_ignore_ascii_case(host),
            Host::Regex(regex) => regex.is_match(host),
        }
    }
}

/// Takes the port off, leaving the colons of a bracketed IPv6 address alone.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port))
            if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') =>
        {
            name
        }
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_host_makes_the_comparison_panic(host in "(\\PC|[:\\[\\]0-9.]){0,30}") {
            let exact = Host::new(HostPattern::Exact("example.com")).unwrap();
            let regex = Host::new(HostPattern::Regex("(.+\\.)?example")).unwrap();
            let _ = (exact.accepts(&host), regex.accepts(&host));
        }

        #[test]
        fn a_port_and_case_never_matter(port in "(:[0-9]{0,5})?", name in "(?i:example\\.com)") {
            let exact = Host::new(HostPattern::Exact("example.com")).unwrap();
            let host = format!("{name}{port}");
            prop_assert!(exact.accepts(&host));
        }
    }
}
