//! Tokens: minted, narrowed, forged.

use proptest::prelude::*;
use windlass_protocols::protocol::story_queue::vocabulary::Uuid;

use super::*;

fn key(byte: u8) -> SigningKey {
    SigningKey::from_seed(Seed([byte; 32]))
}

fn dispatch(byte: u8) -> DispatchId {
    DispatchId(Uuid([byte; 16]))
}

fn grant() -> Grant {
    Grant {
        opens: Opens::ReportCap,
        tenant: TenantId(Uuid([1; 16])),
        story: StoryId(Uuid([2; 16])),
        holder: Some(Holder { agent: Some(AgentId(Uuid([3; 16]))), lineage: vec![dispatch(4), dispatch(5)] }),
        issued: Micros::seconds(100),
        expires: Micros::seconds(3700),
        nonce: TokenId(Uuid([6; 16])),
    }
}

const LINEAGE: [DispatchId; 2] = [DispatchId(Uuid([4; 16])), DispatchId(Uuid([5; 16]))];

fn shown() -> Presentation<'static> {
    let grant = grant();
    Presentation {
        opens: grant.opens,
        tenant: grant.tenant,
        story: grant.story,
        agent: Some(AgentId(Uuid([3; 16]))),
        lineage: &LINEAGE,
        at: Micros::seconds(200),
    }
}

fn minted() -> Capability {
    Capability::mint(&key(9), grant(), Seed([10; 32]))
}

fn check(token: &Capability, shown: &Presentation<'_>) -> Result<(), Rejected> {
    token.check(key(9).public(), shown, |_| false).map(|_| ())
}

/// Through its text, as it travels.
fn travelled(token: &Capability) -> Capability {
    token.to_string().parse().unwrap()
}

#[test]
fn a_token_opens_what_it_was_minted_for() {
    assert_eq!(check(&travelled(&minted()), &shown()), Ok(()));
}

#[test]
fn each_wrong_thing_has_its_code() {
    let token = minted();
    let other = Uuid([99; 16]);
    let cases = [
        (Presentation { tenant: TenantId(other), ..shown() }, "invalid_capability"),
        (Presentation { opens: Opens::VerifyCap, ..shown() }, "wrong_type"),
        (Presentation { story: StoryId(other), ..shown() }, "wrong_story"),
        (Presentation { lineage: &LINEAGE[..1], ..shown() }, "wrong_lineage"),
        (Presentation { lineage: &[], ..shown() }, "wrong_lineage"),
        (Presentation { agent: Some(AgentId(other)), ..shown() }, "wrong_lineage"),
        (Presentation { agent: None, ..shown() }, "wrong_lineage"),
        (Presentation { at: Micros::seconds(3700), ..shown() }, "expired"),
    ];
    for (shown, code) in cases {
        assert_eq!(check(&token, &shown).unwrap_err().code(), code, "{shown:?}");
    }
    let replayed = token.check(key(9).public(), &shown(), |nonce| nonce == grant().nonce);
    assert_eq!(replayed.unwrap_err().code(), "replay");
    let by_another = token.check(key(8).public(), &shown(), |_| false);
    assert_eq!(by_another.unwrap_err().code(), "invalid_signature");
}

/// Everything is wrong at once; mending one thing after the other walks through the codes in the order of the original.
#[test]
fn the_order_of_the_checks_is_fixed() {
    let other = Uuid([99; 16]);
    let mut shown = Presentation {
        opens: Opens::StartCap,
        tenant: TenantId(other),
        story: StoryId(other),
        agent: None,
        lineage: &[],
        at: Micros::seconds(9999),
    };
    let right = self::shown();
    let token = minted();
    let code = |shown: &Presentation<'_>, used: bool| {
        token.check(key(8).public(), shown, |_| used).unwrap_err().code()
    };
    assert_eq!(code(&shown, true), "invalid_capability");
    shown.tenant = right.tenant;
    assert_eq!(code(&shown, true), "wrong_type");
    shown.opens = right.opens;
    assert_eq!(code(&shown, true), "wrong_story");
    shown.story = right.story;
    assert_eq!(code(&shown, true), "wrong_lineage");
    (shown.agent, shown.lineage) = (right.agent, right.lineage);
    assert_eq!(code(&shown, true), "expired");
    shown.at = right.at;
    assert_eq!(code(&shown, true), "replay");
    assert_eq!(code(&shown, false), "invalid_signature");
}

#[test]
fn a_holder_shortens_a_token_and_cannot_lengthen_it() {
    let narrowing = Narrowing { expires: Some(Micros::seconds(300)), dispatch: None };
    let short = travelled(&minted().narrow(narrowing, Seed([11; 32])).unwrap());
    assert_eq!(check(&short, &shown()), Ok(()));
    let late = Presentation { at: Micros::seconds(300), ..shown() };
    assert_eq!(check(&short, &late), Err(Rejected::Expired));
    let longer = Narrowing { expires: Some(Micros::seconds(99_999)), dispatch: None };
    let longer = short.narrow(longer, Seed([12; 32])).unwrap();
    assert_eq!(check(&longer, &late), Err(Rejected::Expired));
}

#[test]
fn a_token_for_whoever_comes_is_bound_to_a_dispatch_on_the_way() {
    let open = Capability::mint(&key(9), Grant { holder: None, ..grant() }, Seed([10; 32]));
    let narrowing = Narrowing { expires: None, dispatch: Some(dispatch(5)) };
    let bound = travelled(&open.narrow(narrowing, Seed([11; 32])).unwrap());
    assert_eq!(check(&bound, &shown()), Ok(()));
    let stranger = [dispatch(4), dispatch(7)];
    let stranger = Presentation { lineage: &stranger, ..shown() };
    assert_eq!(check(&bound, &stranger), Err(Rejected::WrongLineage));
    let child = [dispatch(4), dispatch(5), dispatch(8)];
    assert_eq!(check(&bound, &Presentation { lineage: &child, ..shown() }), Ok(()));
}

#[test]
fn a_narrowing_cannot_be_cut_off_swapped_or_moved_to_another_token() {
    let narrowing = |seconds| Narrowing { expires: Some(Micros::seconds(seconds)), dispatch: None };
    let once = minted().narrow(narrowing(300), Seed([11; 32])).unwrap();
    let twice = once.clone().narrow(narrowing(250), Seed([12; 32])).unwrap();
    let text = twice.to_string();
    let parts: Vec<&str> = text.split('.').collect();
    let [mark, grant, first, second, secret] = parts.as_slice() else { panic!("{text}") };
    let forged = [
        [*mark, grant, secret].join("."),
        [*mark, grant, first, secret].join("."),
        [*mark, grant, second, secret].join("."),
        [*mark, grant, second, first, secret].join("."),
        [*mark, grant, first, second, second, secret].join("."),
    ];
    for text in forged {
        let token: Capability = text.parse().unwrap();
        assert_eq!(check(&token, &shown()), Err(Rejected::InvalidSignature), "{text}");
    }
    let other =
        Capability::mint(&key(9), Grant { holder: None, ..self::grant() }, Seed([13; 32])).to_string();
    let moved = [*mark, other.split('.').nth(1).unwrap(), first, second, secret].join(".");
    assert_eq!(check(&moved.parse().unwrap(), &shown()), Err(Rejected::InvalidSignature));
    assert!([*mark, secret].join(".").parse::<Capability>().is_err());
}

#[test]
fn checking_stays_bounded() {
    let mut token = minted();
    for number in 1..MOST_BLOCKS {
        let seed = Seed([u8::try_from(number).unwrap(); 32]);
        token = token.narrow(Narrowing::default(), seed).unwrap();
    }
    assert_eq!(check(&travelled(&token), &shown()), Ok(()));
    assert_eq!(token.narrow(Narrowing::default(), Seed([0; 32])), Err(TooNarrow));
    let endless = format!("{}{}", minted(), ".AAAA".repeat(3000));
    assert_eq!(endless.parse::<Capability>(), Err(NotACapability));
}

#[test]
fn printing_a_token_for_people_keeps_its_secret() {
    let printed = format!("{:?}", minted());
    assert!(printed.contains("ReportCap") && !printed.contains("secret"), "{printed}");
}

proptest! {
    #[test]
    fn any_changed_byte_of_the_text_is_found(at in 0_usize..10_000, with in 0x20_u8..0x7f) {
        let narrowing = Narrowing { expires: Some(Micros::seconds(300)), dispatch: Some(dispatch(5)) };
        let token = minted().narrow(narrowing, Seed([11; 32])).unwrap();
        let mut text = token.to_string().into_bytes();
        let at = at % text.len();
        prop_assume!(text[at] != with);
        text[at] = with;
        if let Ok(forged) = String::from_utf8(text).unwrap().parse::<Capability>() {
            prop_assert!(check(&forged, &shown()).is_err());
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "(wcap1)?[.A-Za-z0-9_-]{0,300}") {
        let _ = text.parse::<Capability>();
    }
}
