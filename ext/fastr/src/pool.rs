//! `AsyncRecord::Pool`: the connections of one database. They belong to the process that opened them: in a forked child
//! they are neither used nor closed, since closing would say goodbye to the server on the parent's sockets.

use std::sync::Arc;
use std::time::Duration;

use fastr_core::Completer;
use fastr_core::CompletionId;
use fastr_core::db::{
    BeginOptions, CancelHandle, Database, DatabaseOptions, Isolation, JsonColumns, JsonOptions,
    Query, Shape, TransactionId, TransactionMode,
};
use fastr_core::reactor::Reactor;
use magnus::prelude::*;
use magnus::r_hash::ForEach;
use magnus::{
    Error, RArray, RHash, RModule, RString, Ruby, Symbol, TryConvert, Value, function, method,
};

use crate::bind::bind;
use crate::constant::define_class;
use crate::convert::{self, Strings};
use crate::error::{guard, raise};
use crate::native;
use crate::outgoing;
use crate::owned::Owned;
use crate::raw::gvl;
use crate::sink::Sink;
use crate::timings::RubyTimings;

/// So many rows a batch of a stream has unless it is said.
const BATCH: usize = 500;

/// How long closing waits for statements that run.
const CLOSE: Duration = Duration::from_secs(5);

#[magnus::wrap(class = "AsyncRecord::Pool", free_immediately)]
pub(crate) struct RubyPool(Owned<Arc<Database>>);

impl RubyPool {
    fn new(url: String, options: RHash) -> Result<Self, Error> {
        guard(|ruby| {
            let options = database_options(ruby, options)?;
            Database::open(&url, options, Arc::new(native::reactor))
                .map(|database| Self(Owned::new(database)))
                .map_err(|error| raise(ruby, &error))
        })
    }

    fn query(&self, sink: Sink, sql: RString, binds: RArray, options: RHash) -> Result<(), Error> {
        guard(|ruby| {
            let mut query = Query::new(sql.to_string()?);
            query.binds = binds
                .into_iter()
                .map(|value| bind(ruby, value))
                .collect::<Result<_, _>>()?;
            set_options(ruby, &mut query, options)?;
            // A thread that sleeps for its answer is not going to flush.
            let sleeps = matches!(sink, Sink::Thread(..));
            self.operate(ruby, &sink, |database, completer| {
                Some(if sleeps {
                    database.submit(query, completer)
                } else {
                    outgoing::submit(database, query, completer)
                })
            })
        })
    }

    /// Completes with an `AsyncRecord::RowStream`.
    fn stream(&self, sink: Sink, sql: RString, binds: RArray, options: RHash) -> Result<(), Error> {
        guard(|ruby| {
            let mut query = Query::new(sql.to_string()?);
            query.binds = binds
                .into_iter()
                .map(|value| bind(ruby, value))
                .collect::<Result<_, _>>()?;
            let batch = options.delete::<_, Option<usize>>(ruby.to_symbol("batch"))?;
            set_options(ruby, &mut query, options)?;
            self.operate(ruby, &sink, |database, completer| {
                database.stream(query, batch.unwrap_or(BATCH), completer);
                None
            })
        })
    }

    /// Completes with an `AsyncRecord::Subscription`.
    fn listen(&self, sink: Sink, channels: Strings) -> Result<(), Error> {
        guard(|ruby| {
            self.operate(ruby, &sink, |database, completer| {
                database.listen(channels.0, completer);
                None
            })
        })
    }

    fn script(&self, sink: Sink, sql: String, options: RHash) -> Result<(), Error> {
        guard(|ruby| {
            let mut query = Query::default();
            set_options(ruby, &mut query, options)?;
            self.operate(ruby, &sink, |database, completer| {
                Some(database.execute_script(sql, query.transaction, completer))
            })
        })
    }

    fn begin(&self, sink: Sink, options: RHash) -> Result<(), Error> {
        guard(|ruby| {
            let options = begin_options(ruby, options)?;
            self.operate(ruby, &sink, |database, completer| {
                Some(database.begin(options, completer))
            })
        })
    }

    fn commit(&self, sink: Sink, transaction: u64) -> Result<(), Error> {
        self.finish(&sink, transaction, true)
    }

    fn rollback(&self, sink: Sink, transaction: u64) -> Result<(), Error> {
        self.finish(&sink, transaction, false)
    }

    fn finish(&self, sink: &Sink, transaction: u64, commit: bool) -> Result<(), Error> {
        guard(|ruby| {
            self.operate(ruby, sink, |database, completer| {
                database.finish(TransactionId(transaction), commit, completer);
                None
            })
        })
    }

    /// Submits something and enters the way to cancel it.
    fn operate(
        &self,
        ruby: &Ruby,
        sink: &Sink,
        submit: impl FnOnce(&Arc<Database>, Completer) -> Option<CancelHandle>,
    ) -> Result<(), Error> {
        let reactor: Arc<Reactor> = native::reactor().map_err(|error| raise(ruby, &error))?;
        let completer = sink
            .completer(&reactor)
            .registered(Arc::clone(reactor.operations()));
        let id: CompletionId = completer.id();
        if let Some(handle) = submit(&self.0, completer) {
            reactor.operations().attach(id, move || handle.cancel());
        }
        Ok(())
    }

    fn stats(ruby: &Ruby, this: &Self) -> Result<RHash, Error> {
        let (stats, hash) = (this.0.stats(), ruby.hash_new());
        hash.aset(ruby.to_symbol("wait_p95"), stats.wait_p95.as_secs_f64())?;
        for (name, count) in [
            ("size", stats.size as u64),
            ("limit", stats.limit as u64),
            ("idle", stats.idle as u64),
            ("busy", stats.busy as u64),
            ("waiting", stats.waiting as u64),
            ("queries", stats.queries),
            ("timeouts", stats.timeouts),
            ("cancelled", stats.cancelled),
            ("reconnects", stats.reconnects),
        ] {
            hash.aset(ruby.to_symbol(name), count)?;
        }
        Ok(hash)
    }

    fn close(&self) -> Result<bool, Error> {
        guard(|_| gvl::blocking(|| self.0.close(CLOSE)))
    }
}

fn database_options(ruby: &Ruby, given: RHash) -> Result<DatabaseOptions, Error> {
    let mut options = DatabaseOptions::default();
    given.foreach(|key: Symbol, value: Value| {
        let seconds = || f64::try_convert(value).map(convert::seconds);
        let limit = || Option::<f64>::try_convert(value).map(convert::limit);
        match &*key.name()? {
            "size" => options.size = Some(usize::try_convert(value)?),
            "min_size" => options.min_size = usize::try_convert(value)?,
            "max_waiting" => options.max_waiting = usize::try_convert(value)?,
            "pool_timeout" => options.pool_timeout = seconds()?,
            "commit_timeout" => options.commit_timeout = limit()?,
            "connect_timeout" => options.connect_timeout = seconds()?,
            "idle_timeout" => options.idle_timeout = limit()?,
            "max_lifetime" => options.max_lifetime = limit()?,
            "busy_timeout" => options.busy_timeout = seconds()?,
            "idle_in_transaction" => options.idle_in_transaction = seconds()?,
            "timeout" => options.query_timeout = Some(seconds()?),
            other => return Err(unknown(ruby, "database", other)),
        }
        Ok(ForEach::Continue)
    })?;
    Ok(options)
}

fn set_options(ruby: &Ruby, query: &mut Query, given: RHash) -> Result<(), Error> {
    given.foreach(|key: Symbol, value: Value| {
        match &*key.name()? {
            "shape" if Symbol::try_convert(value)?.name()? == "json" => {
                query.shape = Shape::Json(JsonOptions::default());
            }
            "shape" => query.shape = Shape::Rows,
            "columns" => query.shape = Shape::Json(json_columns(value)?),
            "transaction" => {
                query.transaction = Option::<u64>::try_convert(value)?.map(TransactionId)
            }
            "timeout" => query.timeout = convert::limit(Option::<f64>::try_convert(value)?),
            "timings" => {
                let timings: &RubyTimings = TryConvert::try_convert(value)?;
                query.timings = Some(Arc::clone(&timings.0));
            }
            "row_limit" => query.row_limit = Option::<usize>::try_convert(value)?,
            other => return Err(unknown(ruby, "query", other)),
        }
        Ok(ForEach::Continue)
    })
}

fn json_columns(value: Value) -> Result<JsonOptions, Error> {
    let names = Strings::try_convert(value)?;
    Ok(JsonOptions {
        columns: JsonColumns::Only(names.0),
    })
}

fn begin_options(ruby: &Ruby, given: RHash) -> Result<BeginOptions, Error> {
    let mut options = BeginOptions::default();
    given.foreach(|key: Symbol, value: Value| {
        match &*key.name()? {
            "mode" => {
                options.mode = match &*Symbol::try_convert(value)?.name()? {
                    "immediate" => TransactionMode::Immediate,
                    "deferred" => TransactionMode::Deferred,
                    other => return Err(unknown(ruby, "transaction mode", other)),
                }
            }
            "timeout" => options.timeout = convert::limit(Option::<f64>::try_convert(value)?),
            "isolation" => options.isolation = isolation(ruby, value)?,
            "read_only" => options.read_only = value.to_bool(),
            "deferrable" => options.deferrable = value.to_bool(),
            other => return Err(unknown(ruby, "transaction", other)),
        }
        Ok(ForEach::Continue)
    })?;
    Ok(options)
}

fn isolation(ruby: &Ruby, value: Value) -> Result<Option<Isolation>, Error> {
    let Some(level) = Option::<Symbol>::try_convert(value)? else {
        return Ok(None);
    };
    Ok(Some(match &*level.name()? {
        "read_uncommitted" => Isolation::ReadUncommitted,
        "read_committed" => Isolation::ReadCommitted,
        "repeatable_read" => Isolation::RepeatableRead,
        "serializable" => Isolation::Serializable,
        other => return Err(unknown(ruby, "isolation level", other)),
    }))
}

fn unknown(ruby: &Ruby, what: &str, name: &str) -> Error {
    Error::new(
        ruby.exception_arg_error(),
        format!("no {what} option is called {name:?}"),
    )
}

pub(crate) fn define(ruby: &Ruby, record: RModule) -> Result<(), Error> {
    let class = define_class::<RubyPool>(ruby, record, "Pool")?;
    class.define_singleton_method("new", function!(RubyPool::new, 2))?;
    class.define_method("query", method!(RubyPool::query, 4))?;
    class.define_method("stream", method!(RubyPool::stream, 4))?;
    class.define_method("listen", method!(RubyPool::listen, 2))?;
    class.define_method("script", method!(RubyPool::script, 3))?;
    class.define_method("begin", method!(RubyPool::begin, 2))?;
    class.define_method("commit", method!(RubyPool::commit, 2))?;
    class.define_method("rollback", method!(RubyPool::rollback, 2))?;
    class.define_method("stats", method!(RubyPool::stats, 0))?;
    class.define_method("close", method!(RubyPool::close, 0))
}
