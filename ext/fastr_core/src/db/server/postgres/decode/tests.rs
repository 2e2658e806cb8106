//! What the bytes of a value may be, without a server: whatever they are, there is no panic.

use proptest::prelude::*;

use super::super::oid::Type;
use super::{Malformed, value, write_json};
use crate::db::rows::Value;

/// A type of every form.
pub(in super::super) const TYPES: [(u32, &str); 36] = [
    (16, "bool"),
    (21, "int2"),
    (23, "int4"),
    (20, "int8"),
    (26, "oid"),
    (5069, "xid8"),
    (700, "float4"),
    (701, "float8"),
    (1700, "numeric"),
    (790, "money"),
    (25, "text"),
    (18, "char"),
    (4072, "jsonpath"),
    (17, "bytea"),
    (2950, "uuid"),
    (114, "json"),
    (3802, "jsonb"),
    (1082, "date"),
    (1083, "time"),
    (1266, "timetz"),
    (1114, "timestamp"),
    (1184, "timestamptz"),
    (1186, "interval"),
    (869, "inet"),
    (650, "cidr"),
    (829, "macaddr"),
    (774, "macaddr8"),
    (1560, "bit"),
    (3220, "pg_lsn"),
    (2278, "void"),
    (600, "point"),
    (22, "int2vector"),
    (30, "oidvector"),
    (1042, "bpchar"),
    (142, "xml"),
    (28, "xid"),
];

#[test]
fn a_count_of_elements_that_are_not_there_allocates_nothing() {
    let of = Type::built_in(22, "int2vector");
    for dimensions in [
        vec![i32::MAX],
        vec![i32::MAX, i32::MAX, i32::MAX],
        vec![1_000_000, 0],
        vec![-1],
        vec![1; 7],
    ] {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(&i32::try_from(dimensions.len()).unwrap().to_be_bytes());
        bytes.extend_from_slice(&[0; 8]);
        for length in &dimensions {
            bytes.extend_from_slice(&length.to_be_bytes());
            bytes.extend_from_slice(&1_i32.to_be_bytes());
        }
        assert_eq!(value(&of, &bytes), Err(Malformed::Bytes), "{dimensions:?}");
    }
}

#[test]
fn bytes_that_end_early_or_late_are_an_error() {
    let of = Type::built_in(23, "int4");
    assert_eq!(value(&of, &[0, 0, 0, 7]), Ok(Value::Integer(7)));
    assert_eq!(value(&of, &[0, 0, 7]), Err(Malformed::Bytes));
    assert_eq!(value(&of, &[0, 0, 0, 0, 7]), Err(Malformed::Bytes));
    assert_eq!(
        value(&Type::built_in(25, "text"), &[0xff]),
        Err(Malformed::Encoding)
    );
}

#[test]
fn a_point_in_time_beyond_64_bits_is_an_error_and_not_infinite() {
    let of = Type::built_in(1114, "timestamp");
    assert_eq!(
        value(&of, &i64::MAX.to_be_bytes()),
        Ok(Value::Timestamp(i64::MAX))
    );
    let last = 9_223_371_331_199_999_999_i64;
    assert_eq!(value(&of, &last.to_be_bytes()), Err(Malformed::TooLate));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(10_000)))]

    #[test]
    fn no_bytes_make_a_panic(index in 0..TYPES.len(), bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let (oid, name) = TYPES[index];
        let of = Type::built_in(oid, name);
        let read = value(&of, &bytes);
        let mut out = Vec::new();
        let written = write_json(&mut out, &of, of.kind(), &bytes);
        prop_assert_eq!(read.is_ok(), written.is_ok(), "{}", name);
    }
}
