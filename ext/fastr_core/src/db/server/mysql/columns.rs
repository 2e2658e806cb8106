//! What the columns of a result are: their names, what their values mean to Ruby, how their bytes are read. Resolved
//! once per statement and kept, and compared with what the server says at each execution, because a table may change
//! under a prepared statement.
//!
//! Text is told from bytes by the collation, never by the type's name: a column under a `_bin` collation has a binary
//! name and is text. `tinyint(1)` is boolean, whole numbers of `BIT` are integers. MariaDB's `JSON` is a `LONGTEXT` and
//! looks like one.

use std::sync::Arc;

use sqlx::mysql::{MySqlColumn, MySqlTypeInfo};
use sqlx::{Column as _, MySql, Type, TypeInfo};

use super::decode::Reading;
use crate::db::rows::{Column, Kind};

/// The number of MySQL's type for geometry, which fastr does not read.
const GEOMETRY: u32 = 255;

/// The columns of one statement's result.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) columns: Arc<[Column]>,
    pub(super) readings: Box<[Reading]>,
    types: Box<[MySqlTypeInfo]>,
}

impl Layout {
    /// Resolves the columns of a result.
    pub(super) fn new(columns: &[MySqlColumn]) -> Self {
        let resolved: Vec<(Kind, Reading)> = columns
            .iter()
            .map(|column| resolve(column.type_info()))
            .collect();
        Self {
            columns: columns
                .iter()
                .zip(&resolved)
                .map(|(column, (kind, _))| Column {
                    name: column.name().into(),
                    kind: *kind,
                })
                .collect(),
            readings: resolved.iter().map(|(_, reading)| *reading).collect(),
            types: columns
                .iter()
                .map(|column| column.type_info().clone())
                .collect(),
        }
    }

    /// Whether the server still speaks of the same columns.
    pub(super) fn fits(&self, columns: &[MySqlColumn]) -> bool {
        columns.len() == self.columns.len()
            && columns
                .iter()
                .zip(&*self.columns)
                .zip(&self.types)
                .all(|((theirs, ours), known)| {
                    theirs.name() == ours.name && is_same(theirs.type_info(), known)
                })
    }
}

/// Types are equal for sqlx whatever their width and their collation.
fn is_same(theirs: &MySqlTypeInfo, known: &MySqlTypeInfo) -> bool {
    theirs == known && theirs.name() == known.name() && is_text(theirs) == is_text(known)
}

fn is_text(info: &MySqlTypeInfo) -> bool {
    <str as Type<MySql>>::compatible(info)
}

fn resolve(info: &MySqlTypeInfo) -> (Kind, Reading) {
    let is_unsigned = <u64 as Type<MySql>>::compatible(info);
    let whole = if is_unsigned {
        Reading::Unsigned
    } else {
        Reading::Signed
    };
    match info.name() {
        "BOOLEAN" => (Kind::Boolean, whole),
        "YEAR" => (Kind::Integer, Reading::Unsigned),
        "BIT" => (Kind::Integer, Reading::Bits),
        "FLOAT" => (Kind::Float, Reading::Float),
        "DOUBLE" => (Kind::Float, Reading::Double),
        "DECIMAL" => (Kind::Decimal, Reading::Decimal),
        "DATE" => (Kind::Date, Reading::Date),
        "DATETIME" | "TIMESTAMP" => (Kind::DateTime, Reading::Timestamp),
        "TIME" => (Kind::Time, Reading::Clock),
        "JSON" => (Kind::Json, Reading::Text),
        "NULL" => (Kind::Any, Reading::Bytes),
        "GEOMETRY" => (Kind::Raw(GEOMETRY), Reading::Bytes),
        "ENUM" | "SET" => (Kind::Text, Reading::Text),
        name if name.contains("INT") => (Kind::Integer, whole),
        _ if is_text(info) => (Kind::Text, Reading::Text),
        _ => (Kind::Blob, Reading::Bytes),
    }
}
