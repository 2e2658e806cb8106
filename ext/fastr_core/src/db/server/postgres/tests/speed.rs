//! How long statements take on one connection; run by hand in release mode with `-- --ignored speed --nocapture`.

use std::time::Instant;

use super::{PostgresSession, with_session};
use crate::db::JsonOptions;
use crate::db::query::{Query, Shape};
use crate::db::rows::Value;
use crate::db::server::driver::Session;

async fn measure(session: &mut PostgresSession, name: &str, query: &Query, times: u32) {
    for _ in 0..times / 10 + 1 {
        session.run(query).await.unwrap();
    }
    let used = cpu();
    let since = Instant::now();
    for _ in 0..times {
        session.run(query).await.unwrap();
    }
    let wall = since.elapsed().as_secs_f64() * 1e6 / f64::from(times);
    let cpu = (cpu() - used) / f64::from(times);
    println!("{name}: {wall:.1} µs, {cpu:.1} µs of CPU");
}

/// Microseconds this thread has computed so far.
fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e3
}

#[test]
#[ignore = "a measurement, run by hand"]
fn speed() {
    with_session(|mut session| async move {
        session
            .run_all(
                "create temp table posts (id int8 primary key, title text, views int4, score float8, at timestamptz);
                 insert into posts select n, 'A title of a post ' || n, n, n * 1.5, now() from generate_series(1, 1000) n;
                 create temp table users (id int8 primary key, username text);
                 insert into users select n, 'user' || n from generate_series(1, 1000) n;
                 analyze posts; analyze users",
            )
            .await;
        let json = Shape::Json(JsonOptions::default());
        let one = Query::new("select * from posts where id = $1").binds(vec![Value::Integer(7)]);
        let five = Query::new("select * from posts where id <= $1").binds(vec![Value::Integer(5)]);
        let all = Query::new("select * from posts");
        let ids = [3, 5, 7, 11, 13].map(Value::Integer).to_vec();
        let users = Query::new("select id, username from users where id in ($1, $2, $3, $4, $5)")
            .binds(ids);
        let as_json = |query: &Query| Query {
            shape: json.clone(),
            ..query.clone()
        };
        for _ in 0..3 {
            measure(&mut session, "5 users", &users, 10_000).await;
            measure(&mut session, "5 users as JSON", &as_json(&users), 10_000).await;
            measure(&mut session, "1 row", &one, 10_000).await;
            measure(&mut session, "1 row as JSON", &as_json(&one), 10_000).await;
            measure(&mut session, "5 rows", &five, 10_000).await;
            measure(&mut session, "5 rows as JSON", &as_json(&five), 10_000).await;
            measure(&mut session, "1000 rows", &all, 500).await;
            measure(&mut session, "1000 rows as JSON", &as_json(&all), 500).await;
        }
    });
}
