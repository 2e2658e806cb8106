//! The ways in: authentication plugins, TLS, the socket.
use super::*;
use crate::error::DatabaseErrorKind as Kind;

/// What `bin/with-databases` tells of the server beside its address.
fn of_the_server(what: &str) -> String {
    let name = format!("FASTR_TEST_MYSQL_{what}");
    std::env::var(&name)
        .unwrap_or_else(|_| panic!("{name} is not set: run `bin/with-databases cargo test`"))
}

async fn try_url(url: &str) -> Result<MySqlSession, DatabaseError> {
    MySql::new(url, &DatabaseOptions::default())
        .unwrap()
        .connect()
        .await
}

#[test]
fn passwords_are_checked_by_the_plugins_that_are_known() {
    on_reactor(async {
        let mut root = open().await;
        let (native, other) = (
            unique("n").replace("fastr_", ""),
            unique("e").replace("fastr_", ""),
        );
        let password = "p@ss:wörd/é";
        let as_text = format!(
            "create user {native} identified via mysql_native_password using password('{password}')"
        );
        root.script(&as_text).await.unwrap();
        // It may be there already.
        drop(root.script("install soname 'auth_ed25519'").await);
        let as_text =
            format!("create user {other} identified via ed25519 using password('{password}')");
        root.script(&as_text).await.unwrap();

        let encoded = "p%40ss%3Aw%C3%B6rd%2F%C3%A9";
        let mut session = try_url(&url_of(&format!("{native}:{encoded}")))
            .await
            .unwrap();
        let Value::Text(user) = value(&mut session, "select user()", vec![]).await else {
            panic!("a name")
        };
        assert!(user.starts_with(&native), "{user}");
        let wrong = try_url(&url_of(&format!("{native}:wrong")))
            .await
            .unwrap_err();
        assert_eq!(wrong.kind, Kind::Authentication);
        let unknown = try_url(&url_of(&format!("{other}:{encoded}")))
            .await
            .unwrap_err();
        assert_eq!(unknown.kind, Kind::Authentication, "{unknown:?}");
        assert!(
            unknown.message.contains("ed25519")
                && unknown.message.contains("mysql_native_password"),
            "{}",
            unknown.message
        );
        root.script(&format!("drop user {native}, {other}"))
            .await
            .unwrap();
    });
}

#[test]
fn tls_is_used_and_verified_as_asked() {
    on_reactor(async {
        let folder = of_the_server("TLS");
        let url = url();
        let cipher = "show session status like 'Ssl_cipher'";
        for (options, is_encrypted) in [
            ("ssl-mode=disabled".to_owned(), false),
            ("ssl-mode=preferred".into(), true),
            ("ssl-mode=required".into(), true),
            (format!("ssl-mode=verify_ca&ssl-ca={folder}/ca.pem"), true),
            (
                format!("ssl-mode=verify_identity&ssl-ca={folder}/ca.pem"),
                true,
            ),
        ] {
            let mut session = try_url(&format!("{url}?{options}")).await.unwrap();
            let shown = rows(&mut session, cipher, vec![]).await;
            assert_eq!(
                shown.row(0).unwrap()[1] != text(""),
                is_encrypted,
                "{options}"
            );
        }
        let stranger = format!("{url}?ssl-mode=verify_ca&ssl-ca={folder}/other-ca.pem");
        let error = try_url(&stranger).await.unwrap_err();
        assert_eq!(error.kind, Kind::Connection);
        assert!(error.message.contains("ssl-ca"), "{}", error.message);
        let certified = format!(
            "{}/?ssl-mode=required&ssl-cert={folder}/client.pem&ssl-key={folder}/client.key",
            url_of("certified")
        );
        let mut session = try_url(&certified).await.unwrap();
        assert_eq!(
            value(&mut session, "select 1", vec![]).await,
            Value::Integer(1)
        );
        assert_eq!(
            try_url(&url_of("certified")).await.unwrap_err().kind,
            Kind::Authentication
        );
    });
}

#[test]
fn a_socket_is_a_way_in() {
    on_reactor(async {
        let mut session = try_url(&format!("{}?socket={}", url(), of_the_server("SOCKET")))
            .await
            .unwrap();
        assert_eq!(
            value(&mut session, "select 1", vec![]).await,
            Value::Integer(1)
        );
    });
}
