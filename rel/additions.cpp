#include "additions.h"

#include <stdexcept>

#include "base/text.h"
#include "life.h"
#include "reprise/capabilities.h"
#include "reprise/store.h"

namespace reprise::rel {
namespace {

// Parses constants of this file, which must be valid.
template <class T>
T parsed(std::string_view text) {
  auto id = T::parse(text);
  if (!id) {
    throw std::logic_error(id.error().message);
  }
  return *std::move(id);
}

}  // namespace

SessionId session(int number) {
  return parsed<SessionId>(cat("01990000-0000-7000-8000-00000000000", number));
}

OperationId operation(std::string_view name) {
  return parsed<OperationId>(name);
}

Time at(int second) {
  return Time{std::chrono::seconds(1'790'000'000 + second)};
}

Session empty_session(int number) {
  return {.info = {.id = session(number),
                   .title = cat("Session ", number),
                   .created_at = at(number),
                   .updated_at = at(number)}};
}

Message message_of(bool words, std::string_view role, std::string text, int second) {
  Message message;
  message.role = words ? role : role::kAssistant;
  message.created_at = at(second);
  if (words) {
    message.blocks.emplace_back(TextBlock{std::move(text), {}});
  }
  if (!words || role == role::kAssistant) {
    message.provider = "openai-responses";
    message.response_id = cat("resp_", second);
  }
  return message;
}

Result<> append_test_message(Store& store) {
  const bool words = store.capabilities().messages;
  std::optional<Partial> running;
  if (Partials* const partials = store.capabilities().partials; partials != nullptr) {
    running = partials->find_partial(session(1)).value_or(std::nullopt);
  }
  REPRISE_ASSIGN(const Session found, get(store, session(1)));
  if (found.info.state == SessionState::archived) {
    REPRISE_TRY(store.capabilities().archives->unarchive(session(1)));
  }
  AppendOptions options;
  if (running) {
    options.end_partial = running->answer;
  }
  auto done = store.append(session(1), {message_of(words, role::kUser, "One more.", 200)}, options);
  return done ? Result<>() : std::unexpected(done.error());
}

bool has_test_message(const Snapshot& snapshot) {
  return snapshot.lasting.contains("One more.") || snapshot.lasting.contains("resp_200");
}

Result<> purge_all(Store& store) {
  Trash* const trash = store.capabilities().trash;
  for (const int number : {3, 2, 1}) {  // forks go before what they share
    REPRISE_ASSIGN(const auto found, store.find(session(number)));
    if (found && trash != nullptr) {
      REPRISE_TRY(trash->trash(session(number), at(201)));
      REPRISE_TRY(trash->purge(session(number)));
    }
  }
  return {};
}

Result<> create_named(Store& store) {
  return store.create(empty_session(1));
}

Result<> add_named(Store& store, const std::string& name, std::size_t bytes) {
  const bool words = store.capabilities().messages;
  Message answer = message_of(words, role::kAssistant, name + std::string(bytes, ' '), 1);
  answer.response_id = name;
  std::vector<Message> turn;
  if (words) {
    turn.push_back(message_of(words, role::kUser, name, 1));
  }
  turn.push_back(std::move(answer));
  auto done = store.append(session(1), std::move(turn), {.operation = operation(name)});
  return done ? Result<>() : std::unexpected(done.error());
}

Result<> add_turn(Store& store, const SessionId& id) {
  const bool words = store.capabilities().messages;
  std::vector<Message> turn;
  if (words) {
    turn.push_back(message_of(words, role::kUser, "Are you still there?", 300));
  }
  turn.push_back(message_of(words, role::kAssistant, "I am.", 301));
  auto done = store.append(id, std::move(turn), {.operation = operation("another-turn")});
  return done ? Result<>() : std::unexpected(done.error());
}

Result<std::vector<std::string>> names_in(Store& store) {
  std::vector<std::string> names;
  if (!store.capabilities().messages) {
    REPRISE_ASSIGN(const Session found, get(store, session(1)));
    for (const ResponseLink& link : found.response_chain) {
      if (!link.response_id.starts_with("resp_")) {
        names.push_back(link.response_id);
      }
    }
    return names;
  }
  bool is_half = false;
  REPRISE_TRY(store.read(session(1), {}, [&](const Message& message) {
    is_half = message.role == role::kUser;
    if (!is_half) {
      names.push_back(message.response_id);
    }
    return Flow::proceed;
  }));
  return is_half ? Result<std::vector<std::string>>(fail(Code::corrupt, "half a turn is there"))
                 : names;
}

}  // namespace reprise::rel
