//! The server's own client is the witness: what it shows of a table is what the driver reads.
use std::process::Command;

use super::types::{expected, matrix};
use super::*;
use crate::db::civil;
use crate::db::rows::Kind;

/// What the client shows, cell by cell.
fn shown(sql: &str) -> Vec<Vec<String>> {
    let server = url_of("x").rsplit_once('@').unwrap().1.to_owned();
    let (host, port) = server.split_once(':').unwrap();
    let url = url();
    let (user, database) = url.split_once("://").unwrap().1.split_once('@').unwrap();
    let database = database.split_once('/').unwrap().1;
    let output = Command::new("mariadb")
        .args([
            "--no-defaults",
            "--batch",
            "--skip-column-names",
            "--default-character-set=utf8mb4",
        ])
        .args([
            "--binary-as-hex",
            "-h",
            host,
            "-P",
            port,
            "-u",
            user,
            database,
            "-e",
            sql,
        ])
        .output()
        .expect("the client `mariadb` is installed");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| line.split('\t').map(Into::into).collect())
        .collect()
}

/// A value as the client shows it.
fn as_shown(kind: Kind, value: &Value) -> String {
    match (kind, value) {
        (Kind::Blob, Value::Null) => "0x".into(),
        (_, Value::Null) => "NULL".into(),
        (_, Value::Integer(number)) => number.to_string(),
        (_, Value::Unsigned(number)) => number.to_string(),
        (_, Value::Float(number)) if *number > 1e15 => format!("{number:e}"),
        (_, Value::Float(number)) => number.to_string(),
        (_, Value::Decimal(text) | Value::Text(text)) => text.clone(),
        (_, Value::Blob(bytes)) => bytes
            .iter()
            .fold("0x".into(), |hex, byte| format!("{hex}{byte:02X}")),
        (_, Value::Date(days)) => civil::stored_date(*days),
        (_, Value::Timestamp(moment)) => civil::stored_timestamp(*moment),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_client_shows_what_the_driver_reads() {
    on_reactor(async {
        let mut session = open().await;
        let table = matrix(&mut session, "").await;
        // The client shows bits as bytes, and fractions as the column has them.
        let columns: Vec<String> = expected()
            .iter()
            .map(|(name, kind, _)| match (*name, kind) {
                ("bi" | "bl", _) => format!("{name} + 0 as {name}"),
                (_, Kind::DateTime) => format!("cast({name} as datetime(6)) as {name}"),
                _ => (*name).into(),
            })
            .collect();
        let sql = format!(
            "set time_zone = '+00:00'; select {} from {table} order by b desc",
            columns.join(", ")
        );
        let shown = shown(&sql);
        let read = rows(
            &mut session,
            &format!("select * from {table} order by b desc"),
            vec![],
        )
        .await;
        run(&mut session, &format!("drop table {table}"), vec![]).await;
        assert_eq!(shown.len(), 2);
        for (shown, read) in shown.iter().zip(read.iter()) {
            for ((column, value), shown) in read_columns(&expected()).zip(read).zip(shown) {
                assert_eq!(&as_shown(column.1, value), shown, "{}", column.0);
            }
        }
    });
}

fn read_columns<'a>(
    columns: &'a [(&'static str, Kind, Value)],
) -> impl Iterator<Item = (&'static str, Kind)> + 'a {
    columns.iter().map(|(name, kind, _)| (*name, *kind))
}
