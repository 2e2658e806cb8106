//! Every way in: passwords, certificates, TLS where it is demanded, and what is said when there is none.

use super::{block, driver_for, url_with};
use crate::db::rows::Value;
use crate::db::server::driver::Driver;
use crate::error::{DatabaseError, DatabaseErrorKind};

fn of_the_server(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| {
        panic!("{name} is not set; run the tests by `bin/with-databases cargo test -p fastr_core`")
    })
}

/// Whether the connection is encrypted.
async fn enters(options: &str) -> Result<bool, DatabaseError> {
    let mut session = driver_for(&url_with(options)).connect().await?;
    let sql = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
    Ok(session.value(sql, vec![]).await == Value::Bool(true))
}

#[test]
fn every_kind_of_password_is_told() {
    let password = of_the_server("FASTR_TEST_PASSWORD");
    block(async {
        for user in ["scram", "md5", "plain"] {
            let entered = enters(&format!("user={user}&password={password}")).await;
            assert!(entered.is_ok(), "{user}: {entered:?}");
            let error = enters(&format!("user={user}&password=wr0ng"))
                .await
                .unwrap_err();
            assert_eq!(
                error.kind,
                DatabaseErrorKind::Authentication,
                "{user}: {error:?}"
            );
            assert!(!error.message.contains("wr0ng"), "{}", error.message);
        }
    });
}

#[test]
fn tls_is_spoken_as_the_mode_says() {
    let password = of_the_server("FASTR_TEST_PASSWORD");
    let folder = of_the_server("FASTR_TEST_PG_TLS");
    let secure = format!("user=secure&password={password}");
    block(async {
        for (options, is_encrypted) in [
            ("sslmode=disable".to_owned(), false),
            ("sslmode=allow".to_owned(), false),
            ("sslmode=prefer".to_owned(), true),
            ("sslmode=require".to_owned(), true),
            (
                format!("sslmode=verify-ca&sslrootcert={folder}/ca.pem"),
                true,
            ),
            (format!("{secure}&sslmode=allow"), true),
            (format!("{secure}&sslmode=prefer"), true),
            ("user=uncertain&sslmode=prefer".to_owned(), false),
            (
                format!(
                    "user=certified&sslmode=require&sslcert={folder}/client.pem&sslkey={folder}/client.key"
                ),
                true,
            ),
        ] {
            let entered = enters(&options).await;
            assert_eq!(
                entered.as_ref().ok(),
                Some(&is_encrypted),
                "{options}: {entered:?}"
            );
        }
        let error = enters(&format!("{secure}&sslmode=disable"))
            .await
            .unwrap_err();
        assert_eq!(error.kind, DatabaseErrorKind::Authentication, "{error:?}");
        let stranger = format!("sslmode=verify-ca&sslrootcert={folder}/other-ca.pem");
        let error = enters(&stranger).await.unwrap_err();
        assert_eq!(error.kind, DatabaseErrorKind::Connection, "{error:?}");
        assert!(error.message.contains("sslrootcert"), "{}", error.message);
    });
}
