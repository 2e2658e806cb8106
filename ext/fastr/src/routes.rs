//! `Fastr::RouteTable`: routes in the order they are tried, compiled when the table is frozen.

use std::cell::RefCell;
use std::sync::Arc;

use fastr_core::Error as CoreError;
use fastr_core::http::routes::{
    ConstantResponse, HostPattern, Match, RouteSpec, RouteTable, RouteTableBuilder, Target,
};
use magnus::prelude::*;
use magnus::typed_data::Obj;
use magnus::{Error, RArray, RHash, RModule, RString, Ruby, Value, function, method};

use crate::constant::define_class;
use crate::convert::Strings;
use crate::error::{guard, raise};
use crate::raw::env;

enum State {
    Open(RouteTableBuilder),
    Frozen(Arc<RouteTable>),
}

#[magnus::wrap(class = "Fastr::RouteTable", free_immediately)]
pub(crate) struct RubyRoutes(RefCell<State>);

impl RubyRoutes {
    fn new() -> Self {
        Self(RefCell::new(State::Open(RouteTable::builder())))
    }

    /// `add(methods, pattern, constraints, id)`: methods in upper case or nil; constraints by parameter name, as
    /// regular expression sources.
    fn add(
        &self,
        methods: Option<Strings>,
        pattern: String,
        constraints: RHash,
        id: u32,
    ) -> Result<(), Error> {
        let constraints = pairs(constraints)?;
        self.insert(methods, &pattern, &constraints, None, Target::Ruby(id))
    }

    /// `add_for_host([host, is_regexp], methods, pattern, constraints, id)`: the same for one host, or for those that a
    /// regular expression covers.
    fn add_for_host(
        &self,
        host: RArray,
        methods: Option<Strings>,
        pattern: String,
        constraints: RHash,
        id: u32,
    ) -> Result<(), Error> {
        let constraints = pairs(constraints)?;
        let (name, is_regexp): (String, bool) = (host.entry(0)?, host.entry(1)?);
        let host = if is_regexp {
            HostPattern::Regex(&name)
        } else {
            HostPattern::Exact(&name)
        };
        self.insert(
            methods,
            &pattern,
            &constraints,
            Some(host),
            Target::Ruby(id),
        )
    }

    /// `add_constant(methods, pattern, status, headers, body)`: answered without Ruby.
    fn add_constant(
        &self,
        methods: Option<Strings>,
        pattern: String,
        status: u16,
        headers: RHash,
        body: RString,
    ) -> Result<(), Error> {
        let headers = pairs(headers)?;
        let response = guard(|ruby| {
            let headers: Vec<_> = headers
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()))
                .collect();
            ConstantResponse::new(status, &headers, env::bytes(body))
                .map_err(|error| raise(ruby, &error))
        })?;
        self.insert(
            methods,
            &pattern,
            &[],
            None,
            Target::Constant(Arc::new(response)),
        )
    }

    fn insert(
        &self,
        methods: Option<Strings>,
        pattern: &str,
        constraints: &[(String, String)],
        host: Option<HostPattern<'_>>,
        target: Target,
    ) -> Result<(), Error> {
        guard(|ruby| {
            let methods: Option<Vec<&str>> = methods
                .as_ref()
                .map(|list| list.0.iter().map(String::as_str).collect());
            let constraints: Vec<_> = constraints
                .iter()
                .map(|(name, regex)| (name.as_str(), regex.as_str()))
                .collect();
            let spec = RouteSpec {
                methods: methods.as_deref(),
                pattern,
                constraints: &constraints,
                host,
            };
            match &mut *self.0.borrow_mut() {
                State::Open(builder) => builder.add(spec, target).map(|_| ()),
                State::Frozen(_) => Err(CoreError::Invalid(
                    "the route table is frozen: make a new one".into(),
                )),
            }
            .map_err(|error| raise(ruby, &error))
        })
    }

    /// The compiled table; no route can be added from here on.
    pub(crate) fn table(&self) -> Result<Arc<RouteTable>, CoreError> {
        let mut state = self.0.borrow_mut();
        if let State::Frozen(table) = &*state {
            return Ok(Arc::clone(table));
        }
        let empty = State::Open(RouteTable::builder());
        let State::Open(builder) = std::mem::replace(&mut *state, empty) else {
            return Err(CoreError::Lost);
        };
        let table = Arc::new(builder.build()?);
        *state = State::Frozen(Arc::clone(&table));
        Ok(table)
    }

    fn freeze(this: Obj<Self>) -> Result<Obj<Self>, Error> {
        guard(|ruby| {
            this.table()
                .map(|_| this)
                .map_err(|error| raise(ruby, &error))
        })
    }

    /// `match(method, path)` or `match(method, path, host)`: `[id, captures]`; an Array of the methods that the path
    /// answers to instead; or nil.
    fn find(ruby: &Ruby, this: &Self, arguments: &[Value]) -> Result<Value, Error> {
        guard(|_| {
            let arguments = magnus::scan_args::scan_args::<
                (String, String),
                (Option<String>,),
                (),
                (),
                (),
                (),
            >(arguments)?;
            let ((method, path), host) =
                (arguments.required, arguments.optional.0.unwrap_or_default());
            let table = this.table().map_err(|error| raise(ruby, &error))?;
            match table.matched(&method, &host, &path) {
                Match::Found { route, captures } => {
                    let Target::Ruby(id) = table.target(route) else {
                        return Ok(ruby.qnil().as_value());
                    };
                    let values = ruby.ary_from_iter(captures.iter());
                    let found = ruby.ary_new_capa(2);
                    found.push(*id)?;
                    found.push(values)?;
                    Ok(found.as_value())
                }
                Match::MethodNotAllowed { allow } => Ok(ruby
                    .ary_from_iter(allow.split(", ").map(ToOwned::to_owned))
                    .as_value()),
                Match::NotFound => Ok(ruby.qnil().as_value()),
                Match::BadPath(reason) => Err(raise(
                    ruby,
                    &CoreError::BadRequest {
                        status: 400,
                        reason: reason.into(),
                    },
                )),
            }
        })
    }
}

fn pairs(hash: RHash) -> Result<Vec<(String, String)>, Error> {
    let mut pairs = Vec::with_capacity(hash.len());
    hash.foreach(|name: String, value: String| {
        pairs.push((name, value));
        Ok(magnus::r_hash::ForEach::Continue)
    })?;
    Ok(pairs)
}

pub(crate) fn define(ruby: &Ruby, fastr: RModule) -> Result<(), Error> {
    let class = define_class::<RubyRoutes>(ruby, fastr, "RouteTable")?;
    class.define_singleton_method("new", function!(RubyRoutes::new, 0))?;
    class.define_method("add", method!(RubyRoutes::add, 4))?;
    class.define_method("add_for_host", method!(RubyRoutes::add_for_host, 5))?;
    class.define_method("add_constant", method!(RubyRoutes::add_constant, 5))?;
    class.define_method("freeze", method!(RubyRoutes::freeze, 0))?;
    class.define_method("match", method!(RubyRoutes::find, -1))
}
