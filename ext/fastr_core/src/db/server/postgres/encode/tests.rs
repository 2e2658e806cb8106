//! Values for types, without a server: whatever they are, there is no panic, and what is written can be read.

use proptest::prelude::*;

use super::super::decode::{self, TYPES};
use super::super::oid::Type;
use super::{IsNull, bind_text, encode};
use crate::db::rows::{Interval, Range, Value};

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Integer),
        any::<u64>().prop_map(Value::Unsigned),
        any::<f64>().prop_map(Value::Float),
        "[-+]?[0-9]{0,40}[.]?[0-9]{0,40}(e[-+]?[0-9]{1,6})?".prop_map(Value::Decimal),
        ".{0,40}".prop_map(Value::Text),
        "[-+0-9a-fA-Fx:./,TZ{}\\[\\]()\" PYMDHS\\\\]{0,30}".prop_map(Value::Text),
        prop::collection::vec(any::<u8>(), 0..20).prop_map(Value::Blob),
        any::<i32>().prop_map(Value::Date),
        any::<i64>().prop_map(Value::Timestamp),
        (any::<i32>(), any::<i32>(), any::<i64>()).prop_map(|(months, days, microseconds)| {
            Value::Interval(Interval {
                months,
                days,
                microseconds,
            })
        }),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            (
                prop::option::of(inner.clone()),
                prop::option::of(inner),
                any::<bool>(),
                any::<bool>()
            )
                .prop_map(|(lower, upper, includes_lower, includes_upper)| {
                    Value::Range(Box::new(Range::Span {
                        lower,
                        includes_lower,
                        upper,
                        includes_upper,
                    }))
                }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(20_000)))]

    #[test]
    fn what_is_written_can_be_read(index in 0..TYPES.len(), value in values()) {
        let (oid, name) = TYPES[index];
        let of = Type::built_in(oid, name);
        let mut bytes = Vec::new();
        if let Ok(IsNull::No) = encode(&value, &of, &mut bytes) {
            // Only the last years of all are written and not read.
            let read = decode::value(&of, &bytes);
            prop_assert!(matches!(read, Ok(_) | Err(decode::Malformed::TooLate)), "{} {:?} {:?}", name, value, read);
        }
        let mut message = Vec::new();
        let written = bind_text(&mut message, "", "", std::slice::from_ref(&value));
        prop_assert_eq!(written.is_err(), message.is_empty(), "{:?}", value);
    }
}
