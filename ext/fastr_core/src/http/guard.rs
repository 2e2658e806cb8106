//! x
pub const REJECTED_TARGET: &str = "/.well-known/fastr-rejected";
