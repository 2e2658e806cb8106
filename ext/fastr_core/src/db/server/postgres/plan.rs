//! What a connection knows about the statements it has prepared: the types of the placeholders, the columns and how
//! they are read. It is kept by the text of the statement, beside sqlx's own cache and as large as that.

use std::collections::HashMap;
use std::sync::Arc;

use sqlx::postgres::{PgColumn, PgStatement, PgTypeInfo};
use sqlx::{Column as _, Either, Statement as _};

use super::oid::Type;
use crate::db::rows::Column;
use crate::db::statement::{Statement, classify};

/// A statement that was prepared.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) sql: Arc<str>,
    /// What it seems to do.
    pub(super) statement: Statement,
    pub(super) parameters: Vec<Type>,
    pub(super) result: Shape,
}

/// The columns of a result and how they are read.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) columns: Arc<[Column]>,
    pub(super) types: Arc<[Type]>,
}

impl Shape {
    pub(super) fn of(columns: &[PgColumn]) -> Self {
        let types: Arc<[Type]> = columns
            .iter()
            .map(|column| Type::resolve(column.type_info()))
            .collect();
        let columns = columns
            .iter()
            .zip(types.iter())
            .map(|(column, of)| Column {
                name: column.name().to_owned(),
                kind: of.kind(),
            })
            .collect();
        Self { columns, types }
    }

    /// Whether rows with these columns are read this way. They are, unless the statement was prepared anew without our
    /// knowing, after a change of the schema.
    pub(super) fn fits(&self, columns: &[PgColumn]) -> bool {
        self.types.len() == columns.len()
            && self.types.iter().zip(columns).all(|(known, column)| {
                let oid = column.type_info().oid().map_or(0, |oid| oid.0);
                known.oid == oid
            })
    }
}

impl Plan {
    pub(super) fn of(sql: Arc<str>, prepared: &PgStatement) -> Self {
        let infos: &[PgTypeInfo] = match prepared.parameters() {
            Some(Either::Left(infos)) => infos,
            _ => &[],
        };
        Self {
            statement: classify(&sql),
            sql,
            parameters: infos.iter().map(Type::resolve).collect(),
            result: Shape::of(prepared.columns()),
        }
    }
}

/// The plans of one connection; the least recently used goes when there is no room.
#[derive(Debug)]
pub(super) struct Plans {
    known: HashMap<Arc<str>, Known>,
    capacity: usize,
    clock: u64,
}

#[derive(Debug)]
struct Known {
    plan: Arc<Plan>,
    used: u64,
}

impl Plans {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            known: HashMap::new(),
            capacity,
            clock: 0,
        }
    }

    /// Whether there are any at all: a connection that is shared keeps no statements.
    pub(super) fn are_kept(&self) -> bool {
        self.capacity > 0
    }

    pub(super) fn get(&mut self, sql: &str) -> Option<Arc<Plan>> {
        self.clock += 1;
        let known = self.known.get_mut(sql)?;
        known.used = self.clock;
        Some(Arc::clone(&known.plan))
    }

    pub(super) fn insert(&mut self, plan: Arc<Plan>) {
        if self.known.len() >= self.capacity {
            self.evict();
        }
        let used = self.clock;
        self.known
            .insert(Arc::clone(&plan.sql), Known { plan, used });
    }

    pub(super) fn clear(&mut self) {
        self.known.clear();
    }

    fn evict(&mut self) {
        let oldest = self.known.iter().min_by_key(|(_, known)| known.used);
        if let Some(sql) = oldest.map(|(sql, _)| Arc::clone(sql)) {
            self.known.remove(&sql);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(sql: &str) -> Arc<Plan> {
        Arc::new(Plan {
            sql: sql.into(),
            statement: Statement::Read,
            parameters: Vec::new(),
            result: Shape::of(&[]),
        })
    }

    #[test]
    fn the_least_recently_used_plan_goes_first() {
        let mut plans = Plans::new(2);
        plans.insert(plan("a"));
        plans.get("b");
        plans.insert(plan("b"));
        assert!(plans.get("a").is_some());
        plans.insert(plan("c"));
        assert!(plans.get("b").is_none());
        assert!(plans.get("a").is_some() && plans.get("c").is_some());
    }
}
