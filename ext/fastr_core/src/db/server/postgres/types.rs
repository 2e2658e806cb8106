//! The types a connection has met: those of every PostgreSQL, and those of this database, which are looked up in its
//! catalogue once per connection. It owns how they are asked for.

use std::collections::HashMap;

use super::error::Reached;
use super::oid::{self, Form, Type};
use super::session::PostgresSession;
use super::wire::{Cells, Fault, Frame};
use crate::db::server::driver::Failure;

/// What the catalogue says about one type.
#[derive(Debug)]
struct Entry {
    oid: u32,
    name: String,
    /// `b` base, `c` composite, `d` domain, `e` enum, `r` range, `m` multirange, `p` pseudo.
    class: u8,
    /// The element of an array, the base of a domain, the bound of a range, or 0.
    part: u32,
}

/// The types of this database by their numbers.
#[derive(Debug, Default)]
pub(super) struct Types(HashMap<u32, Type>);

impl Types {
    /// A type, if it needs no look-up any more.
    fn known(&self, oid: u32) -> Option<Type> {
        Type::standard(oid).or_else(|| self.0.get(&oid).cloned())
    }

    /// A type whose values come as text.
    pub(super) fn of_text(oid: u32) -> Type {
        match Type::standard(oid) {
            Some(of) if of.form != Form::Raw => of,
            Some(of) => Type {
                form: Form::Text,
                ..of
            },
            None => Type::unknown(oid, Form::Text),
        }
    }

    /// Enters what is understood of these entries, each after its part.
    fn enter(&mut self, mut entries: HashMap<u32, Entry>) {
        while let Some(&oid) = entries.keys().next() {
            self.resolve(oid, &mut entries);
        }
    }

    fn resolve(&mut self, oid: u32, entries: &mut HashMap<u32, Entry>) -> Type {
        if let Some(known) = self.known(oid) {
            entries.remove(&oid);
            return known;
        }
        // It is taken out first, so that a catalogue that runs in a circle ends.
        let of = match entries.remove(&oid) {
            Some(entry) => {
                let part = (entry.part != 0).then(|| self.resolve(entry.part, entries));
                entry.resolved(part)
            }
            None => Type::unknown(oid, Form::Raw),
        };
        self.0.insert(oid, of.clone());
        of
    }
}

impl Entry {
    fn parse(cells: &mut Cells, body: &[u8]) -> Result<Self, Fault> {
        let row = cells.find(body, 4)?;
        let text = |index: usize| {
            let bytes = row.get(index).unwrap_or_default();
            std::str::from_utf8(bytes).unwrap_or_default()
        };
        Ok(Self {
            oid: text(0).parse().unwrap_or(0),
            name: text(1).to_owned(),
            class: text(2).bytes().next().unwrap_or_default(),
            part: text(3).parse().unwrap_or(0),
        })
    }

    fn resolved(self, part: Option<Type>) -> Type {
        let form = match (self.class, part) {
            (b'd', Some(base)) => base.form,
            (b'e', _) => Form::Text,
            (b'r', Some(bound)) => oid::of_range(bound),
            (b'b', Some(element)) => oid::of_array(element),
            _ => oid::of_extension(&self.name).unwrap_or(Form::Raw),
        };
        Type {
            oid: self.oid,
            name: self.name.into(),
            form,
        }
    }
}

impl PostgresSession {
    /// Types by their numbers; asks the catalogue about those that are new.
    pub(super) async fn types(&mut self, oids: &[u32]) -> Result<Vec<Type>, Failure> {
        let is_new = |types: &Types, oid: &u32| types.known(*oid).is_none();
        let mut new: Vec<u32> = oids.to_vec();
        let mut entries = HashMap::new();
        loop {
            new.retain(|oid| is_new(&self.types, oid) && !entries.contains_key(oid));
            if new.is_empty() {
                break;
            }
            let found = self.catalogued(&new).await?;
            // Nobody is asked twice about one that is not there.
            let missing = new.iter().map(|&oid| Entry {
                oid,
                name: format!("number {oid}"),
                class: 0,
                part: 0,
            });
            entries.extend(missing.map(|entry| (entry.oid, entry)));
            new = found.iter().map(|entry| entry.part).collect();
            new.retain(|&oid| oid != 0);
            entries.extend(found.into_iter().map(|entry| (entry.oid, entry)));
        }
        self.types.enter(entries);
        let unknown = |oid| Type::unknown(oid, Form::Raw);
        Ok(oids
            .iter()
            .map(|&oid| self.types.known(oid).unwrap_or_else(|| unknown(oid)))
            .collect())
    }

    async fn catalogued(&mut self, oids: &[u32]) -> Result<Vec<Entry>, Failure> {
        let numbers: Vec<String> = oids.iter().map(u32::to_string).collect();
        let sql = format!(
            "select t.oid, pg_catalog.format_type(t.oid, null), t.typtype, \
             case when t.typtype = 'd' then t.typbasetype when t.typtype = 'r' then r.rngsubtype \
             when t.typtype = 'b' and t.typcategory = 'A' then t.typelem else 0 end \
             from pg_catalog.pg_type t left join pg_catalog.pg_range r on r.rngtypid = t.oid \
             where t.oid in ({})",
            numbers.join(",")
        );
        let (mut cells, mut entries) = (Cells::default(), Vec::new());
        let take = |Frame { tag, body }: Frame<'_>| {
            if tag == b'D' {
                entries.push(Entry::parse(&mut cells, body)?);
            }
            Ok(())
        };
        self.simple(&sql, Reached::Preparation, take).await?;
        Ok(entries)
    }
}
