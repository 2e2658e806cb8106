//! How a session begins: who wants in, the password in the form the server asks for, and the settings that both sides
//! rely on. The arithmetic of passwords is that of `postgres-protocol`.

use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};

use super::super::options::{Options, SslMode};
use super::cancel::Secret;
use super::fault::{Fault, Report};
use super::frame::{Frame, Parser};
use super::socket::Socket;
use super::{Wire, messages};

/// The state of a server whose rules let nobody in this way.
const NOT_THIS_WAY: &str = "28000";

/// Opens a session; `prefer` and `allow` try the other way once if the server's rules reject the first one.
pub(in super::super) async fn open(options: &Options) -> Result<(Wire, Secret), Fault> {
    let first = match attempt(options, options.ssl_mode).await {
        Err(Fault::Server(report)) if report.state == NOT_THIS_WAY => report,
        other => return other,
    };
    let other = match options.ssl_mode {
        SslMode::Allow => SslMode::Require,
        SslMode::Prefer => SslMode::Disable,
        _ => return Err(Fault::Server(first)),
    };
    if options.socket().is_some() {
        return Err(Fault::Server(first));
    }
    let second = attempt(options, other).await;
    second.map_err(|_| Fault::Server(first))
}

async fn attempt(options: &Options, mode: SslMode) -> Result<(Wire, Secret), Fault> {
    let socket = Socket::open(options, mode).await?;
    let mut secret = Secret {
        process: 0,
        key: 0,
        is_encrypted: socket.is_encrypted(),
    };
    let mut wire = Wire::new(socket);
    messages::startup(&mut wire.output, parameters(options));
    wire.send().await?;
    authenticate(&mut wire, options).await?;
    loop {
        let Frame { tag, body } = wire.next().await?;
        match tag {
            b'K' => {
                let mut parser = Parser::new(body, "the key of the session");
                secret.process = parser.u32()?;
                secret.key = parser.u32()?;
            }
            b'E' => return Err(Fault::Server(Box::new(Report::parse(body)?))),
            b'Z' => return Ok((wire, secret)),
            _ => return Err(Fault::malformed("the beginning of the session")),
        }
    }
}

fn parameters(options: &Options) -> impl Iterator<Item = (&str, &str)> {
    let given = [
        ("user", Some(options.user.as_str())),
        ("database", options.database.as_deref()),
        ("DateStyle", Some("ISO, MDY")),
        ("client_encoding", Some("UTF8")),
        ("TimeZone", Some("UTC")),
        ("application_name", options.application_name.as_deref()),
        ("options", options.settings.as_deref()),
    ];
    given
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
}

/// Binary times mean something else on a server that keeps them as floating-point numbers, and text in another
/// encoding is not read.
pub(super) fn check_setting(body: &[u8]) -> Result<(), Fault> {
    let mut parser = Parser::new(body, "a setting");
    let (name, value) = (parser.bytes_to_nul()?, parser.bytes_to_nul()?);
    match name {
        b"client_encoding" if !value.eq_ignore_ascii_case(b"utf8") => Err(Fault::Protocol(
            "client_encoding was changed, and fastr reads no other than UTF8; leave it as it is".into(),
        )),
        b"integer_datetimes" if value != b"on" => Err(Fault::Protocol(
            "the server keeps times as floating-point numbers (integer_datetimes is off), which fastr does not read"
                .into(),
        )),
        _ => Ok(()),
    }
}

async fn authenticate(wire: &mut Wire, options: &Options) -> Result<(), Fault> {
    let password = options.password.as_deref().unwrap_or_default();
    let mut scram = None;
    loop {
        let Frame { tag, body } = wire.next().await?;
        match tag {
            b'R' => {}
            b'E' => return Err(Fault::Server(Box::new(Report::parse(body)?))),
            _ => return Err(Fault::malformed("the login")),
        }
        let mut parser = Parser::new(body, "the login");
        let answer = match (parser.u32()?, &mut scram) {
            (
                0,
                None
                | Some(Scram {
                    is_proven: true, ..
                }),
            ) => return Ok(()),
            (0, Some(_)) => return Err(unproven()),
            (3, _) => terminated(password.as_bytes()),
            (5, _) => {
                let hash = md5_hash(
                    options.user.as_bytes(),
                    password.as_bytes(),
                    parser.fixed()?,
                );
                terminated(hash.as_bytes())
            }
            (10, _) => {
                let (begun, answer) = Scram::begin(parser, password)?;
                scram = Some(begun);
                answer
            }
            (11, Some(scram)) => scram.proceed(parser.rest())?,
            (12, Some(scram)) => {
                scram.end(parser.rest())?;
                continue;
            }
            _ => return Err(unknown()),
        };
        messages::password(&mut wire.output, &[&answer]);
        wire.send().await?;
    }
}

fn terminated(text: &[u8]) -> Vec<u8> {
    [text, b"\0"].concat()
}

fn unknown() -> Fault {
    Fault::Protocol(
        "the server wants another proof than a password (GSSAPI, SSPI, Kerberos?), which fastr does not have; allow \
         scram-sha-256 in pg_hba.conf"
            .into(),
    )
}

fn unproven() -> Fault {
    Fault::Protocol(
        "the server did not prove that it knows the password; is it the right one?".into(),
    )
}

/// A login by SCRAM-SHA-256, in which the server, too, shows that it knows the password.
struct Scram {
    exchange: ScramSha256,
    is_proven: bool,
}

impl Scram {
    /// The first answer: the chosen mechanism and the first message of it behind its length.
    fn begin(mut parser: Parser<'_>, password: &str) -> Result<(Self, Vec<u8>), Fault> {
        loop {
            match parser.text()? {
                "" => return Err(unknown()),
                SCRAM_SHA_256 => break,
                _ => {}
            }
        }
        let exchange = ScramSha256::new(password.as_bytes(), ChannelBinding::unsupported());
        let first = exchange.message();
        let length = u32::try_from(first.len()).map_err(|_| unknown())?;
        let answer = [
            terminated(SCRAM_SHA_256.as_bytes()).as_slice(),
            &length.to_be_bytes(),
            first,
        ]
        .concat();
        let is_proven = false;
        Ok((
            Self {
                exchange,
                is_proven,
            },
            answer,
        ))
    }

    fn proceed(&mut self, challenge: &[u8]) -> Result<Vec<u8>, Fault> {
        let taken = self.exchange.update(challenge);
        taken.map_err(|error| Fault::Protocol(format!("the login by SCRAM failed: {error}")))?;
        Ok(self.exchange.message().to_vec())
    }

    fn end(&mut self, proof: &[u8]) -> Result<(), Fault> {
        self.exchange.finish(proof).map_err(|_| unproven())?;
        self.is_proven = true;
        Ok(())
    }
}
