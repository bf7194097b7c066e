//! How bytes are spelled in what we publish: base64url without padding, hexadecimal digits in lower case. Each value has
//! exactly one spelling, so that a text cannot be changed without changing what it says.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

pub fn to_base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub fn from_base64url(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// Exactly so many bytes.
pub fn array_from_base64url<const N: usize>(text: &str) -> Option<[u8; N]> {
    from_base64url(text)?.try_into().ok()
}

pub fn to_hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Upper case is refused: it would be a second spelling.
pub fn array_from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    if text.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

/// The frame that OpenSSL and everybody else reads.
pub(crate) fn to_pem(label: &str, der: &[u8]) -> String {
    let body = STANDARD.encode(der);
    let lines: Vec<&str> = (0..body.len()).step_by(64).map(|at| &body[at..body.len().min(at + 64)]).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

pub(crate) fn from_pem(label: &str, text: &str) -> Option<Vec<u8>> {
    let inside = text.trim().strip_prefix(&format!("-----BEGIN {label}-----"))?;
    let inside = inside.strip_suffix(&format!("-----END {label}-----"))?;
    let body: String = inside.chars().filter(|char| !char.is_ascii_whitespace()).collect();
    STANDARD.decode(body).ok()
}

/// For `#[serde(with = "…")]` on fixed bytes spelled in base64url.
pub(crate) mod base64url {
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(crate) fn serialize<S: Serializer, const N: usize>(
        bytes: &[u8; N],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&super::to_base64url(bytes))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, const N: usize>(
        deserializer: D,
    ) -> Result<[u8; N], D::Error> {
        let text = String::deserialize(deserializer)?;
        let expected = || de::Error::custom(format!("not {N} bytes in base64url without padding"));
        super::array_from_base64url(&text).ok_or_else(expected)
    }
}

/// For `#[serde(with = "…")]` on fixed bytes spelled in hexadecimal digits.
pub(crate) mod hex {
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(crate) fn serialize<S: Serializer, const N: usize>(
        bytes: &[u8; N],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&super::to_hex(bytes))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, const N: usize>(
        deserializer: D,
    ) -> Result<[u8; N], D::Error> {
        let text = String::deserialize(deserializer)?;
        let expected = || de::Error::custom(format!("not {N} bytes in lower-case hexadecimal digits"));
        super::array_from_hex(&text).ok_or_else(expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_one_spelling() {
        assert_eq!(array_from_hex::<2>("0aff"), Some([0x0a, 0xff]));
        assert_eq!(array_from_hex::<2>("0aFF"), None);
        assert_eq!(array_from_hex::<2>("0af"), None);
        assert_eq!(array_from_base64url::<1>("_w"), Some([0xff]));
        // The same byte with a bit set that no byte holds.
        assert_eq!(array_from_base64url::<1>("_x"), None);
        assert_eq!(array_from_base64url::<1>("_w=="), None);
    }

    #[test]
    fn pem_is_read_as_it_is_written_and_under_its_own_label_only() {
        let text = to_pem("PUBLIC KEY", &[7; 100]);
        assert!(text.lines().all(|line| line.len() <= 64), "{text}");
        assert_eq!(from_pem("PUBLIC KEY", &text), Some(vec![7; 100]));
        assert_eq!(from_pem("PRIVATE KEY", &text), None);
    }
}
