//! What a person says with the command about stories that wait for them: try this one again, or let stand what others did. Nothing
//! is begun here.

use super::alarm::is_said_to_be_done;
use super::checkpoint::Escalation;
use super::office::Office;
use super::waiting::taken_back;
use windlass_control_api::{Code, Fault};

/// Stories that wait no longer, by id.
#[derive(Debug, Default)]
pub(super) struct Word {
    pub(super) again: Vec<String>,
    /// With their numbers.
    pub(super) accepted: Vec<(String, String)>,
}

impl Word {
    pub(super) fn is_silent(&self) -> bool {
        self.again.is_empty() && self.accepted.is_empty()
    }

    pub(super) fn is_about(&self, id: &str) -> bool {
        self.again.iter().any(|one| one == id) || self.accepted.iter().any(|(one, _)| one == id)
    }
}

/// Everything that was said holds, or nothing does.
pub(super) async fn heard(office: &Office<'_>) -> Result<Word, Fault> {
    let mut word = Word::default();
    for named in &office.command.retry {
        let (id, one) = waiting(office, named)?;
        require_that_it_can_be_tried(office, &id, &one).await?;
        word.again.push(id);
    }
    for named in &office.command.accept {
        let (id, one) = waiting(office, named)?;
        if !one.alarm {
            return Err(Fault::new(
                Code::NotAllowedNow,
                format!("{named} waits for a person, but nobody else called it done"),
            )
            .hint(format!(
                "`{} --retry US-{}` lets it be tried again",
                office.again(),
                one.number
            )));
        }
        word.accepted.push((id, one.number));
    }
    Ok(word)
}

fn waiting(office: &Office<'_>, named: &str) -> Result<(String, Escalation), Fault> {
    let bare = named.trim_start_matches("US-").trim_start_matches("us-");
    let found = office.notes.read(|note| {
        let one = note.escalated.iter().find(|(id, one)| *id == named || one.number == bare);
        one.map(|(id, one)| (id.clone(), one.clone()))
    });
    found.ok_or_else(|| Fault::new(Code::BadArgument, format!("{named} does not wait for a person")))
}

/// A story that counts as done is not tried, however often a person says so: their word would only hide by whose it is done.
async fn require_that_it_can_be_tried(office: &Office<'_>, id: &str, one: &Escalation) -> Result<(), Fault> {
    let name = format!("US-{}", one.number);
    if one.for_good {
        let times = super::plan::STOP_AFTER;
        return Err(Fault::new(
            Code::NotAllowedNow,
            format!("{name} was sent back {times} times; it is not tried again"),
        )
        .hint(
            "split it into new stories, or do it by hand as an agent of your own and have others verify it",
        ));
    }
    if one.alarm && is_said_to_be_done(&office.story(id).await?) {
        let take_back = taken_back(&name, &office.project.slug);
        return Err(Fault::new(
            Code::NotAllowedNow,
            format!("{name} still counts as done by the word of others, so there is nothing to try again"),
        )
        .kept("the alarm stands, and nothing was begun")
        .hint(format!("`{take_back}` takes it back; then say this again"))
        .hint(format!(
            "`{} --accept {name}` if you know them and let their word stand; nothing of it lands here",
            office.again()
        )));
    }
    Ok(())
}
