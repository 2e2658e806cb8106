//! TLS as an sslmode demands it: `prefer` and `require` encrypt and trust whoever answers, `verify-ca` trusts whom an
//! authority vouches for, `verify-full` only under the name that was asked for.

use std::io;
use std::sync::{Arc, OnceLock};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{self, CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::super::options::{Options, SslMode};
use super::fault::Fault;

/// Encrypts a connection whose server has agreed to it.
pub(super) async fn handshake(
    tcp: TcpStream,
    options: &Options,
    mode: SslMode,
) -> Result<TlsStream<TcpStream>, Fault> {
    let name = ServerName::try_from(options.host.clone()).map_err(unusable)?;
    let options = options.clone();
    // Certificates are files.
    let config = tokio::task::spawn_blocking(move || config(&options, mode)).await;
    let config = config.map_err(unusable)??;
    let connected = TlsConnector::from(Arc::new(config))
        .connect(name, tcp)
        .await;
    connected.map_err(|error| match error.kind() {
        // What the handshake says about a certificate comes as such an error.
        io::ErrorKind::InvalidData => unusable(error),
        _ => Fault::Io(error),
    })
}

fn unusable(error: impl std::fmt::Display) -> Fault {
    Fault::Tls(error.to_string())
}

fn config(options: &Options, mode: SslMode) -> Result<ClientConfig, Fault> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(unusable)?;
    let builder = match mode {
        SslMode::VerifyFull => builder.with_root_certificates(authorities(options)?),
        SslMode::VerifyCa => {
            let authorities = Arc::new(authorities(options)?);
            let inner = WebPkiServerVerifier::builder_with_provider(authorities, provider)
                .build()
                .map_err(unusable)?;
            builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(AnyName { inner }))
        }
        _ => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Anybody { provider })),
    };
    match (&options.ssl_client_cert, &options.ssl_client_key) {
        (None, None) => Ok(builder.with_no_client_auth()),
        (Some(certificate), Some(key)) => {
            let chain = certificates(certificate, "sslcert")?;
            let key = PrivateKeyDer::from_pem_slice(&pem(key, "sslkey")?)
                .map_err(|error| unusable(format!("sslkey holds no private key: {error}")))?;
            builder.with_client_auth_cert(chain, key).map_err(unusable)
        }
        _ => Err(unusable("sslcert and sslkey are of use only together")),
    }
}

/// The authorities of this machine, and the one of the URL.
fn authorities(options: &Options) -> Result<RootCertStore, Fault> {
    static MACHINE: OnceLock<RootCertStore> = OnceLock::new();
    let mut store = MACHINE
        .get_or_init(|| {
            let mut store = RootCertStore::empty();
            // A certificate that cannot be read vouches for nobody.
            store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            store
        })
        .clone();
    if let Some(root) = &options.ssl_root_cert {
        for certificate in certificates(root, "sslrootcert")? {
            store.add(certificate).map_err(unusable)?;
        }
    }
    Ok(store)
}

fn certificates(of: &str, option: &str) -> Result<Vec<CertificateDer<'static>>, Fault> {
    CertificateDer::pem_slice_iter(&pem(of, option)?)
        .collect::<Result<_, _>>()
        .map_err(|error| unusable(format!("{option} holds no certificate: {error}")))
}

/// The value of an option is a file, or its contents.
fn pem(value: &str, option: &str) -> Result<Vec<u8>, Fault> {
    if value.trim_start().starts_with("-----BEGIN") {
        return Ok(value.as_bytes().to_vec());
    }
    std::fs::read(value)
        .map_err(|error| unusable(format!("cannot read {option} {value:?}: {error}")))
}

/// Trusts whoever answers.
#[derive(Debug)]
struct Anybody {
    provider: Arc<CryptoProvider>,
}

/// Trusts whom an authority vouches for, under any name.
#[derive(Debug)]
struct AnyName {
    inner: Arc<WebPkiServerVerifier>,
}

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match self
            .inner
            .verify_server_cert(certificate, intermediates, name, ocsp, now)
        {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verdict => verdict,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner
            .verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner
            .verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}
