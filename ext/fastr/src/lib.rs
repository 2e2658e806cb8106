//! The Ruby binding of fastr: convert in, call the core, convert out. One file per Ruby class, one `define` each.
//!
//! Everything here runs on Ruby threads with the GVL. The only `unsafe` code is in [`raw`].

// The one public function is made by an attribute, for Ruby's loader alone.
#![allow(missing_docs)]

mod answer;
mod asker;
mod bind;
mod civil;
mod constant;
mod convert;
mod error;
mod native;
mod nested_json;
mod outgoing;
mod owned;
mod parsing;
mod pool;
mod rack_env;
mod raw;
mod request;
mod request_state;
mod response;
mod routes;
mod rows;
mod server;
mod shared_fields;
mod sink;
mod stream;
mod timings;
mod value;
mod waiter;

use magnus::{Error, Ruby};

#[magnus::init(name = "native")]
fn init(ruby: &Ruby) -> Result<(), Error> {
    let fastr = ruby.define_module("Fastr")?;
    native::define(ruby, fastr)?;
    parsing::define(ruby, fastr)?;
    waiter::define(ruby, fastr)?;
    request::define(ruby, fastr)?;
    routes::define(ruby, fastr)?;
    server::define(ruby, fastr)?;
    let record = ruby.define_module("AsyncRecord")?;
    pool::define(ruby, record)?;
    stream::define(ruby, record)?;
    timings::define(ruby, record)?;
    rows::define(ruby, record)?;
    asker::define(ruby, record)
}
