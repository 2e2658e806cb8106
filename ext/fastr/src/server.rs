//! `Fastr::Server`: a listening server.

use std::path::PathBuf;

use fastr_core::http::server::Server;
use fastr_core::http::{ServerOptions, limits::Limits};
use magnus::prelude::*;
use magnus::{Error, RHash, RModule, Ruby, Value, function, method, typed_data::Obj};

use crate::constant::define_class;
use crate::convert;
use crate::error::{guard, raise};
use crate::native;
use crate::owned::Owned;
use crate::raw::gvl;
use crate::routes::RubyRoutes;
use crate::sink::Sink;

#[magnus::wrap(class = "Fastr::Server", free_immediately)]
pub(crate) struct RubyServer(Owned<Server>);

impl RubyServer {
    fn listen(options: RHash, routes: Obj<RubyRoutes>) -> Result<Self, Error> {
        guard(|ruby| {
            let options = server_options(ruby, options)?;
            let reactor = native::reactor().map_err(|error| raise(ruby, &error))?;
            let routes = routes.table().map_err(|error| raise(ruby, &error))?;
            // Asks the resolver for the host and the disk for the files.
            gvl::blocking(|| Server::listen(&reactor, options, routes))?
                .map(|server| Self(Owned::new(server)))
                .map_err(|error| raise(ruby, &error))
        })
    }

    fn port(&self) -> u16 {
        self.0.address().port()
    }

    fn host(&self) -> String {
        self.0.address().ip().to_string()
    }

    fn replace_routes(&self, routes: Obj<RubyRoutes>) -> Result<(), Error> {
        guard(|ruby| {
            self.0
                .replace_routes(routes.table().map_err(|error| raise(ruby, &error))?);
            Ok(())
        })
    }

    /// Stops accepting and completes when everything is answered; with `Fastr::TimeoutError` at the deadline.
    fn stop(&self, sink: Sink, seconds: f64) -> Result<(), Error> {
        guard(|ruby| {
            let reactor = self.0.check("server").and_then(|()| native::reactor());
            let reactor = reactor.map_err(|error| raise(ruby, &error))?;
            self.0
                .stop(convert::seconds(seconds), sink.completer(&reactor));
            Ok(())
        })
    }

    fn stats(ruby: &Ruby, this: &Self) -> Result<RHash, Error> {
        let stats = ruby.hash_new();
        stats.aset(ruby.to_symbol("connections"), this.0.connections())?;
        stats.aset(ruby.to_symbol("in_flight"), this.0.in_flight())?;
        Ok(stats)
    }
}

fn server_options(ruby: &Ruby, given: RHash) -> Result<ServerOptions, Error> {
    let mut options = ServerOptions::default();
    given.foreach(|key: String, value: Value| {
        match key.as_str() {
            "host" => options.host = String::try_convert(value)?,
            "port" => options.port = u16::try_convert(value)?,
            "public" => options.public = Option::<String>::try_convert(value)?.map(PathBuf::from),
            limit => set_limit(ruby, &mut options.limits, limit, value)?,
        }
        Ok(magnus::r_hash::ForEach::Continue)
    })?;
    Ok(options)
}

/// Sets a limit by the name it has in `fastr_core::http::limits::Limits`; times are seconds.
fn set_limit(ruby: &Ruby, limits: &mut Limits, name: &str, value: Value) -> Result<(), Error> {
    let count = || usize::try_convert(value);
    let seconds = || f64::try_convert(value).map(convert::seconds);
    match name {
        "request_line" => limits.request_line = count()?,
        "header_block" => limits.header_block = count()?,
        "header_count" => limits.header_count = count()?,
        "chunk_line" => limits.chunk_line = count()?,
        "chunk_extensions" => limits.chunk_extensions = count()?,
        "trailer_block" => limits.trailer_block = count()?,
        "max_body" => limits.max_body = u64::try_convert(value)?,
        "keep_underscores" => limits.keep_underscores = bool::try_convert(value)?,
        "head_timeout" => limits.head_timeout = seconds()?,
        "keep_alive_timeout" => limits.keep_alive_timeout = seconds()?,
        "body_timeout" => limits.body_timeout = seconds()?,
        "body_rate" => limits.body_rate = u64::try_convert(value)?,
        "body_grace" => limits.body_grace = seconds()?,
        "write_timeout" => limits.write_timeout = seconds()?,
        "handler_timeout" => limits.handler_timeout = seconds()?,
        "linger" => limits.linger = seconds()?,
        "max_connections" => limits.max_connections = count()?,
        "max_in_flight" => limits.max_in_flight = count()?,
        _ => {
            let message = format!("no server option is called {name:?}");
            return Err(Error::new(ruby.exception_arg_error(), message));
        }
    }
    Ok(())
}

pub(crate) fn define(ruby: &Ruby, fastr: RModule) -> Result<(), Error> {
    let class = define_class::<RubyServer>(ruby, fastr, "Server")?;
    class.define_singleton_method("listen", function!(RubyServer::listen, 2))?;
    class.define_method("port", method!(RubyServer::port, 0))?;
    class.define_method("host", method!(RubyServer::host, 0))?;
    class.define_method("replace_routes", method!(RubyServer::replace_routes, 1))?;
    class.define_method("stop", method!(RubyServer::stop, 2))?;
    class.define_method("stats", method!(RubyServer::stats, 0))
}
