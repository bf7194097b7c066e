//! A webhook over HTTPS, against a real TLS server whose authority was made for the test: whoever is not vouched for is
//! told nothing.

use super::{SECRET, doctor, documented, passing_run, pending, settings};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_test_support::{Said, WebhookReceiver, World};

const REQUESTS: &str = "\
[req]
distinguished_name = name
prompt = no
[name]
CN = made for a test
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
[server]
subjectAltName = IP:127.0.0.1
";

const MAKE: &str = "\
make='openssl req -config requests.cnf -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'
$make -x509 -extensions authority -days 2 -keyout authority.key -out authority.pem &&
$make -keyout server.key -out server.csr &&
openssl x509 -req -in server.csr -CA authority.pem -CAkey authority.key -CAcreateserial -days 2 \
  -extfile requests.cnf -extensions server -out server.pem";

/// A directory with an authority, and a server's certificate for 127.0.0.1 that it signed.
pub(crate) fn certificates(world: &World) -> PathBuf {
    let directory = world.path().join("certificates");
    std::fs::create_dir(&directory).unwrap();
    std::fs::write(directory.join("requests.cnf"), REQUESTS).unwrap();
    let _ = world.run(Path::new("/bin/sh"), &directory, &["-c", MAKE], "").exits_with(0);
    directory
}

fn receiver(certificates: &Path) -> WebhookReceiver {
    let shown = CertificateDer::from_pem_file(certificates.join("server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(certificates.join("server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![shown], key).unwrap();
    WebhookReceiver::over_tls(Arc::new(config), &[Said::Status(204)])
}

#[test]
fn a_server_whose_authority_is_trusted_is_told_signed_and_in_json() {
    let mut played = passing_run();
    let certificates = certificates(&played.world);
    let receiver = receiver(&certificates);
    settings(&played, &format!("webhook = {{ url = '{}', secret_env = 'HOOK_SECRET' }}", receiver.url()));
    played.world.set("HOOK_SECRET", SECRET).set("SSL_CERT_FILE", certificates.join("authority.pem"));
    let _ = played.run(&[]).exits_with(0);
    let request = receiver.next();
    assert_eq!(request.json()["event"], "ended");
    let signature = documented::openssl_signature(&played.world, &request);
    assert_eq!(request.headers["webhook-signature"], format!("v1,{signature}"));
    assert_eq!((receiver.has_more(), pending(&played)), (false, 0));
}

#[test]
fn a_server_that_nobody_trusted_vouches_for_is_told_nothing_and_costs_the_run_nothing() {
    let played = passing_run();
    let receiver = receiver(&certificates(&played.world));
    settings(&played, &format!("webhook = {{ url = '{}' }}", receiver.url()));
    let _ = played.run(&[]).exits_with(0);
    assert!(!receiver.has_more(), "what is sent names tasks and files");
    assert_eq!(pending(&played), 1);
    assert!(doctor(&played).contains("certificate"), "{}", doctor(&played));
}

#[test]
fn a_certificate_for_another_name_is_not_taken() {
    let mut played = passing_run();
    let certificates = certificates(&played.world);
    let receiver = receiver(&certificates);
    let other = receiver.url().replace("127.0.0.1", "localhost");
    settings(&played, &format!("webhook = {{ url = '{other}' }}"));
    played.world.set("SSL_CERT_FILE", certificates.join("authority.pem"));
    let said = played.world.windlass(&["notify", "test"]).exits_with(1).stdout;
    assert!(said.contains("certificate"), "{said}");
    assert!(!receiver.has_more());
}

#[test]
fn where_no_authority_is_known_that_is_said() {
    let mut played = passing_run();
    let receiver = receiver(&certificates(&played.world));
    settings(&played, &format!("webhook = {{ url = '{}' }}", receiver.url()));
    let nowhere = played.world.path().join("nowhere.pem");
    played.world.set("SSL_CERT_FILE", &nowhere);
    let said = played.world.windlass(&["notify", "test"]).exits_with(1).stdout;
    assert!(said.contains("no authority is known that could vouch for it"), "{said}");
    assert!(said.contains("nowhere.pem"), "{said}");
}
