//! Header fields that many answers share: a frozen Hash of frozen Strings is read once, and its bytes are kept.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fastr_core::http::written::Written;
use magnus::prelude::*;
use magnus::r_hash::ForEach;
use magnus::rb_sys::AsRawValue;
use magnus::{Error, RHash, RString, Ruby, Value};

use crate::raw::env;

/// So many Hashes are kept, each for ever: a program has a few. One that freezes a Hash for each answer gains nothing.
const KEPT: usize = 64;

/// The bytes of the Hash at this address, which it never leaves. Only Ruby threads lock it, and only with the GVL held
/// for the few instructions it takes.
static KNOWN: Mutex<Option<HashMap<usize, Box<[u8]>>>> = Mutex::new(None);

fn known() -> MutexGuard<'static, Option<HashMap<usize, Box<[u8]>>>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Appends the fields of a Hash; false if one of them is not a plain String, or none that such an answer can have.
pub(crate) fn append(ruby: &Ruby, written: &mut Written, fields: RHash) -> Result<bool, Error> {
    if !fields.is_frozen() {
        return each(written, fields);
    }
    let address = fields.as_raw() as usize;
    if let Some(bytes) = known().get_or_insert_default().get(&address) {
        written.fields(bytes);
        return Ok(true);
    }
    let begin = written.len();
    if !each(written, fields)? {
        return Ok(false);
    }
    if are_frozen(fields)? && known().as_ref().is_some_and(|known| known.len() < KEPT) {
        ruby.gc_register_mark_object(fields);
        let bytes = written.since(begin).into();
        known().get_or_insert_default().insert(address, bytes);
    }
    Ok(true)
}

fn each(written: &mut Written, fields: RHash) -> Result<bool, Error> {
    let mut is_plain = true;
    fields.foreach(|name: Value, value: Value| {
        is_plain = match (RString::from_value(name), RString::from_value(value)) {
            (Some(name), Some(value)) => env::field(written, name, value),
            _ => false,
        };
        Ok(if is_plain {
            ForEach::Continue
        } else {
            ForEach::Stop
        })
    })?;
    Ok(is_plain)
}

/// Whether the Strings cannot change either; keys of a Hash never can.
fn are_frozen(fields: RHash) -> Result<bool, Error> {
    let mut are_frozen = true;
    fields.foreach(|_: Value, value: Value| {
        are_frozen &= value.is_frozen();
        Ok(ForEach::Continue)
    })?;
    Ok(are_frozen)
}
