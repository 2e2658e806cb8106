//! URLs of PostgreSQL: what each part means, and that no message gives a password away.

use super::*;

fn parse(url: &str) -> Result<Location, Error> {
    Location::parse(url, &DatabaseOptions::default())
}

#[test]
fn every_part_of_a_url_counts() {
    let location =
        parse("postgres://me:p%40ss@db.example:6543/shop?application_name=till").unwrap();
    assert_eq!(location.options.host, "db.example");
    assert_eq!(location.options.port, 6543);
    assert_eq!(location.options.user, "me");
    assert_eq!(location.options.password.as_deref(), Some("p@ss"));
    assert_eq!(location.options.database.as_deref(), Some("shop"));
    assert_eq!(location.options.application_name.as_deref(), Some("till"));
    assert_eq!(location.describe(), "PostgreSQL at db.example:6543");
    assert_eq!(
        location.statements,
        DatabaseOptions::default().statement_cache
    );
}

#[test]
fn sockets_and_ipv6_addresses_are_hosts() {
    for (url, description) in [
        (
            "postgres:///shop?host=/run/pg&port=1",
            "PostgreSQL at /run/pg/.s.PGSQL.1",
        ),
        (
            "postgres://me@%2Frun%2Fpg:2/shop",
            "PostgreSQL at /run/pg/.s.PGSQL.2",
        ),
        ("postgresql://[::1]:3/shop", "PostgreSQL at [::1]:3"),
        ("postgres://localhost:4", "PostgreSQL at localhost:4"),
    ] {
        assert_eq!(parse(url).unwrap().describe(), description, "{url}");
    }
}

#[test]
fn a_pooler_that_mixes_connections_keeps_no_statements() {
    for url in [
        "postgres://a/b?pgbouncer=true",
        "postgres://a/b?prepared_statements=false",
    ] {
        assert_eq!(parse(url).unwrap().statements, 0, "{url}");
    }
}

#[test]
fn a_url_that_cannot_be_used_says_why_and_shows_no_password() {
    for (url, reason) in [
        ("postgres://u:s3cret@h:port/d", "port"),
        ("postgres://u:s3cret@h/d?sslmode=maybe", "sslmode"),
        ("postgres://u:s3cret@h/d?passwort=s3cret", "\"passwort\""),
        ("postgres://u:s3cret%ff@h/d", "password"),
        ("postgres://u:s3cret@h1,h2/d", "several hosts"),
        (
            "postgres://u:s3cret@h/d?channel_binding=require",
            "verify-full",
        ),
        ("postgres://u:s3cret@h/d?pgbouncer=maybe", "pgbouncer"),
    ] {
        let error = parse(url).unwrap_err().to_string();
        assert!(error.contains(reason), "{url}: {error}");
        assert!(!error.contains("s3cret"), "{error}");
    }
}

proptest::proptest! {
    #[test]
    fn no_url_makes_the_parser_panic(rest in "(\\PC|[@:/?&=%\\[\\]0-9]){0,60}", options in "(\\PC|[ =-]){0,20}") {
        for url in [format!("postgres://{rest}"), format!("postgres://h/d?options={options}")] {
            if let Ok(location) = parse(&url) {
                let _ = location.describe();
            }
        }
    }

    #[test]
    fn no_error_shows_a_password(
        password in "s3cret[a-z@:?/]{0,6}s3cret",
        address in "(h|\\[::1\\]|h:port|h:70000|h1,h2|%ff)?",
        options in "(\\?(sslmode=maybe|x=y|pgbouncer=maybe|encoding=latin1))?",
    ) {
        for url in [
            format!("postgres://u:{password}@{address}/d{options}"),
            format!("postgres://u@{address}/d?password={password}&x=y"),
        ] {
            if let Err(error) = parse(&url) {
                proptest::prop_assert!(!error.to_string().contains("s3cret"), "{} says {}", url, error);
            }
        }
    }
}
