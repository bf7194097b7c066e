//! A certificate chain and its key, read once when the server starts.

use crate::listen::ListenError;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

#[derive(Clone)]
pub struct Tls(pub(crate) TlsAcceptor);

impl Tls {
    /// Both files are PEM; the certificate of this server stands first.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, ListenError> {
        let unusable =
            |file: &Path, why: String| ListenError::Certificate { file: file.display().to_string(), why };
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificate)
            .and_then(Iterator::collect)
            .map_err(|error| unusable(certificate, error.to_string()))?;
        if chain.is_empty() {
            return Err(unusable(certificate, "it holds no certificate".to_owned()));
        }
        let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| unusable(key, error.to_string()))?;
        // Named, not taken from the process: whoever links us may have chosen no provider, or another one.
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, secret))
            .map_err(|error| unusable(certificate, error.to_string()))?;
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }
}
