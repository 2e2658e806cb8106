//! The route table: from method, host and path to a route, without Ruby.
//!
//! It owns the patterns, their constraints and the order: the first route added that matches wins, whatever shapes
//! the others have. It refuses to repair paths: a trailing slash is a different path, and a path with a malformed
//! escape, a NUL or invalid UTF-8 is a 400. The path is decoded before matching; an encoded slash never separates
//! segments.
//!
//! | pattern | matches |
//! |---|---|
//! | `/about` | itself |
//! | `/users/:id` | one segment, not empty (`:id.json`, `v:id` and `:from-:to` within one, the first taking the most) |
//! | `/files/*rest` | at least one character, slashes included; it may also stand in the middle |
//! | `/users/:id(.:format)`, `/posts(/:page)` | with or without the part, with it first |
//!
//! A constraint is a regular expression over the whole decoded value and replaces what the parameter matches by
//! default, so that one which accepts a slash spans segments. `\:` `\*` `\(` `\)` `\\` mean themselves.

mod builder;
mod captures;
mod constraint;
mod dialect;
mod host;
mod index;
mod matcher;
mod methods;
mod path;
mod pattern;
mod shape;
mod target;

pub use builder::{RouteSpec, RouteTableBuilder};
pub use captures::{Captures, MAX_PARAMS};
pub use host::HostPattern;
pub use target::{ConstantResponse, RouteId, Target};

use captures::{NO_SPANS, Spans};
use host::Host;
use index::Index;
use matcher::Matcher;
use methods::{GET, HEAD, MethodNames, Methods};

/// What a request leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Match {
    /// This route.
    Found {
        /// The route.
        route: RouteId,
        /// The values of its parameters.
        captures: Captures,
    },
    /// Routes match the path, but none this method: 405, or 204 when the method is OPTIONS.
    MethodNotAllowed {
        /// The value for the `Allow` header.
        allow: String,
    },
    /// No route matches.
    NotFound,
    /// The path cannot be decoded: 400.
    BadPath(&'static str),
}

/// One route as the table keeps it.
#[derive(Debug)]
struct Route {
    names: Vec<String>,
    target: Target,
}

/// One way to match one route.
#[derive(Debug)]
struct Alternative {
    route: RouteId,
    methods: Methods,
    host: Option<std::sync::Arc<Host>>,
    matcher: Matcher,
}

impl Alternative {
    fn matches(&self, host: &str, path: &str, spans: &mut Spans) -> bool {
        self.matcher.matches(path, spans) && self.host.as_ref().is_none_or(|own| own.accepts(host))
    }
}

/// An immutable table of routes, shared by every connection.
#[derive(Debug)]
pub struct RouteTable {
    routes: Vec<Route>,
    alternatives: Vec<Alternative>,
    index: Index,
    method_names: MethodNames,
    /// Whether some route names HEAD itself.
    has_head: bool,
}

impl RouteTable {
    /// Starts a table.
    #[must_use]
    pub fn builder() -> RouteTableBuilder {
        RouteTableBuilder::new()
    }

    /// Finds the route of a request. `host` is the request's authority, with or without a port; `path` is raw, still
    /// percent-encoded, without the query.
    ///
    /// A route that names HEAD answers HEAD; failing that, the first that takes GET does (RFC 9110, section 9.3.2).
    #[must_use]
    pub fn matched(&self, method: &str, host: &str, path: &str) -> Match {
        let decoded = match path::decode(path) {
            Ok(decoded) => decoded,
            Err(reason) => return Match::BadPath(reason),
        };
        if !decoded.starts_with('/') {
            return Match::NotFound;
        }
        let candidates = self.index.candidates(&decoded);
        let mut spans = NO_SPANS;
        let Some(found) = self.first(
            self.method_names.of(method),
            host,
            &decoded,
            candidates,
            &mut spans,
        ) else {
            return self.refused(host, &decoded, candidates);
        };
        let names = self.routes[found.route.0 as usize].names.len();
        Match::Found {
            route: found.route,
            captures: Captures::new(decoded, &spans, names),
        }
    }

    /// What a route leads to.
    ///
    /// # Panics
    /// When the route is of another table.
    #[must_use]
    pub fn target(&self, route: RouteId) -> &Target {
        &self.routes[route.0 as usize].target
    }

    /// The names of a route's parameters, in the order of its captures.
    ///
    /// # Panics
    /// When the route is of another table.
    #[must_use]
    pub fn names(&self, route: RouteId) -> &[String] {
        &self.routes[route.0 as usize].names
    }

    /// How many routes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.routes.len()
    }

    /// Whether there is no route.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.routes.is_empty()
    }

    fn first(
        &self,
        method: Methods,
        host: &str,
        path: &str,
        candidates: &[u32],
        spans: &mut Spans,
    ) -> Option<&Alternative> {
        let mut search = |fits: &dyn Fn(Methods) -> bool| {
            let alternatives = candidates
                .iter()
                .map(|candidate| &self.alternatives[*candidate as usize]);
            let mut fitting = alternatives.filter(|alternative| fits(alternative.methods));
            fitting.find(|alternative| alternative.matches(host, path, spans))
        };
        if method != HEAD {
            return search(&|methods| methods.meets(method));
        }
        let named = if self.has_head {
            search(&|methods| methods != Methods::ANY && methods.meets(HEAD))
        } else {
            None
        };
        named.or_else(|| search(&|methods| methods.meets(GET)))
    }

    /// No route takes the method: tells which methods the path has, if any.
    #[cold]
    fn refused(&self, host: &str, path: &str, candidates: &[u32]) -> Match {
        let mut spans = NO_SPANS;
        let mut allowed = Methods::NONE;
        for candidate in candidates {
            let alternative = &self.alternatives[*candidate as usize];
            if alternative.matches(host, path, &mut spans) {
                allowed = allowed.with(alternative.methods);
            }
        }
        match allowed == Methods::NONE {
            true => Match::NotFound,
            false => Match::MethodNotAllowed {
                allow: self.method_names.allow(allowed),
            },
        }
    }
}
