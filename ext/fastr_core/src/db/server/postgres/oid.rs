//! PostgreSQL's types by their numbers, as far as their binary form is understood. It owns which type is read and
//! written in which way; how is the business of [`decode`](super::decode) and [`encode`](super::encode). A type that
//! is not listed here is read as raw bytes and refused as a parameter.

use std::sync::Arc;

use sqlx::TypeInfo;
use sqlx::postgres::{PgTypeInfo, PgTypeKind};

use crate::db::rows::Kind;

/// A type, resolved once per statement.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Type {
    /// PostgreSQL's number for it.
    pub(super) oid: u32,
    /// Its name, for error messages.
    pub(super) name: Arc<str>,
    /// How its values are read and written.
    pub(super) form: Form,
}

/// The binary form of a type's values.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Form {
    Bool,
    Int2,
    Int4,
    Int8,
    /// Four bytes without a sign: object identifiers and transaction numbers.
    Oid,
    /// Eight bytes without a sign (`xid8`).
    Unsigned8,
    Float4,
    Float8,
    Numeric,
    Money,
    /// UTF-8 as it is, also enums, names and extensions that keep text.
    Text,
    /// One byte (`"char"`).
    Char,
    /// A version byte, then text (`jsonpath`, `ltree`).
    VersionedText,
    Bytea,
    Uuid,
    Json,
    /// A version byte, then JSON.
    Jsonb,
    Date,
    Time,
    TimeTz,
    Timestamp,
    TimestampTz,
    Interval,
    Inet,
    Cidr,
    MacAddr,
    Bit,
    /// A position in the write-ahead log.
    Lsn,
    Array(Arc<Type>),
    Range(Arc<Type>),
    /// What a function returns that returns nothing.
    Void,
    /// Not understood: its bytes as they came.
    Raw,
}

impl Type {
    /// What sqlx found out about a column or a parameter.
    pub(super) fn resolve(info: &PgTypeInfo) -> Self {
        let oid = info.oid().map_or(0, |oid| oid.0);
        let name = info.name();
        let form = by_oid(oid).unwrap_or_else(|| match kind(info) {
            None => Form::Raw,
            Some(kind) => of_kind(name, kind),
        });
        let name = name.to_ascii_lowercase().into();
        Self { oid, name, form }
    }

    /// The same for an answer that came as text, about whose types sqlx asks nobody.
    pub(super) fn resolve_for_text(info: &PgTypeInfo) -> Self {
        let mut of = Self::resolve(info);
        if of.form == Form::Raw {
            of.form = Form::Text;
        }
        of
    }

    /// What its values mean to Ruby and JSON.
    pub(super) fn kind(&self) -> Kind {
        match &self.form {
            Form::Bool => Kind::Boolean,
            Form::Int2 | Form::Int4 | Form::Int8 | Form::Oid | Form::Unsigned8 => Kind::Integer,
            Form::Float4 | Form::Float8 => Kind::Float,
            Form::Numeric | Form::Money => Kind::Decimal,
            Form::Text
            | Form::Char
            | Form::VersionedText
            | Form::Uuid
            | Form::Inet
            | Form::Cidr
            | Form::MacAddr
            | Form::Bit
            | Form::Lsn => Kind::Text,
            Form::Bytea => Kind::Blob,
            Form::Json | Form::Jsonb => Kind::Json,
            Form::Date => Kind::Date,
            Form::Time | Form::TimeTz => Kind::Time,
            Form::Timestamp | Form::TimestampTz => Kind::DateTime,
            Form::Interval => Kind::Interval,
            Form::Array(element) => Kind::Array(lasting(element.kind())),
            Form::Range(bound) => Kind::Range(lasting(bound.kind())),
            Form::Void => Kind::Any,
            Form::Raw => Kind::Raw(self.oid),
        }
    }

    /// A type of the server's own, for what needs no look-up.
    #[cfg(test)]
    pub(super) fn built_in(oid: u32, name: &str) -> Self {
        let form = by_oid(oid).unwrap_or(Form::Raw);
        let name = name.into();
        Self { oid, name, form }
    }
}

/// What kind of type it is; none if sqlx could not find out, of which it must not be asked more.
fn kind(info: &PgTypeInfo) -> Option<&PgTypeKind> {
    (info.name() != "?").then(|| info.kind())
}

fn of_kind(name: &str, kind: &PgTypeKind) -> Form {
    match kind {
        PgTypeKind::Domain(base) => Type::resolve(base).form,
        PgTypeKind::Enum(_) => Form::Text,
        PgTypeKind::Array(element) => of_array(Type::resolve(element)),
        PgTypeKind::Range(bound) => of_range(Type::resolve(bound)),
        _ => by_name(name).unwrap_or(Form::Raw),
    }
}

/// An array is as readable as its elements are.
fn of_array(element: Type) -> Form {
    match element.form {
        Form::Raw | Form::Void => Form::Raw,
        _ => Form::Array(element.into()),
    }
}

fn of_range(bound: Type) -> Form {
    match bound.form {
        Form::Raw | Form::Void => Form::Raw,
        _ => Form::Range(bound.into()),
    }
}

/// The kinds of elements that live as long as the program.
fn lasting(kind: Kind) -> &'static Kind {
    match kind {
        Kind::Integer => &Kind::Integer,
        Kind::Float => &Kind::Float,
        Kind::Decimal => &Kind::Decimal,
        Kind::Boolean => &Kind::Boolean,
        Kind::Text => &Kind::Text,
        Kind::Blob => &Kind::Blob,
        Kind::Date => &Kind::Date,
        Kind::DateTime => &Kind::DateTime,
        Kind::Time => &Kind::Time,
        Kind::Json => &Kind::Json,
        Kind::Interval => &Kind::Interval,
        Kind::Range(Kind::Integer) => &Kind::Range(&Kind::Integer),
        Kind::Range(Kind::Float) => &Kind::Range(&Kind::Float),
        Kind::Range(Kind::Decimal) => &Kind::Range(&Kind::Decimal),
        Kind::Range(Kind::Date) => &Kind::Range(&Kind::Date),
        Kind::Range(Kind::DateTime) => &Kind::Range(&Kind::DateTime),
        Kind::Range(Kind::Text) => &Kind::Range(&Kind::Text),
        Kind::Range(Kind::Time) => &Kind::Range(&Kind::Time),
        _ => &Kind::Any,
    }
}

fn by_oid(oid: u32) -> Option<Form> {
    Some(match oid {
        16 => Form::Bool,
        21 => Form::Int2,
        23 => Form::Int4,
        20 => Form::Int8,
        // oid, xid, cid and the reg… types, which are numbers in binary form.
        26 | 28 | 29 | 24 | 2202..=2206 | 3734 | 3769 | 4089 | 4096 | 4191 => Form::Oid,
        5069 => Form::Unsigned8,
        700 => Form::Float4,
        701 => Form::Float8,
        1700 => Form::Numeric,
        790 => Form::Money,
        // text, varchar, bpchar, name, unknown, xml, cstring, refcursor
        25 | 1043 | 1042 | 19 | 705 | 142 | 2275 | 1790 => Form::Text,
        18 => Form::Char,
        4072 => Form::VersionedText,
        17 => Form::Bytea,
        2950 => Form::Uuid,
        114 => Form::Json,
        3802 => Form::Jsonb,
        1082 => Form::Date,
        1083 => Form::Time,
        1266 => Form::TimeTz,
        1114 => Form::Timestamp,
        1184 => Form::TimestampTz,
        1186 => Form::Interval,
        869 => Form::Inet,
        650 => Form::Cidr,
        829 | 774 => Form::MacAddr,
        1560 | 1562 => Form::Bit,
        3220 => Form::Lsn,
        2278 => Form::Void,
        // int2vector and oidvector have the form of arrays.
        22 => vector(21, "int2", Form::Int2),
        30 => vector(26, "oid", Form::Oid),
        _ => return None,
    })
}

fn vector(oid: u32, name: &str, form: Form) -> Form {
    let name = name.into();
    Form::Array(Arc::new(Type { oid, name, form }))
}

/// Types of extensions, which have another number in every database. Their name may come with a schema.
fn by_name(name: &str) -> Option<Form> {
    let bare = name.rsplit('.').next().unwrap_or(name);
    match bare.trim_matches('"') {
        "citext" => Some(Form::Text),
        "ltree" | "lquery" | "ltxtquery" => Some(Form::VersionedText),
        _ => None,
    }
}
