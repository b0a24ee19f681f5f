// conversation_driver STORE SESSION PROVIDER URL TURNS SEED [QUESTION]
//
// Continues the conversation of turns.h (or asks the same question in every turn) from the end of
// its record, and reports on standard output: "start", "turn N", "text PIECE" while the answer
// streams, the lines of AcknowledgingStore, "warning TEXT", then "done", or "failed TEXT". May be
// killed at any point and started again.

#include <unistd.h>

#include <charconv>

#include "base/file.h"
#include "base/json_write.h"
#include "base/text.h"
#include "e2e/acknowledging_store.h"
#include "e2e/turns.h"
#include "reprise/conversation.h"
#include "reprise/open_store.h"

namespace reprise::e2e {
namespace {

constexpr int kContinuationsMax = 5;

// One line in one write, so that readers never see an incomplete one while this process lives.
void say(const std::string& line) {
  if (!write_all(STDOUT_FILENO, line + "\n", "standard output")) {
    ::_exit(3);  // nobody reads
  }
}

class Observer final : public TurnObserver {
 public:
  void on_text(std::string_view text) override { say(cat("text ", json::quoted(text))); }
  void on_warning(std::string_view text) override { say(cat("warning ", text)); }
};

std::int64_t number(std::string_view text) {
  std::int64_t out = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), out);  // the test's own arguments
  return out;
}

Result<std::int64_t> count_questions(Store& store, const SessionId& id) {
  std::int64_t out = 0;
  REPRISE_TRY(store.read(id, {}, [&](const Message& message) {
    out += message.role == role::kUser ? 1 : 0;
    return Flow::proceed;
  }));
  return out;
}

// Continues until the answer is complete.
Result<> finish(Conversation& conversation, Result<Outcome> outcome) {
  Observer observer;
  for (int i = 0; i < kContinuationsMax; ++i) {
    if (!outcome) {
      return std::unexpected(outcome.error());
    }
    if (!outcome->saved) {
      return fail(Code::io, "an answer was not saved");
    }
    if (!outcome->error) {
      return {};
    }
    outcome = conversation.continue_turn(observer);
  }
  return fail(Code::io, "the answer was cut too often");
}

Result<> run(const std::vector<std::string_view>& arguments) {
  if (arguments.size() < 6) {
    return fail(Code::invalid_argument, "six arguments are needed");
  }
  say("start");
  REPRISE_ASSIGN(auto chat_store, open_store(arguments[0]));
  REPRISE_ASSIGN(const auto id, SessionId::parse(arguments[1]));
  REPRISE_ASSIGN(
      const auto provider,
      make_provider(arguments[2], {.base_url = std::string(arguments[3]), .store = true}));
  const std::int64_t turns = number(arguments[4]);
  const auto seed = static_cast<std::uint64_t>(number(arguments[5]));
  AcknowledgingStore store(std::move(chat_store), say);
  ToolRegistry tools;
  add_tools(tools);
  REPRISE_ASSIGN(auto session, get(store, id));
  Conversation conversation(*provider, &store, session, {.model = "m", .tools = &tools});
  Observer observer;
  auto unfinished = conversation.continue_turn(observer);
  if (unfinished || unfinished.error().code != Code::invalid_argument) {
    REPRISE_TRY(finish(conversation, std::move(unfinished)));
  }
  REPRISE_ASSIGN(std::int64_t turn, count_questions(store, id));
  for (; turn < turns; ++turn) {
    say(cat("turn ", turn));
    REPRISE_TRY(finish(
        conversation,
        conversation.ask(arguments.size() > 6 ? std::string(arguments[6]) : question(seed, turn),
                         observer)));
  }
  return {};
}

}  // namespace
}  // namespace reprise::e2e

int main(int argc, char** argv) {
  const auto done = reprise::e2e::run({argv + 1, argv + argc});
  reprise::e2e::say(done ? "done" : reprise::cat("failed ", done.error().message));
  return done ? 0 : 1;
}
