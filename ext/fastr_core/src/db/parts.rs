//! Results cut and joined: a small copy of a large one, so that who needs only keys keeps only keys alive, and several
//! answers to one question as one. It owns no conversion.

use std::sync::Arc;

use super::rows::Rows;

/// Copies the columns with these indexes, for `count` rows from `start`. Rows beyond the end are none.
///
/// # Panics
/// If the result has no column of an index.
#[must_use]
pub fn excerpt(rows: &Rows, columns: &[usize], start: usize, count: usize) -> Rows {
    let chosen = columns
        .iter()
        .map(|&index| rows.columns()[index].clone())
        .collect();
    let values = rows
        .iter()
        .skip(start)
        .take(count)
        .flat_map(|row| columns.iter().map(|&index| row[index].clone()))
        .collect();
    Rows::new(chosen, values)
}

/// All rows of several results of one statement, in order. Of none there is none.
#[must_use]
pub fn concat(parts: &[Arc<Rows>]) -> Arc<Rows> {
    match parts {
        [] => Arc::new(Rows::new(Arc::default(), Vec::new())),
        [one] => Arc::clone(one),
        [first, ..] => {
            let values = parts.iter().flat_map(|part| part.iter().flatten().cloned());
            Arc::new(Rows::new(first.columns().into(), values.collect()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::{Column, Kind, Value};

    fn rows() -> Rows {
        let column = |name: &str| Column {
            name: name.to_owned(),
            kind: Kind::Integer,
        };
        let values = (0..9).map(Value::Integer).collect();
        Rows::new([column("a"), column("b"), column("c")].into(), values)
    }

    #[test]
    fn some_columns_of_some_rows_are_copied() {
        let excerpt = excerpt(&rows(), &[2, 0], 1, 1);
        let names: Vec<&str> = excerpt.columns().iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["c", "a"]);
        assert_eq!(
            excerpt.row(0),
            Some(&[Value::Integer(5), Value::Integer(3)][..])
        );
        assert_eq!(excerpt.len(), 1);
    }

    #[test]
    fn beyond_the_end_there_is_nothing() {
        assert_eq!(excerpt(&rows(), &[0], 2, 10).len(), 1);
        assert!(excerpt(&rows(), &[0], 3, 10).is_empty());
        assert!(excerpt(&rows(), &[], 0, 10).is_empty());
    }

    #[test]
    fn parts_become_one() {
        let part = Arc::new(rows());
        let all = concat(&[Arc::clone(&part), part]);
        assert_eq!(all.len(), 6);
        assert_eq!(all.row(3), rows().row(0));
        assert!(concat(&[]).is_empty());
    }
}
