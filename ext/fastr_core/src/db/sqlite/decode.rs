//! Columns and values from SQLite. A column's kind comes from its declared type, a value keeps its storage class;
//! nothing here fails: text that is not UTF-8 becomes bytes.

use rusqlite::types::ValueRef;
use rusqlite::{Row, Statement};

use crate::db::json::Cell;
use crate::db::rows::{Column, Kind, Value};

/// The columns of a statement. Ask only after its first step: before it they may be those of an older schema.
pub(super) fn columns(statement: &Statement<'_>) -> Vec<Column> {
    statement
        .columns()
        .map(|column| Column {
            name: column.name().into(),
            kind: column.decl_type().map_or(Kind::Any, kind),
        })
        .collect()
}

/// One value of the current row, borrowed.
pub(super) fn cell<'a>(row: &'a Row<'_>, index: usize) -> Cell<'a> {
    match row.get_ref(index) {
        Ok(ValueRef::Integer(number)) => Cell::Integer(number),
        Ok(ValueRef::Real(number)) => Cell::Float(number),
        Ok(ValueRef::Text(bytes)) => {
            std::str::from_utf8(bytes).map_or(Cell::Blob(bytes), Cell::Text)
        }
        Ok(ValueRef::Blob(bytes)) => Cell::Blob(bytes),
        Ok(ValueRef::Null) | Err(_) => Cell::Null,
    }
}

/// One value of the current row, owned.
pub(super) fn value(row: &Row<'_>, index: usize) -> Value {
    match cell(row, index) {
        Cell::Null => Value::Null,
        Cell::Bool(bool) => Value::Bool(bool),
        Cell::Integer(number) => Value::Integer(number),
        Cell::Float(number) => Value::Float(number),
        Cell::Text(text) => Value::Text(text.into()),
        Cell::Blob(bytes) => Value::Blob(bytes.into()),
        Cell::Other(value) => value.clone(),
    }
}

/// What a declared type means.
fn kind(declared: &str) -> Kind {
    let end = declared.find(['(', ' ']).unwrap_or(declared.len());
    let word = declared[..end].to_ascii_uppercase();
    let starts = |prefix: &str| word.starts_with(prefix);
    match word.as_str() {
        "DATE" => Kind::Date,
        "TIME" | "TIMETZ" => Kind::Time,
        "JSON" | "JSONB" => Kind::Json,
        "NUMERIC" | "NUMBER" => Kind::Decimal,
        "UNSIGNED" | "SERIAL" | "BIGSERIAL" => Kind::Integer,
        "REAL" => Kind::Float,
        "POINT" => Kind::Any,
        "UUID" => Kind::Text,
        "BLOB" | "BINARY" | "VARBINARY" | "BYTEA" => Kind::Blob,
        _ if starts("BOOL") => Kind::Boolean,
        _ if starts("DATETIME") || starts("TIMESTAMP") => Kind::DateTime,
        _ if starts("DEC") => Kind::Decimal,
        _ if starts("DOUBLE") || starts("FLOAT") => Kind::Float,
        _ if ["CHAR", "TEXT", "CLOB", "STRING"]
            .iter()
            .any(|part| word.contains(part)) =>
        {
            Kind::Text
        }
        _ if word.ends_with("INT") || ["INTEGER", "INT2", "INT4", "INT8"].contains(&&*word) => {
            Kind::Integer
        }
        _ => Kind::Any,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_types_become_kinds() {
        for (declared, expected) in [
            ("INTEGER", Kind::Integer),
            ("int", Kind::Integer),
            ("BIGINT", Kind::Integer),
            ("UNSIGNED BIG INT", Kind::Integer),
            ("TINYINT(1)", Kind::Integer),
            ("BOOLEAN", Kind::Boolean),
            ("bool", Kind::Boolean),
            ("REAL", Kind::Float),
            ("double precision", Kind::Float),
            ("FLOAT", Kind::Float),
            ("DECIMAL(10,2)", Kind::Decimal),
            ("numeric", Kind::Decimal),
            ("DATE", Kind::Date),
            ("DATETIME", Kind::DateTime),
            ("datetime(6)", Kind::DateTime),
            ("TIMESTAMP WITH TIME ZONE", Kind::DateTime),
            ("TIMESTAMPTZ", Kind::DateTime),
            ("TIME", Kind::Time),
            ("JSON", Kind::Json),
            ("VARCHAR(255)", Kind::Text),
            ("TEXT", Kind::Text),
            ("CLOB", Kind::Text),
            ("BLOB", Kind::Blob),
            ("POINT", Kind::Any),
            ("INTERVAL", Kind::Any),
            ("", Kind::Any),
        ] {
            assert_eq!(kind(declared), expected, "{declared}");
        }
    }
}
