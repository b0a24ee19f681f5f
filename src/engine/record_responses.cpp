// The record of a session whose words only the provider has.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/record.h"
#include "reprise/conversation.h"
#include "reprise/environment.h"
#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"

namespace reprise {

bool Record::has_all_words() const {
  return keeps_words() || std::ranges::all_of(session_.response_chain, [this](const auto& link) {
           return std::ranges::find(memory_, link.response_id, &Message::response_id) !=
                  memory_.end();
         });
}

void Record::add_response(const Message& answer) {
  if (store_ == nullptr || keeps_words_ || answer.response_id.empty()) {
    return;
  }
  Message bare = answer;
  bare.blocks.clear();
  bare.extra.clear();
  Batch batch{.messages = {std::move(bare)},
              .operation = make_operation_id(options_.clock, options_.entropy),
              .end = std::nullopt,
              .begin = std::nullopt,
              .replace_from = std::nullopt};
  session_.response_chain.push_back({answer.provider, answer.response_id});
  session_.info.updated_at = answer.created_at;
  pending_.push_back(std::move(batch));
  flush();
}

// A session that is not there yet is created with its ids, so that it never is without them.
Result<Appended> Record::write_response(const Batch& batch) {
  auto appended = store_->append(session_.info.id, batch.messages, {.operation = batch.operation});
  if (appended || appended.error().code != Code::not_found) {
    return appended;
  }
  if (const auto created = store_->create(session_);
      !created && created.error().code != Code::conflict) {
    return std::unexpected(created.error());
  }
  return store_->append(session_.info.id, batch.messages, {.operation = batch.operation});
}

void Record::begin_anew() {
  if (Trash* const trash = store_->offers().trash; trash != nullptr) {
    const auto trashed = trash->trash(session_.info.id, options_.clock.now());
    if (!trashed && trashed.error().code != Code::not_found) {
      failed(trashed.error());
    }
  }
  pending_.clear();
  const auto question = std::ranges::find(memory_, role::kUser, &Message::role);
  session_.info.id = make_session_id(options_.clock, options_.entropy, store_->holds().new_ids);
  session_.info.title = question == memory_.end() ? "" : title_from_prompt(plain_text(*question));
  session_.info.created_at = options_.clock.now();
  session_.info.updated_at = session_.info.created_at;
  session_.response_chain.clear();
  session_.usage = {};
}

}  // namespace reprise
