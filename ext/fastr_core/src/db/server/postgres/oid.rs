//! PostgreSQL's types by their numbers, as far as their binary form is understood. It owns which type is read and
//! written in which way; how is the business of [`decode`](super::decode) and [`encode`](super::encode). Types with
//! numbers that differ from one database to the next are looked up by [`types`](super::types); what is understood by
//! neither is read as raw bytes and refused as a parameter.

use std::sync::Arc;

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
    /// One that every PostgreSQL has under this number.
    pub(super) fn standard(oid: u32) -> Option<Self> {
        let of = |name: &str, form: Form| {
            let name = name.into();
            Self { oid, name, form }
        };
        if let Some((_, name, form, _)) = PLAIN.iter().find(|plain| plain.0 == oid) {
            return Some(of(name, form.clone()));
        }
        if let Some((element, name, form, _)) = PLAIN.iter().find(|plain| plain.3 == oid && oid > 0)
        {
            let element = Type {
                oid: *element,
                name: (*name).into(),
                form: form.clone(),
            };
            return Some(of(&format!("{name}[]"), of_array(element)));
        }
        let (_, name, part, is_range) = NESTED.iter().find(|nested| nested.0 == oid)?;
        let part = Self::standard(*part)?;
        let form = if *is_range {
            of_range(part)
        } else {
            of_array(part)
        };
        Some(of(name, form))
    }

    /// One that nobody knows more about.
    pub(super) fn unknown(oid: u32, form: Form) -> Self {
        let name = format!("number {oid}").into();
        Self { oid, name, form }
    }

    #[cfg(test)]
    pub(super) fn built_in(oid: u32, name: &str) -> Self {
        let of = Self::standard(oid).unwrap_or_else(|| Self::unknown(oid, Form::Raw));
        let name = name.into();
        Self { name, ..of }
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
}

/// An array is as readable as its elements are.
pub(super) fn of_array(element: Type) -> Form {
    match element.form {
        Form::Raw | Form::Void => Form::Raw,
        _ => Form::Array(element.into()),
    }
}

pub(super) fn of_range(bound: Type) -> Form {
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

/// The types of every PostgreSQL that are made of no others: number, name, form, number of the array of them (or 0).
const PLAIN: [(u32, &str, Form, u32); 66] = [
    (16, "bool", Form::Bool, 1000),
    (17, "bytea", Form::Bytea, 1001),
    (18, "\"char\"", Form::Char, 1002),
    (19, "name", Form::Text, 1003),
    (20, "int8", Form::Int8, 1016),
    (21, "int2", Form::Int2, 1005),
    (23, "int4", Form::Int4, 1007),
    // The reg… types, xid and cid are numbers in binary form, as oid is.
    (24, "regproc", Form::Oid, 1008),
    (25, "text", Form::Text, 1009),
    (26, "oid", Form::Oid, 1028),
    (27, "tid", Form::Raw, 1010),
    (28, "xid", Form::Oid, 1011),
    (29, "cid", Form::Oid, 1012),
    (114, "json", Form::Json, 199),
    (142, "xml", Form::Text, 143),
    (600, "point", Form::Raw, 1017),
    (601, "lseg", Form::Raw, 1018),
    (602, "path", Form::Raw, 1019),
    (603, "box", Form::Raw, 1020),
    (604, "polygon", Form::Raw, 1027),
    (628, "line", Form::Raw, 629),
    (650, "cidr", Form::Cidr, 651),
    (700, "float4", Form::Float4, 1021),
    (701, "float8", Form::Float8, 1022),
    (705, "unknown", Form::Text, 0),
    (718, "circle", Form::Raw, 719),
    (774, "macaddr8", Form::MacAddr, 775),
    (790, "money", Form::Money, 791),
    (829, "macaddr", Form::MacAddr, 1040),
    (869, "inet", Form::Inet, 1041),
    (1033, "aclitem", Form::Raw, 1034),
    (1042, "bpchar", Form::Text, 1014),
    (1043, "varchar", Form::Text, 1015),
    (1082, "date", Form::Date, 1182),
    (1083, "time", Form::Time, 1183),
    (1114, "timestamp", Form::Timestamp, 1115),
    (1184, "timestamptz", Form::TimestampTz, 1185),
    (1186, "interval", Form::Interval, 1187),
    (1266, "timetz", Form::TimeTz, 1270),
    (1560, "bit", Form::Bit, 1561),
    (1562, "varbit", Form::Bit, 1563),
    (1700, "numeric", Form::Numeric, 1231),
    (1790, "refcursor", Form::Text, 2201),
    (2202, "regprocedure", Form::Oid, 2207),
    (2203, "regoper", Form::Oid, 2208),
    (2204, "regoperator", Form::Oid, 2209),
    (2205, "regclass", Form::Oid, 2210),
    (2206, "regtype", Form::Oid, 2211),
    (2249, "record", Form::Raw, 2287),
    (2275, "cstring", Form::Text, 1263),
    (2278, "void", Form::Void, 0),
    (2950, "uuid", Form::Uuid, 2951),
    (2970, "txid_snapshot", Form::Raw, 2949),
    (3220, "pg_lsn", Form::Lsn, 3221),
    (3614, "tsvector", Form::Raw, 3643),
    (3615, "tsquery", Form::Raw, 3645),
    (3642, "gtsvector", Form::Raw, 3644),
    (3734, "regconfig", Form::Oid, 3735),
    (3769, "regdictionary", Form::Oid, 3770),
    (3802, "jsonb", Form::Jsonb, 3807),
    (4072, "jsonpath", Form::VersionedText, 4073),
    (4089, "regnamespace", Form::Oid, 4090),
    (4096, "regrole", Form::Oid, 4097),
    (4191, "regcollation", Form::Oid, 4192),
    (5038, "pg_snapshot", Form::Raw, 5039),
    (5069, "xid8", Form::Unsigned8, 271),
];

/// Those that are made of one other: number, name, number of the other, whether they are ranges of it or have the form
/// of arrays.
const NESTED: [(u32, &str, u32, bool); 16] = [
    (22, "int2vector", 21, false),
    (30, "oidvector", 26, false),
    (1006, "int2vector[]", 22, false),
    (1013, "oidvector[]", 30, false),
    (3904, "int4range", 23, true),
    (3906, "numrange", 1700, true),
    (3908, "tsrange", 1114, true),
    (3910, "tstzrange", 1184, true),
    (3912, "daterange", 1082, true),
    (3926, "int8range", 20, true),
    (3905, "int4range[]", 3904, false),
    (3907, "numrange[]", 3906, false),
    (3909, "tsrange[]", 3908, false),
    (3911, "tstzrange[]", 3910, false),
    (3913, "daterange[]", 3912, false),
    (3927, "int8range[]", 3926, false),
];

/// The form of types of extensions, which have another number in every database. Their name may come with a schema.
pub(super) fn of_extension(name: &str) -> Option<Form> {
    let bare = name.rsplit('.').next().unwrap_or(name);
    match bare.trim_matches('"') {
        "citext" => Some(Form::Text),
        "ltree" | "lquery" | "ltxtquery" => Some(Form::VersionedText),
        _ => None,
    }
}
