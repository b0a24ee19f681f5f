#include "contract/store_contract.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <ostream>

#include "reprise/store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {

void PrintTo(const StoreCase& store_case, std::ostream* out) {
  *out << store_case.name;
}

StoreContract::StoreContract()
    : store_(must(GetParam().open(folder_.path(), {.clock = &clock_}))) {}

std::unique_ptr<Store> StoreContract::another() {
  return GetParam().is_persistent ? must(GetParam().open(folder_.path(), {.clock = &clock_}))
                                  : nullptr;
}

void StoreContract::reopen() {
  if (GetParam().is_persistent) {
    store_.reset();
    store_ = must(GetParam().open(folder_.path(), {.clock = &clock_}));
  }
}

SessionId StoreContract::create(std::string_view id, std::vector<Message> messages) {
  return create(session(id), std::move(messages));
}

SessionId StoreContract::create(const Session& session, std::vector<Message> messages) {
  must(store().create(holdable(session)));
  if (!messages.empty()) {
    append(session.info.id, std::move(messages));
  }
  return session.info.id;
}

Session StoreContract::holdable(Session session) {
  const Capabilities& holds = store().capabilities();
  if (!holds.config) {
    session.config = RawJson();
  }
  if (!holds.modes) {
    session.info.mode.clear();
  }
  if (!holds.folders) {
    session.info.working_dir.clear();
  }
  if (!holds.system_prompt) {
    session.system_prompt.clear();
  }
  return session;
}

Message StoreContract::holdable(Message message) {
  const Capabilities& holds = store().capabilities();
  if (!holds.blocks) {
    std::erase_if(message.blocks,
                  [](const Block& block) { return !std::holds_alternative<TextBlock>(block); });
  }
  if (!holds.message_details) {
    message.author.reset();
    message.provider.clear();
    message.model.clear();
    message.response_id.clear();
    message.usage.reset();
    message.state = MessageState::complete;
  }
  return message;
}

std::vector<Message> StoreContract::appendable(std::vector<Message> messages) {
  if (!capabilities().messages) {
    for (Message& message : messages) {
      message.blocks.clear();
    }
  }
  return messages;
}

std::vector<Message> StoreContract::readable(std::vector<Message> messages) {
  return capabilities().messages ? numbered(std::move(messages)) : std::vector<Message>();
}

std::vector<std::string> StoreContract::listed_ids(const SessionQuery& query) {
  return ids_of(listed(query));
}

std::vector<std::string> ids_of(const std::vector<SessionInfo>& sessions) {
  std::vector<std::string> ids;
  ids.reserve(sessions.size());
  for (const SessionInfo& info : sessions) {
    ids.push_back(info.id.str());
  }
  return ids;
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, testing::ValuesIn(store_cases()),
                         [](const auto& one) { return one.param.name; });

}  // namespace reprise::test
