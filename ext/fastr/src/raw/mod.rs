//! The only place with `unsafe`: calls that magnus has no safe form for. Each function has a safe interface, and each
//! block says why it holds.
#![allow(unsafe_code)]

pub(crate) mod env;
pub(crate) mod fd;
pub(crate) mod fork;
pub(crate) mod frames;
pub(crate) mod gvl;
pub(crate) mod lent;
