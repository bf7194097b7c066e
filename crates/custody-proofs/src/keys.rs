//! Ed25519 keys: one signs for a tenant, everybody may have the public half. Randomness is handed in.

use std::fmt;

use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::encoding;

/// What stands before the 32 bytes of the key in the two usual wrappings (RFC 8410).
const PKCS8_PREFIX: [u8; 16] = *b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
const SPKI_PREFIX: [u8; 12] = *b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00";

pub type Signature = [u8; 64];

#[derive(Debug, Error, PartialEq, Eq)]
#[error("not an Ed25519 key in PKCS#8, as PEM")]
pub struct NotAKey;

/// Thirty-two secret random bytes from which a key is made.
#[derive(Clone, PartialEq, Eq)]
pub struct Seed(pub [u8; 32]);

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(…)")
    }
}

pub struct SigningKey {
    seed: Seed,
    pair: Ed25519KeyPair,
}

/// Says which key it is, never what it is.
impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SigningKey").field(&self.public().fingerprint()).finish()
    }
}

impl SigningKey {
    pub fn from_seed(seed: Seed) -> Self {
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed.0).expect("every 32 bytes are a seed");
        Self { seed, pair }
    }

    pub fn public(&self) -> PublicKey {
        let bytes = self.pair.public_key().as_ref();
        PublicKey(bytes.try_into().expect("a public key of Ed25519 has 32 bytes"))
    }

    pub fn sign(&self, message: &[u8]) -> Signature {
        let signature = self.pair.sign(message);
        signature.as_ref().try_into().expect("a signature of Ed25519 has 64 bytes")
    }

    /// As `openssl genpkey -algorithm ed25519` writes it.
    pub fn to_pem(&self) -> String {
        encoding::to_pem("PRIVATE KEY", &[&PKCS8_PREFIX[..], &self.seed.0].concat())
    }

    pub fn from_pem(text: &str) -> Result<Self, NotAKey> {
        let der = encoding::from_pem("PRIVATE KEY", text).ok_or(NotAKey)?;
        let seed = der.strip_prefix(&PKCS8_PREFIX).and_then(|seed| seed.try_into().ok()).ok_or(NotAKey)?;
        Ok(Self::from_seed(Seed(seed)))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PublicKey(#[serde(with = "encoding::base64url")] pub [u8; 32]);

/// A key as web programs exchange it (RFC 8037).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jwk {
    pub kty: String,
    pub crv: String,
    pub x: String,
    #[serde(rename = "use")]
    pub usage: String,
    pub alg: String,
    pub kid: String,
}

impl PublicKey {
    pub fn verify(&self, message: &[u8], signature: &Signature) -> bool {
        UnparsedPublicKey::new(&ED25519, self.0).verify(message, signature).is_ok()
    }

    pub fn to_pem(self) -> String {
        encoding::to_pem("PUBLIC KEY", &[&SPKI_PREFIX[..], &self.0].concat())
    }

    pub fn from_pem(text: &str) -> Result<Self, NotAKey> {
        let der = encoding::from_pem("PUBLIC KEY", text).ok_or(NotAKey)?;
        let bytes = der.strip_prefix(&SPKI_PREFIX).and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or(NotAKey)
    }

    pub fn to_jwk(self) -> Jwk {
        Jwk {
            kty: "OKP".to_owned(),
            crv: "Ed25519".to_owned(),
            x: encoding::to_base64url(&self.0),
            usage: "sig".to_owned(),
            alg: "EdDSA".to_owned(),
            kid: self.fingerprint(),
        }
    }

    pub fn from_jwk(jwk: &Jwk) -> Result<Self, NotAKey> {
        if jwk.kty != "OKP" || jwk.crv != "Ed25519" {
            return Err(NotAKey);
        }
        encoding::array_from_base64url(&jwk.x).map(Self).ok_or(NotAKey)
    }

    /// The thumbprint of RFC 7638: what people compare over the telephone.
    pub fn fingerprint(self) -> String {
        let x = encoding::to_base64url(&self.0);
        let canonical = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#);
        encoding::to_base64url(&Sha256::digest(canonical.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first test vector of RFC 8032.
    const SECRET: &str = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
    const PUBLIC: &str = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

    fn vector() -> SigningKey {
        SigningKey::from_seed(Seed(encoding::array_from_hex(SECRET).unwrap()))
    }

    #[test]
    fn keys_and_signatures_are_those_of_the_standard() {
        let key = vector();
        assert_eq!(encoding::to_hex(&key.public().0), PUBLIC);
        let signature = key.sign(b"");
        assert!(encoding::to_hex(&signature).starts_with("e5564300c360ac729086e2cc806e828a84877f1eb8e5d974"));
        assert!(key.public().verify(b"", &signature));
        assert!(!key.public().verify(b"x", &signature));
    }

    #[test]
    fn the_thumbprint_is_that_of_rfc_8037() {
        assert_eq!(vector().public().fingerprint(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
    }

    #[test]
    fn keys_are_read_back_from_pem_and_jwk() {
        let key = vector();
        assert_eq!(SigningKey::from_pem(&key.to_pem()).unwrap().public(), key.public());
        let public = key.public();
        assert_eq!(PublicKey::from_pem(&public.to_pem()), Ok(public));
        assert_eq!(PublicKey::from_jwk(&public.to_jwk()), Ok(public));
        assert_eq!(PublicKey::from_pem(&key.to_pem()), Err(NotAKey));
    }

    #[test]
    fn a_key_never_prints_its_secret() {
        let printed = format!("{:?} {:?}", vector(), Seed([0x9d; 32]));
        assert!(!printed.contains("157") && !printed.contains("9d"), "{printed}");
    }
}
