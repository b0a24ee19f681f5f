// Notes in the session for later turns: refused questions, and the part of the history that fits.

#include "base/text.h"
#include "engine/record.h"
#include "engine/session_notes.h"

namespace reprise {

void Record::end_unanswered(bool refused) {
  const bool keeps_question = messages_ == nullptr || messages_->capabilities().open_questions;
  if (!keeps_question) {
    withdraw_question();
  }
  add({.end_answer = true});
  if (keeps_question && refused) {
    note_refusal();
  }
}

void Record::withdraw_question() {
  const auto from = std::exchange(question_at_, std::nullopt);
  if (from && pending_.empty() && rewriting() != nullptr) {
    add({.end_answer = true, .replace_from = from});
  }
}

void Record::note_refusal() {
  std::optional<Time> question;
  const auto newest = [&question](const Message& message, const HistoryPlace&) {
    question = is_question(message) ? std::optional(message.created_at) : std::nullopt;
    return Flow::stop;
  };
  const auto read = read_backwards(slice(), newest);
  if (!read || !question) {
    return;  // an unreadable history was reported before
  }
  note("that the question was refused",
       [question](Extra extra) { return with_refused_question(std::move(extra), *question); });
}

void Record::note_start(const RequestStart& start) {
  note("what fits into a request",
       [&start](Extra extra) { return with_request_start(std::move(extra), start); });
}

// The change also applies to this conversation if it cannot be stored.
void Record::note(std::string_view what, const std::function<Extra(Extra)>& change) {
  session_.extra = change(std::move(session_.extra));
  if (messages_ == nullptr || !pending_.empty()) {
    return;
  }
  auto stored = get(*messages_, session_.info.id);  // other processes may have changed it, too
  if (stored) {
    Extra extra = change(std::move(stored->extra));
    const auto noted = messages_->update(session_.info.id, {.extra = std::move(extra)});
    if (noted) {
      return;
    }
    stored = std::unexpected(noted.error());
  }
  warn(cat("cannot record ", what, ": ", stored.error().message));
}

}  // namespace reprise
