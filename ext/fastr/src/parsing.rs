//! Parsers that Ruby calls on what it has in hand: query strings, forms, cookies, nested names.

use fastr_core::http::form::{Segment, parse_cookies, parse_query, split_name};
use magnus::prelude::*;
use magnus::{Error, RArray, RHash, RModule, RString, Ruby, function};

use crate::error::{guard, raise};
use crate::raw::env;

/// `[[name, value], …]` in order, repeats kept.
fn query(ruby: &Ruby, text: RString) -> Result<RArray, Error> {
    guard(|_| {
        let pairs = parse_query(&env::bytes(text)).map_err(|error| raise(ruby, &error))?;
        let array = ruby.ary_new_capa(pairs.len());
        for (name, value) in pairs {
            array.push(ruby.ary_new_from_values(&[ruby.str_new(&name), ruby.str_new(&value)]))?;
        }
        Ok(array)
    })
}

/// The cookies of a header, by name.
fn cookies(ruby: &Ruby, header: RString) -> Result<RHash, Error> {
    guard(|_| {
        let header = env::bytes(header);
        let hash = ruby.hash_new();
        for (name, value) in parse_cookies(&String::from_utf8_lossy(&header)) {
            hash.aset(name, value)?;
        }
        Ok(hash)
    })
}

/// `a[b][]` as `["a", "b", nil]`; nil means one more element of an Array.
fn nested_name(ruby: &Ruby, name: RString) -> Result<RArray, Error> {
    guard(|_| {
        let name = name.to_string()?;
        let segments = split_name(&name).map_err(|error| raise(ruby, &error))?;
        Ok(
            ruby.ary_from_iter(segments.into_iter().map(|segment| match segment {
                Segment::Key(key) => Some(key.to_owned()),
                Segment::Append => None,
            })),
        )
    })
}

pub(crate) fn define(_ruby: &Ruby, fastr: RModule) -> Result<(), Error> {
    let native = fastr.define_module("Native")?;
    native.define_singleton_method("parse_query", function!(query, 1))?;
    native.define_singleton_method("parse_cookies", function!(cookies, 1))?;
    native.define_singleton_method("split_name", function!(nested_name, 1))
}
