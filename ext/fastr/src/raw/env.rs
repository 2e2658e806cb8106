//! The hottest conversions: interned strings and the Rack env, made from a template by one hash copy.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::OnceLock;

use ::rb_sys::{
    rb_enc_interned_str, rb_gc_register_mark_object, rb_hash_aset, rb_hash_dup, rb_obj_freeze,
    rb_str_new, rb_utf8_encoding,
};
use fastr_core::http::written::Written;
use magnus::rb_sys::{AsRawValue, FromRawValue};
use magnus::value::Opaque;
use magnus::{RHash, RString, Ruby, Value};

/// Header names whose env keys are kept for ever. A client cannot fill it: names beyond are made anew each time.
const KEPT_NAMES: usize = 256;

thread_local! {
    static KEYS: RefCell<HashMap<String, ::rb_sys::VALUE>> = RefCell::default();
}

/// A frozen, deduplicated string.
pub(crate) fn interned(text: &str) -> RString {
    // An empty Rust slice has no address that Ruby could read.
    let bytes = if text.is_empty() {
        b"\0".as_slice()
    } else {
        text.as_bytes()
    };
    // SAFETY: pointer and length describe readable memory; the result is a String.
    unsafe {
        let value = rb_enc_interned_str(bytes.as_ptr().cast(), text.len() as _, rb_utf8_encoding());
        RString::from_value(Value::from_raw(value)).expect("rb_enc_interned_str gives a String")
    }
}

/// A text that Ruby keeps as one frozen string from its first use on.
pub(crate) struct Kept {
    text: &'static str,
    string: OnceLock<Opaque<RString>>,
}

impl Kept {
    pub(crate) const fn new(text: &'static str) -> Self {
        Self {
            text,
            string: OnceLock::new(),
        }
    }

    pub(crate) fn get(&self, ruby: &Ruby) -> RString {
        if let Some(string) = self.string.get() {
            return ruby.get_inner(*string);
        }
        // Not within the lock: making a string is Ruby's.
        let string = interned(self.text);
        ruby.gc_register_mark_object(string);
        let _ = self.string.set(string.into());
        string
    }
}

/// A string of bytes, encoding BINARY.
pub(crate) fn binary(bytes: &[u8]) -> Value {
    // SAFETY: as above; rb_str_new copies the bytes.
    unsafe {
        let pointer = if bytes.is_empty() {
            c"".as_ptr()
        } else {
            bytes.as_ptr().cast()
        };
        Value::from_raw(rb_str_new(pointer, bytes.len() as _))
    }
}

/// A copy of a string's bytes.
pub(crate) fn bytes(text: RString) -> bytes::Bytes {
    // SAFETY: the slice is copied before any Ruby code could run and change the string.
    unsafe { bytes::Bytes::copy_from_slice(text.as_slice()) }
}

/// Writes a field of an answer; false if it is none.
pub(crate) fn field(written: &mut Written, name: RString, value: RString) -> bool {
    // SAFETY: the slices are copied before any Ruby code could run and change the strings.
    unsafe { written.field(name.as_slice(), value.as_slice()) }
}

/// Ends an answer with its body.
pub(crate) fn end(written: Written, body: RString) -> Written {
    // SAFETY: as above.
    unsafe { written.end(body.as_slice()) }
}

/// A copy of the template.
pub(crate) fn duplicate(template: RHash) -> RHash {
    // SAFETY: a Hash in, a Hash out; the GVL is held.
    unsafe {
        RHash::from_value(Value::from_raw(rb_hash_dup(template.as_raw())))
            .expect("rb_hash_dup gives a Hash")
    }
}

/// Stores under a key that is frozen already, so that the hash does not copy it.
pub(crate) fn store(hash: RHash, key: RString, value: Value) {
    // SAFETY: the hash is our own fresh copy; aset on it neither raises nor runs Ruby code for String keys.
    unsafe { rb_hash_aset(hash.as_raw(), key.as_raw(), value.as_raw()) };
}

/// The env key of a header: `user-agent` is `HTTP_USER_AGENT`.
pub(crate) fn header_key(name: &str) -> RString {
    KEYS.with_borrow_mut(|keys| {
        if let Some(key) = keys.get(name) {
            // SAFETY: only marked, frozen Strings are stored.
            return unsafe {
                RString::from_value(Value::from_raw(*key)).expect("keys are Strings")
            };
        }
        let key = interned(&env_name(name));
        if keys.len() < KEPT_NAMES {
            // SAFETY: a frozen String that from now on is never collected or moved.
            unsafe {
                rb_obj_freeze(key.as_raw());
                rb_gc_register_mark_object(key.as_raw());
            }
            keys.insert(name.to_owned(), key.as_raw());
        }
        key
    })
}

fn env_name(name: &str) -> String {
    match name {
        "content-type" => "CONTENT_TYPE".to_owned(),
        "content-length" => "CONTENT_LENGTH".to_owned(),
        _ => format!("HTTP_{}", name.to_ascii_uppercase().replace('-', "_")),
    }
}
