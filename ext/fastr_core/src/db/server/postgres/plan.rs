//! What a connection knows about the statements it has prepared: their names, the types of the placeholders, the columns
//! and how they are read. It is kept by the text of the statement.

use std::collections::HashMap;
use std::sync::Arc;

use super::oid::Type;
use super::transaction;
use super::wire::{Fault, Parser};
use crate::db::rows::Column;
use crate::db::statement::{Statement, classify};

/// A statement that was prepared.
#[derive(Debug)]
pub(super) struct Plan {
    /// What the server calls it.
    pub(super) name: String,
    pub(super) sql: Arc<str>,
    /// What it seems to do.
    pub(super) statement: Statement,
    /// Whether a server that shuts down in the middle of it leaves nothing of it behind.
    pub(super) is_atomic: bool,
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
    pub(super) fn of(names: Vec<String>, types: Vec<Type>) -> Self {
        let columns = names
            .into_iter()
            .zip(&types)
            .map(|(name, of)| Column {
                name,
                kind: of.kind(),
            })
            .collect();
        let types = types.into();
        Self { columns, types }
    }
}

impl Plan {
    pub(super) fn of(name: String, sql: &str, parameters: Vec<Type>, result: Shape) -> Self {
        let statement = classify(sql);
        Self {
            name,
            sql: sql.into(),
            statement,
            is_atomic: transaction::is_atomic(statement, sql),
            parameters,
            result,
        }
    }
}

/// What the server says about a statement before it runs: numbers of types only.
#[derive(Debug, Default)]
pub(super) struct Description {
    pub(super) parameters: Vec<u32>,
    pub(super) names: Vec<String>,
    pub(super) columns: Vec<u32>,
}

impl Description {
    /// Takes a message that describes something; all others it leaves alone.
    pub(super) fn take(&mut self, tag: u8, body: &[u8]) -> Result<(), Fault> {
        match tag {
            b't' => {
                let mut parser = Parser::new(body, "the description of placeholders");
                let count = parser.u16()?;
                self.parameters = (0..count).map(|_| parser.u32()).collect::<Result<_, _>>()?;
            }
            b'T' => {
                let mut parser = Parser::new(body, "the description of columns");
                let count = parser.u16()?;
                self.names.clear();
                self.columns.clear();
                for _ in 0..count {
                    self.names.push(parser.text()?.to_owned());
                    // The table and the column in it.
                    parser.take(6)?;
                    self.columns.push(parser.u32()?);
                    // The length and modifier of the type, and the form of the values.
                    parser.take(8)?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// The plans of one connection; the least recently used goes when there is no room.
#[derive(Debug)]
pub(super) struct Plans {
    known: HashMap<Arc<str>, Known>,
    capacity: usize,
    clock: u64,
    names: u64,
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
            names: 0,
        }
    }

    /// Whether there are any at all: a connection that is shared keeps no statements.
    pub(super) fn are_kept(&self) -> bool {
        self.capacity > 0
    }

    /// A name that no statement of this connection has had.
    pub(super) fn new_name(&mut self) -> String {
        self.names += 1;
        format!("fastr{}", self.names)
    }

    pub(super) fn get(&mut self, sql: &str) -> Option<Arc<Plan>> {
        self.clock += 1;
        let known = self.known.get_mut(sql)?;
        known.used = self.clock;
        Some(Arc::clone(&known.plan))
    }

    /// Keeps a plan. The one that made room for it is to be forgotten by the server, too.
    pub(super) fn insert(&mut self, plan: Arc<Plan>) -> Option<Arc<Plan>> {
        let evicted = (self.known.len() >= self.capacity)
            .then(|| self.evict())
            .flatten();
        let used = self.clock;
        self.known
            .insert(Arc::clone(&plan.sql), Known { plan, used });
        evicted
    }

    /// Forgets all, and gives them back.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Arc<Plan>> {
        self.known.drain().map(|(_, known)| known.plan)
    }

    fn evict(&mut self) -> Option<Arc<Plan>> {
        let oldest = self.known.iter().min_by_key(|(_, known)| known.used);
        let sql = oldest.map(|(sql, _)| Arc::clone(sql))?;
        self.known.remove(&sql).map(|known| known.plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(sql: &str) -> Arc<Plan> {
        let result = Shape::of(Vec::new(), Vec::new());
        Arc::new(Plan::of(sql.to_uppercase(), sql, Vec::new(), result))
    }

    #[test]
    fn the_least_recently_used_plan_goes_first() {
        let mut plans = Plans::new(2);
        assert!(plans.insert(plan("a")).is_none());
        plans.get("b");
        assert!(plans.insert(plan("b")).is_none());
        assert!(plans.get("a").is_some());
        let evicted = plans.insert(plan("c"));
        assert_eq!(evicted.map(|plan| plan.name.clone()), Some("B".into()));
        assert!(plans.get("b").is_none());
        assert!(plans.get("a").is_some() && plans.get("c").is_some());
        assert_eq!(plans.drain().count(), 2);
    }
}
