// What a store without messages gets: the ids of the answers that end turns.

#include <algorithm>

#include "engine/record.h"

namespace reprise {

void ResponseLog::add(const Message& answer, OperationId operation) {
  waiting_.emplace_back(answer, std::move(operation));
}

Result<> ResponseLog::flush(const Session& session) {
  for (; !waiting_.empty(); waiting_.pop_front()) {
    const auto& [answer, operation] = waiting_.front();
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
  responses_->add(answer, make_operation_id(options_.clock, options_.entropy));
  flush();
}

void Record::start_new_session() {
  if (Trash* const trash = store_->capabilities().trash; trash != nullptr) {
    const auto trashed = trash->trash(session_.info.id, options_.clock.now());
    if (!trashed && trashed.error().code != Code::not_found) {
      failed(trashed.error());
    }
  }
  responses_->clear();
  const auto question = std::ranges::find(memory_, role::kUser, &Message::role);
  session_.info.id =
      make_session_id(options_.clock, options_.entropy, store_->capabilities().new_ids);
  session_.info.title = question == memory_.end() ? "" : title_from_prompt(plain_text(*question));
  session_.info.created_at = options_.clock.now();
  session_.info.updated_at = session_.info.created_at;
  session_.response_chain.clear();
  session_.usage = {};
}

}  // namespace reprise
