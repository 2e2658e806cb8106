//! `AsyncRecord::Rows`: a result that stays in Rust until it is read.

use std::sync::Arc;

use fastr_core::Outcome;
use fastr_core::db::{JsonOptions, Rows, Written, to_json};
use magnus::prelude::*;
use magnus::{Error, RArray, RHash, RModule, RString, Ruby, Value, method};

use crate::error::{guard, raise};
use crate::nested_json;
use crate::raw::env;
use crate::stream::{self, RubyRowStream, RubySubscription};
use crate::value::Decoder;

#[magnus::wrap(class = "AsyncRecord::Rows", free_immediately, size)]
pub(crate) struct RubyRows(pub(crate) Arc<Rows>);

/// The Ruby value of a database's outcome.
pub(crate) fn outcome(ruby: &Ruby, outcome: Outcome) -> Result<Value, Error> {
    Ok(match outcome {
        Outcome::Rows(rows) => ruby.into_value(RubyRows(rows)),
        Outcome::Written(Written {
            rows_affected,
            last_insert_id,
        }) => {
            let pair = ruby.ary_new_capa(2);
            pair.push(rows_affected)?;
            pair.push(last_insert_id)?;
            pair.as_value()
        }
        Outcome::Stream(stream) => ruby.into_value(RubyRowStream::new(stream)),
        Outcome::Subscription(feed) => ruby.into_value(RubySubscription::new(feed)),
        Outcome::Notified(notification) => stream::notification(ruby, notification)?,
        Outcome::Transaction(id) => ruby.into_value(id.0),
        _ => ruby.qnil().as_value(),
    })
}

impl RubyRows {
    /// A JSON array of objects, as a statement of that shape answers.
    fn to_json_bytes(&self) -> Result<RString, Error> {
        guard(|ruby| {
            let json = to_json(&self.0, &JsonOptions::default()).map_err(|e| raise(ruby, &e))?;
            Ok(ruby.enc_str_new(json, ruby.utf8_encoding()))
        })
    }

    fn size(&self) -> usize {
        self.0.len()
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The columns' names as Hash keys: frozen and shared.
    fn keys(&self) -> Vec<RString> {
        self.0
            .columns()
            .iter()
            .map(|column| env::interned(&column.name))
            .collect()
    }

    fn columns(ruby: &Ruby, this: &Self) -> RArray {
        let array = ruby.ary_from_iter(this.keys());
        array.freeze();
        array
    }

    fn to_a(ruby: &Ruby, this: &Self) -> Result<RArray, Error> {
        guard(|_| {
            let (keys, decoder) = (this.keys(), Decoder::new(ruby));
            let array = ruby.ary_new_capa(this.0.len());
            for index in 0..this.0.len() {
                array.push(this.hash(ruby, &decoder, &keys, index)?)?;
            }
            Ok(array)
        })
    }

    fn hash_at(ruby: &Ruby, this: &Self, index: usize) -> Result<Option<RHash>, Error> {
        guard(|_| {
            if index >= this.0.len() {
                return Ok(None);
            }
            this.hash(ruby, &Decoder::new(ruby), &this.keys(), index)
                .map(Some)
        })
    }

    fn hash(
        &self,
        ruby: &Ruby,
        decoder: &Decoder<'_>,
        keys: &[RString],
        index: usize,
    ) -> Result<RHash, Error> {
        let hash = ruby.hash_new();
        let values = self.0.row(index).unwrap_or(&[]);
        for ((key, column), value) in keys.iter().zip(self.0.columns()).zip(values) {
            env::store(hash, *key, decoder.decode(column.kind, value)?);
        }
        Ok(hash)
    }

    fn row(ruby: &Ruby, this: &Self, index: usize) -> Result<Option<RArray>, Error> {
        guard(|_| {
            let Some(values) = this.0.row(index) else {
                return Ok(None);
            };
            let (decoder, array) = (Decoder::new(ruby), ruby.ary_new_capa(values.len()));
            for (column, value) in this.0.columns().iter().zip(values) {
                array.push(decoder.decode(column.kind, value)?)?;
            }
            Ok(Some(array))
        })
    }

    fn values_at_column(ruby: &Ruby, this: &Self, index: usize) -> Result<Option<RArray>, Error> {
        guard(|_| {
            let Some(column) = this.0.columns().get(index) else {
                return Ok(None);
            };
            let (decoder, array) = (Decoder::new(ruby), ruby.ary_new_capa(this.0.len()));
            for row in this.0.iter() {
                array.push(decoder.decode(column.kind, &row[index])?)?;
            }
            Ok(Some(array))
        })
    }
}

/// Some columns of some rows; a name that the result lacks is refused.
fn excerpt(
    ruby: &Ruby,
    this: &RubyRows,
    names: Vec<String>,
    start: usize,
    count: usize,
) -> Result<RubyRows, Error> {
    guard(|_| {
        let columns = this.0.columns();
        let indexes = names
            .iter()
            .map(|name| columns.iter().rposition(|column| column.name == *name))
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| Error::new(ruby.exception_arg_error(), "no such column"))?;
        let excerpt = fastr_core::db::excerpt(&this.0, &indexes, start, count);
        Ok(RubyRows(Arc::new(excerpt)))
    })
}

pub(crate) fn define(ruby: &Ruby, record: RModule) -> Result<(), Error> {
    let class = record.define_class("Rows", ruby.class_object())?;
    class.undef_default_alloc_func();
    nested_json::define(class)?;
    class.define_method("excerpt", method!(excerpt, 3))?;
    class.define_method("size", method!(RubyRows::size, 0))?;
    class.define_method("empty?", method!(RubyRows::is_empty, 0))?;
    class.define_method("columns", method!(RubyRows::columns, 0))?;
    class.define_method("to_a", method!(RubyRows::to_a, 0))?;
    class.define_method("hash_at", method!(RubyRows::hash_at, 1))?;
    class.define_method("row", method!(RubyRows::row, 1))?;
    class.define_method("values_at_column", method!(RubyRows::values_at_column, 1))?;
    class.define_method("to_json_bytes", method!(RubyRows::to_json_bytes, 0))
}
