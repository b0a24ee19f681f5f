// What a record stores beside the messages: notes in the session for later turns (refused
// questions), and in a store without messages the ids of the
// answers that end turns.

#include <algorithm>

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
    record_refusal();
  }
}

void Record::withdraw_question() {
  const auto from = std::exchange(question_at_, std::nullopt);
  if (from && pending_.empty() && rewriting() != nullptr) {
    add({.end_answer = true, .replace_from = from});
  }
}

void Record::record_refusal() {
  std::optional<Time> question;
  const auto newest = [&question](const Message& message, const HistoryPosition&) {
    question = is_question(message) ? std::optional(message.created_at) : std::nullopt;
    return Flow::stop;
  };
  const auto read = read_backwards(slice(), newest);
  if (!read || !question) {
    return;  // an unreadable history was reported before
  }
  update_extra("that the question was refused", [question](Extra extra) {
    return with_refused_question(std::move(extra), *question);
  });
}

// The change also applies to this conversation if it cannot be stored.
void Record::update_extra(std::string_view subject, const std::function<Extra(Extra)>& change) {
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
  warn(cat("cannot record ", subject, ": ", stored.error().message));
}

void ResponseLog::add(const Message& answer, OperationId operation) {
  pending_.emplace_back(answer, std::move(operation));
}

Result<> ResponseLog::flush(const Session& session) {
  for (; !pending_.empty(); pending_.pop_front()) {
    const auto& [answer, operation] = pending_.front();
    REPRISE_TRY(responses_.add_response(session, answer, operation));
  }
  return {};
}

bool Record::has_all_messages() const {
  return responses_ == nullptr ||
         std::ranges::all_of(session_.response_chain, [this](const auto& link) {
           return std::ranges::find(memory_, link.response_id, &Message::response_id) !=
                  memory_.end();
         });
}

void Record::add_response(const Message& answer) {
  if (responses_ == nullptr || answer.response_id.empty()) {
    return;
  }
  session_.response_chain.push_back({answer.provider, answer.response_id});
  session_.info.updated_at = answer.created_at;
  session_.info.arrived_at.reset();
  responses_->add(answer, make_operation_id(options_.clock, options_.entropy));
  flush();
}

void Record::start_new_session() {
  if (Trash* const trash = store_->capabilities().trash; trash != nullptr) {
    const auto trashed = trash->trash(session_.info.id, options_.clock.now());
    if (!trashed && trashed.error().code != Code::not_found) {
      on_failed(trashed.error());
    }
  }
  responses_->clear();
  const auto question = std::ranges::find(memory_, role::kUser, &Message::role);
  session_.info.id =
      make_session_id(options_.clock, options_.entropy, store_->capabilities().new_ids);
  session_.info.title = question == memory_.end() ? "" : title_from_prompt(plain_text(*question));
  session_.info.created_at = options_.clock.now();
  session_.info.updated_at = session_.info.created_at;
  session_.info.arrived_at.reset();
  session_.response_chain.clear();
  session_.usage = {};
}

}  // namespace reprise
