//! Capability tokens in their holder's hands: made narrower, or checked, without asking anybody. No queue is known here.

use super::shown::Shown;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::io::Read as _;
use std::path::PathBuf;
use windlass_control_api::{Code, Fault};
use windlass_custody_proofs::capability::{Capability, Narrowing};
use windlass_custody_proofs::keys::{PublicKey, Seed};

#[derive(Debug, Subcommand)]
pub(crate) enum Token {
    Narrow(NarrowArgs),
    Check(CheckArgs),
}

/// Print a token that allows less than this one; needs no server
#[derive(Args, Debug)]
pub(crate) struct NarrowArgs {
    /// The token, or `-` for standard input
    token: String,
    /// It ends so many seconds from now, or when this one does
    #[arg(long, value_name = "SECONDS", required_unless_present = "dispatch")]
    expires_in: Option<u64>,
    /// Only this dispatch may use it, and what it dispatches itself
    #[arg(long, value_name = "ID")]
    dispatch: Option<String>,
}

/// Say what a token allows, and whether the tenant's key stands behind it; needs no server
#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// The token, or `-` for standard input
    token: String,
    /// The tenant's public key, PEM, as GET /tenants/ID/audit_public_key gives it
    #[arg(long, value_name = "FILE")]
    public_key: PathBuf,
}

impl Token {
    pub(super) fn play(&self) -> Result<Shown, Fault> {
        match self {
            Self::Narrow(args) => narrow(args),
            Self::Check(args) => check(args),
        }
    }
}

fn read(token: &str) -> Result<Capability, Fault> {
    let mut text = token.to_owned();
    if token == "-" {
        text.clear();
        std::io::stdin()
            .read_to_string(&mut text)
            .map_err(|error| Fault::new(Code::FileSystem, format!("cannot read standard input: {error}")))?;
    }
    text.trim().parse().map_err(|_| {
        Fault::new(Code::BadArgument, "this is no capability token")
            .hint("it is the `token` of a `…_cap` in an answer, whole, from `wcap1.` to its end")
    })
}

fn now_micros() -> u64 {
    u64::try_from(jiff::Timestamp::now().as_microsecond()).unwrap_or(0)
}

fn narrow(args: &NarrowArgs) -> Result<Shown, Fault> {
    let text = narrowed(args)?;
    Ok(Shown::said(json!({ "token": text }), text))
}

fn narrowed(args: &NarrowArgs) -> Result<String, Fault> {
    let capability = read(&args.token)?;
    let mut wanted = json!({});
    if let Some(seconds) = args.expires_in {
        wanted["expires"] = json!(now_micros().saturating_add(seconds.saturating_mul(1_000_000)));
    }
    if let Some(dispatch) = &args.dispatch {
        wanted["dispatch"] = json!(dispatch);
    }
    let wanted: Narrowing = serde_json::from_value(wanted).map_err(|error| {
        Fault::new(Code::BadArgument, format!("--dispatch is no id: {error}"))
            .hint("`windlass story dispatch` prints it")
    })?;
    let mut seed = [0; 32];
    getrandom::fill(&mut seed)
        .map_err(|error| Fault::new(Code::FileSystem, format!("cannot get random bytes: {error}")))?;
    let narrower = capability.narrow(wanted, Seed(seed));
    narrower
        .map(|token| token.to_string())
        .map_err(|error| Fault::new(Code::BadArgument, error.to_string()).kept("the token as it was"))
}

fn check(args: &CheckArgs) -> Result<Shown, Fault> {
    let capability = read(&args.token)?;
    let file = args.public_key.display();
    let pem = std::fs::read_to_string(&args.public_key)
        .map_err(|error| Fault::new(Code::BadArgument, format!("cannot read {file}: {error}")))?;
    let key = PublicKey::from_pem(&pem)
        .map_err(|_| Fault::new(Code::BadArgument, format!("{file} holds no public key")))?;
    if !capability.signatures_hold(key) {
        let message =
            "this key does not stand behind the token: it is another tenant's, of another key, or forged";
        return Err(
            Fault::new(Code::NotVerified, message).hint("`windlass story recover-cap STORY` gets another")
        );
    }
    let ends = capability.ends().0;
    if now_micros() >= ends {
        return Err(Fault::new(Code::NotVerified, format!("the token has expired, {}", moment(ends)))
            .hint("`windlass story recover-cap STORY` gets another"));
    }
    let grant = serde_json::to_value(capability.claimed()).unwrap_or_default();
    let opens = grant["opens"].as_str().unwrap_or_default().to_owned();
    let story = grant["story"].as_str().unwrap_or_default().to_owned();
    let sentence = format!(
        "the token holds: {opens} for story {story} until {}; whether it was used only the queue knows",
        moment(ends)
    );
    let value: Value = json!({ "holds": true, "opens": opens, "story_id": story, "holder": grant["holder"], "ends": moment(ends) });
    Ok(Shown::said(value, sentence))
}

fn moment(micros: u64) -> String {
    let micros = i64::try_from(micros).unwrap_or(i64::MAX);
    jiff::Timestamp::from_microsecond(micros).map(|at| at.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_custody_proofs::capability::Grant;
    use windlass_custody_proofs::keys::SigningKey;

    const ID: &str = "00000000-0000-0000-0000-000000000001";

    fn minted() -> (String, SigningKey) {
        let tenant = SigningKey::from_seed(Seed([1; 32]));
        let grant: Grant = serde_json::from_value(json!({
            "opens": "start_cap", "tenant": ID, "story": ID, "holder": null, "issued": 0,
            "expires": now_micros() + 3_600_000_000, "nonce": ID,
        }))
        .unwrap();
        (Capability::mint(&tenant, grant, Seed([2; 32])).to_string(), tenant)
    }

    fn checked(token: &str, key: &SigningKey) -> Result<(), Fault> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), key.public().to_pem()).unwrap();
        check(&CheckArgs { token: token.to_owned(), public_key: file.path().to_owned() }).map(drop)
    }

    fn less(token: &str, expires_in: Option<u64>, dispatch: Option<&str>) -> Result<String, Fault> {
        narrowed(&NarrowArgs { token: token.to_owned(), expires_in, dispatch: dispatch.map(str::to_owned) })
    }

    #[test]
    fn a_token_is_narrowed_and_checked_without_anybody() {
        let (token, tenant) = minted();
        checked(&token, &tenant).unwrap();
        checked(&less(&token, Some(60), Some(ID)).unwrap(), &tenant).unwrap();
        let other = checked(&token, &SigningKey::from_seed(Seed([9; 32]))).unwrap_err();
        assert_eq!(other.code, Code::NotVerified);
        let forged = token.replace("wcap1.", "wcap1.A");
        assert!(checked(&forged, &tenant).is_err());
    }

    #[test]
    fn one_that_was_narrowed_to_nothing_has_expired() {
        let (token, tenant) = minted();
        let over = less(&token, Some(0), None).unwrap();
        let fault = checked(&over, &tenant).unwrap_err();
        assert!(fault.message.starts_with("the token has expired"), "{fault}");
    }

    #[test]
    fn what_is_no_token_or_no_dispatch_is_told() {
        let (token, _) = minted();
        let fault = less(&token, None, Some("x")).unwrap_err();
        assert!(fault.message.contains("--dispatch is no id"), "{fault}");
        assert_eq!(read("wcap1.made-up").unwrap_err().code, Code::BadArgument);
    }
}
