//! Sets of request methods as bits, and the `Allow` list made of them.

/// The methods every table knows, in the order `Allow` lists them.
const COMMON: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/// The bits of [`COMMON`] that have a rule of their own.
pub(super) const GET: Methods = Methods(1);
pub(super) const HEAD: Methods = Methods(1 << 1);
const OPTIONS: Methods = Methods(1 << 6);

/// A set of methods. Every method a table mentions has a bit; a method it does not mention has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Methods(u64);

impl Methods {
    pub(super) const NONE: Methods = Methods(0);
    /// Every method, also those that the table does not mention.
    pub(super) const ANY: Methods = Methods(u64::MAX);

    pub(super) fn with(self, other: Methods) -> Methods {
        Methods(self.0 | other.0)
    }

    pub(super) fn meets(self, other: Methods) -> bool {
        self.0 & other.0 != 0
    }
}

/// The methods that a table's routes mention.
#[derive(Debug)]
pub(super) struct MethodNames(Vec<Box<str>>);

impl MethodNames {
    pub(super) fn new() -> Self {
        MethodNames(COMMON.iter().map(|name| (*name).into()).collect())
    }

    /// The bit of a method, given one if it had none. No bit is left after 63 names.
    pub(super) fn learn(&mut self, name: &str) -> Option<Methods> {
        if let Some(known) = self.position(name) {
            return Some(Methods(1 << known));
        }
        if self.0.len() >= 63 {
            return None;
        }
        self.0.push(name.into());
        Some(Methods(1 << (self.0.len() - 1)))
    }

    /// The bit of a request's method. The 64th bit stands for every method that no route mentions.
    pub(super) fn of(&self, name: &str) -> Methods {
        Methods(1 << self.position(name).unwrap_or(63))
    }

    /// The value of an `Allow` header (RFC 9110, section 10.2.1). GET brings HEAD with it, and OPTIONS is always
    /// answered.
    pub(super) fn allow(&self, mut methods: Methods) -> String {
        if methods.meets(GET) {
            methods = methods.with(HEAD);
        }
        methods = methods.with(OPTIONS);
        let named = self
            .0
            .iter()
            .enumerate()
            .filter(|(bit, _)| methods.meets(Methods(1 << bit)));
        named
            .map(|(_, name)| &**name)
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|known| **known == *name)
    }
}
