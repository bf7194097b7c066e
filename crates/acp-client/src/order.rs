//! What the client is told to do: its command line and the few things it takes from its surroundings.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;

use windlass_agent_drivers::Access;

#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) access: Access,
    /// The session of an earlier turn that is to go on.
    pub(crate) resume: Option<String>,
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) workspace: PathBuf,
    /// The other place an agent may write to.
    pub(crate) outbox: Option<PathBuf>,
    pub(crate) environment: BTreeMap<OsString, OsString>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum OrderError {
    #[error("usage: windlass __acp (--read-only|--read-write) [--resume ID] -- PROGRAM ARGUMENT…")]
    Usage,
    #[error("cannot find out where this program runs: {source}")]
    NoPlace { source: io::Error },
}

impl Order {
    pub(crate) fn read(
        words: impl IntoIterator<Item = OsString>,
        environment: BTreeMap<OsString, OsString>,
        workspace: io::Result<PathBuf>,
    ) -> Result<Self, OrderError> {
        let mut words = words.into_iter();
        let (mut access, mut resume) = (None, None);
        loop {
            let word = words.next().ok_or(OrderError::Usage)?;
            match word.to_str() {
                Some("--read-only") if access.is_none() => access = Some(Access::ReadOnly),
                Some("--read-write") if access.is_none() => access = Some(Access::ReadWrite),
                Some("--resume") if resume.is_none() => {
                    let id = words.next().and_then(|id| id.into_string().ok());
                    resume = Some(id.ok_or(OrderError::Usage)?);
                }
                Some("--") => break,
                _ => return Err(OrderError::Usage),
            }
        }
        let program = words.next().filter(|program| !program.is_empty()).ok_or(OrderError::Usage)?;
        let workspace = workspace.map_err(|source| OrderError::NoPlace { source })?;
        let outbox = environment.get(OsStr::new("WINDLASS_OUTBOX")).filter(|outbox| !outbox.is_empty());
        Ok(Self {
            access: access.ok_or(OrderError::Usage)?,
            resume,
            program: program.into(),
            arguments: words.collect(),
            outbox: outbox.map(|outbox| workspace.join(outbox)),
            workspace,
            environment,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Order, OrderError> {
        let environment = BTreeMap::from([("WINDLASS_OUTBOX".into(), "../out".into())]);
        Order::read(words.iter().map(Into::into), environment, Ok(PathBuf::from("/w")))
    }

    #[test]
    fn everything_behind_the_dashes_belongs_to_the_agent() {
        let order =
            read(&["--read-only", "--resume", "s 1", "--", "gemini", "--acp", "--read-write"]).unwrap();
        assert_eq!((order.access, order.resume.as_deref()), (Access::ReadOnly, Some("s 1")));
        assert_eq!(order.program, PathBuf::from("gemini"));
        assert_eq!(order.arguments, ["--acp", "--read-write"]);
        assert_eq!(order.outbox, Some(PathBuf::from("/w/../out")));
        assert_eq!(read(&["--read-write", "--", "a"]).unwrap().resume, None);
    }

    #[test]
    fn an_order_with_a_part_missing_or_doubled_is_refused() {
        let refused: [&[&str]; 8] = [
            &[],
            &["--", "agent"],
            &["--read-only"],
            &["--read-only", "--"],
            &["--read-only", "--", ""],
            &["--read-only", "--read-write", "--", "agent"],
            &["--read-only", "--resume", "--"],
            &["--read-only", "agent"],
        ];
        for words in refused {
            assert!(matches!(read(words), Err(OrderError::Usage)), "{words:?}");
        }
    }
}
