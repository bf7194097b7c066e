//! Object ids as git prints them: 40 hexadecimal digits (SHA-1) or 64 (SHA-256). Knows nothing of repositories.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::GitError;

/// A commit and the tree it records.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Commit {
    pub id: CommitId,
    pub tree: TreeId,
}

macro_rules! object_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Accepts exactly what git prints, so that an id can never be taken for an option or another revision.
            pub fn parse(text: &str) -> Result<Self, GitError> {
                Oid::from_hex(text.as_bytes()).map(|_| Self(text.to_owned()))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = GitError;
            fn try_from(text: String) -> Result<Self, GitError> {
                Self::parse(&text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }
    };
}

object_id!(
    /// Names one commit.
    CommitId
);
object_id!(
    /// Names the whole content of a directory.
    TreeId
);

/// Any object id as bytes, small enough to copy; the index file stores these.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Oid {
    bytes: [u8; 32],
    length: usize,
}

impl Oid {
    pub(crate) fn from_bytes(raw: &[u8]) -> Self {
        let mut bytes = [0; 32];
        bytes[..raw.len()].copy_from_slice(raw);
        Self { bytes, length: raw.len() }
    }

    pub(crate) fn from_hex(text: &[u8]) -> Result<Self, GitError> {
        let refused = || GitError::BadObjectId { text: String::from_utf8_lossy(text).into_owned() };
        if text.len() != 40 && text.len() != 64 {
            return Err(refused());
        }
        let mut bytes = [0; 32];
        for (target, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
            let digit = |byte: u8| match byte {
                b'0'..=b'9' => Some(byte - b'0'),
                b'a'..=b'f' => Some(byte - b'a' + 10),
                _ => None,
            };
            *target =
                digit(pair[0]).zip(digit(pair[1])).map(|(high, low)| high << 4 | low).ok_or_else(refused)?;
        }
        Ok(Self { bytes, length: text.len() / 2 })
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl fmt::Debug for Oid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_lower_case_hexadecimal_of_one_of_two_lengths() {
        let sha1 = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(CommitId::parse(sha1).unwrap().as_str(), sha1);
        assert_eq!(format!("{:?}", Oid::from_hex(sha1.as_bytes()).unwrap()), sha1);
        assert!(TreeId::parse(&"ab".repeat(32)).is_ok());
        for wrong in ["", "HEAD", "--all", &sha1[1..], &sha1.to_uppercase(), &format!("{}\n", &sha1[1..])] {
            assert!(CommitId::parse(wrong).is_err(), "{wrong:?} was accepted");
        }
    }

    #[test]
    fn an_id_read_from_json_is_checked() {
        assert!(serde_json::from_str::<TreeId>("\"--upload-pack=x\"").is_err());
        let id: TreeId = serde_json::from_str(&format!("\"{}\"", "0f".repeat(20))).unwrap();
        assert_eq!(serde_json::to_string(&id).unwrap(), format!("\"{}\"", "0f".repeat(20)));
    }
}
