//! `AsyncRecord::Rows`: a result that stays in Rust until it is read.

use std::sync::{Arc, OnceLock};

use fastr_core::Outcome;
use fastr_core::db::{JsonOptions, Rows, Written, to_json};
use magnus::gc::Marker;
use magnus::prelude::*;
use magnus::value::Opaque;
use magnus::{DataTypeFunctions, Error, RArray, RHash, RModule, RString, Ruby, Value, method};

use crate::constant::define_class;
use crate::convert::Strings;
use crate::error::{guard, raise};
use crate::nested_json;
use crate::raw::env;
use crate::stream::{self, RubyRowStream, RubySubscription};
use crate::value::Decoder;

#[derive(magnus::TypedData)]
#[magnus(class = "AsyncRecord::Rows", free_immediately, size, mark)]
pub(crate) struct RubyRows {
    pub(crate) rows: Arc<Rows>,
    keys: OnceLock<Opaque<RArray>>,
}

impl DataTypeFunctions for RubyRows {
    fn size(&self) -> usize {
        size_of::<Self>()
    }

    fn mark(&self, marker: &Marker) {
        if let Some(keys) = self.keys.get() {
            marker.mark(*keys);
        }
    }
}

/// The Ruby value of a database's outcome.
pub(crate) fn outcome(ruby: &Ruby, outcome: Outcome) -> Result<Value, Error> {
    Ok(match outcome {
        Outcome::Rows(rows) => ruby.into_value(RubyRows::new(rows)),
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
    pub(crate) fn new(rows: Arc<Rows>) -> Self {
        Self {
            rows,
            keys: OnceLock::new(),
        }
    }

    /// A JSON array of objects, as a statement of that shape answers.
    fn to_json_bytes(&self) -> Result<RString, Error> {
        guard(|ruby| {
            let json = to_json(&self.rows, &JsonOptions::default()).map_err(|e| raise(ruby, &e))?;
            Ok(ruby.enc_str_new(json, ruby.utf8_encoding()))
        })
    }

    fn size(&self) -> usize {
        self.rows.len()
    }

    fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The columns' names as Hash keys: frozen and shared. Nobody else may know them, so the result keeps them.
    fn keys(&self, ruby: &Ruby) -> RArray {
        if let Some(keys) = self.keys.get() {
            return ruby.get_inner(*keys);
        }
        let names = self.rows.columns().iter();
        let keys = ruby.ary_from_iter(names.map(|column| env::interned(&column.name)));
        keys.freeze();
        // Nobody came between: this thread holds the GVL all the time.
        let _ = self.keys.set(keys.into());
        keys
    }

    fn columns(ruby: &Ruby, this: &Self) -> RArray {
        this.keys(ruby)
    }

    fn to_a(ruby: &Ruby, this: &Self) -> Result<RArray, Error> {
        guard(|_| {
            let decoder = Decoder::new(ruby);
            let array = ruby.ary_new_capa(this.rows.len());
            for index in 0..this.rows.len() {
                array.push(this.hash(ruby, &decoder, index)?)?;
            }
            Ok(array)
        })
    }

    fn hash_at(ruby: &Ruby, this: &Self, index: usize) -> Result<Option<RHash>, Error> {
        guard(|_| {
            if index >= this.rows.len() {
                return Ok(None);
            }
            this.hash(ruby, &Decoder::new(ruby), index).map(Some)
        })
    }

    fn hash(&self, ruby: &Ruby, decoder: &Decoder<'_>, index: usize) -> Result<RHash, Error> {
        let (keys, hash) = (self.keys(ruby), ruby.hash_new());
        let values = self.rows.row(index).unwrap_or(&[]);
        for (place, (column, value)) in self.rows.columns().iter().zip(values).enumerate() {
            let value = decoder.decode(column.kind, value)?;
            env::store(hash, keys.entry(place as isize)?, value);
        }
        Ok(hash)
    }

    fn row(ruby: &Ruby, this: &Self, index: usize) -> Result<Option<RArray>, Error> {
        guard(|_| {
            let Some(values) = this.rows.row(index) else {
                return Ok(None);
            };
            let (decoder, array) = (Decoder::new(ruby), ruby.ary_new_capa(values.len()));
            for (column, value) in this.rows.columns().iter().zip(values) {
                array.push(decoder.decode(column.kind, value)?)?;
            }
            Ok(Some(array))
        })
    }

    fn values_at_column(ruby: &Ruby, this: &Self, index: usize) -> Result<Option<RArray>, Error> {
        guard(|_| {
            let Some(column) = this.rows.columns().get(index) else {
                return Ok(None);
            };
            let (decoder, array) = (Decoder::new(ruby), ruby.ary_new_capa(this.rows.len()));
            for row in this.rows.iter() {
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
    names: Strings,
    start: usize,
    count: usize,
) -> Result<RubyRows, Error> {
    guard(|_| {
        let columns = this.rows.columns();
        let indexes = names
            .0
            .iter()
            .map(|name| columns.iter().rposition(|column| column.name == *name))
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| Error::new(ruby.exception_arg_error(), "no such column"))?;
        let excerpt = fastr_core::db::excerpt(&this.rows, &indexes, start, count);
        Ok(RubyRows::new(Arc::new(excerpt)))
    })
}

pub(crate) fn define(ruby: &Ruby, record: RModule) -> Result<(), Error> {
    let class = define_class::<RubyRows>(ruby, record, "Rows")?;
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
