// End to end: a conversation with tools, in every store with text, whose process is killed (kill
// -9) again and again, and continues each time. In the end
//  (1) every acknowledged message exists, in order and unchanged,
//  (2) every question was asked once, and answered,
//  (3) the server has accepted every request.
// REPRISE_LONG=1 makes each conversation four times as long; REPRISE_SEED=N generates other ones.

#include "reprise/conversation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <ostream>
#include <random>

#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "base/variable.h"
#include "e2e/child_process.h"
#include "e2e/turns.h"
#include "fake_provider/fake_provider.h"
#include "fake_provider/json_value.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::e2e {
namespace {

using test::must;

constexpr const char* kSession = "0190a3c2-0000-7000-8000-000000000001";

std::int64_t number(std::string_view text) {
  std::int64_t out = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), out);  // 0 for no number
  return out;
}

// The reports of the driver so far.
class Ledger {
 public:
  void take(std::string_view line) {
    const auto blank = line.find(' ');
    const std::string_view word = line.substr(0, blank);
    const std::string_view rest = blank == std::string_view::npos ? "" : line.substr(blank + 1);
    if (word == "stored") {
      acknowledge(number(rest), must(message_from_json(rest.substr(rest.find(' ') + 1))));
    } else if (word == "replacing") {
      give_way(number(rest));
    } else if ((word == "warning" && !rest.starts_with("waiting ")) || word == "failed") {
      complaints_.emplace_back(line);  // waits for the provider are not complaints
    }
  }

  // Invariant (1). Messages stored at the time of a kill may exist unacknowledged.
  void check(const std::vector<Message>& record, std::size_t unacknowledged_max) const {
    EXPECT_EQ(complaints_, std::vector<std::string>{});
    for (const auto& [seq, message] : stored_) {
      ASSERT_LT(seq, static_cast<std::int64_t>(record.size()));
      Message found = record[static_cast<std::size_t>(seq)];
      EXPECT_EQ(found.seq.value, seq);
      found.seq = message.seq;
      EXPECT_EQ(message_to_json(found), message_to_json(message)) << "seq " << seq;
    }
    EXPECT_LE(record.size() - stored_.size(), unacknowledged_max);
    for (const auto& [seq, text] : beginnings_) {
      ASSERT_LT(seq, static_cast<std::int64_t>(record.size()));
      EXPECT_TRUE(plain_text(record[static_cast<std::size_t>(seq)]).starts_with(text))
          << "seq " << seq << " has lost: " << text;
    }
  }

  std::size_t given_way() const { return beginnings_.size(); }

 private:
  // Another message in the position of an acknowledged one that was not replaced: that one was
  // lost.
  void acknowledge(std::int64_t seq, Message message) {
    const auto [place, added] = stored_.try_emplace(seq, message);
    if (!added && place->second != message) {
      complaints_.push_back(cat("lost: ", seq, " ", message_to_json(place->second)));
      place->second = std::move(message);
    }
  }

  // An interrupted answer is replaced by a longer one that begins with its text.
  void give_way(std::int64_t from) {
    const auto first = stored_.lower_bound(from);
    if (first != stored_.end() && first->first == from) {
      beginnings_.emplace_back(from, plain_text(first->second));
    }
    stored_.erase(first, stored_.end());
  }

  std::map<std::int64_t, Message> stored_;
  std::vector<std::pair<std::int64_t, std::string>> beginnings_;
  std::vector<std::string> complaints_;
};

struct Plan {
  std::vector<std::string> providers;  // in turn, one per process
  std::int64_t turns = 0;
  int kills = 0;
  std::uint64_t seed = 0;
};

// The URLs of stores, to which the path is appended.
struct StorePlace {
  std::string name;
  std::string place;  // in the test's folder
};
void PrintTo(const StorePlace& store, std::ostream* out) {
  *out << store.name;
}
const StorePlace kSqlite{"sqlite", "reprise.db"};

class ConversationE2e : public testing::Test {
 protected:
  explicit ConversationE2e(StorePlace store = kSqlite) : store_(std::move(store)) {}

  static Plan plan(std::vector<std::string> providers, std::uint64_t seed) {
    const int factor = variable("REPRISE_LONG").empty() ? 1 : 4;
    const auto more = static_cast<std::uint64_t>(number(variable("REPRISE_SEED")));
    return {std::move(providers), 50 * factor, 5 * factor, seed + more * 100};
  }

  void start(std::uint64_t seed) {
    server_ = must(fake::FakeProvider::start({.port = 0, .key = "", .seed = seed}));
    for (const std::string_view line : script()) {
      must(server_->add_rule(line));
    }
    const auto store = must(open_store(url()));
    must(store->create(test::session(kSession)));
  }

  std::string url() const {
    return cat(store_.name, ":", (folder_.path() / store_.place).native());
  }

  std::vector<std::string> command(const Plan& plan, const std::string& provider) const {
    return {CONVERSATION_DRIVER,
            url(),
            kSession,
            provider,
            cat(server_->url(), "/v1"),
            std::to_string(plan.turns),
            std::to_string(plan.seed)};
  }

  std::vector<Message> record() const {
    const auto store = must(open_store(url(), {.access = Access::read}));
    return must(read_all(*store, must(SessionId::parse(kSession))));
  }

  void run(const Plan& plan) {
    start(plan.seed);
    random_.seed(plan.seed);
    for (std::int64_t i = 0; i < plan.kills; ++i) {
      // Spread over the conversation, and early enough that it cannot be finished before.
      const std::int64_t span = (plan.turns - 3) / plan.kills;
      kill_at_.push_back(i * span + random(span));
    }
    int processes = 0;
    for (bool killed = true; killed; ++processes) {
      ASSERT_LE(processes, plan.kills);
      killed = run_process(
          plan, plan.providers[static_cast<std::size_t>(processes) % plan.providers.size()]);
      if (HasFailure()) {
        return;
      }
    }
    EXPECT_EQ(processes, plan.kills + 1);
    check(plan);
  }

  std::unique_ptr<fake::FakeProvider> server_;

 private:
  std::int64_t random(std::int64_t below) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(below));
  }

  // True if it was killed, false if it has completed the conversation.
  bool run_process(const Plan& plan, const std::string& provider) {
    ChildProcess child(command(plan, provider));
    const bool during_recovery = kills_done_ > 0 && !kill_at_.empty() && random(4) == 0;
    std::optional<std::int64_t> lines_left;
    if (during_recovery) {
      lines_left = random(8);
    }
    std::string last;
    while (const auto line = child.line()) {
      ledger_.take(*line);
      last = *line;
      const bool at_turn = line->starts_with("turn ") && !kill_at_.empty() &&
                           number(std::string_view(*line).substr(5)) >= kill_at_.front();
      if (!lines_left && at_turn) {
        lines_left = random(12);
      }
      if (lines_left && (*lines_left)-- == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(random(80)));
        child.kill();
        drain(child);
        kill_at_.erase(kill_at_.begin());
        ++kills_done_;
        return true;
      }
    }
    EXPECT_EQ(last, "done");
    EXPECT_EQ(child.wait(), 0);
    return false;
  }

  // Output before the kill counts.
  void drain(ChildProcess& child) {
    while (const auto line = child.line()) {
      ledger_.take(*line);
    }
  }

  void check(const Plan& plan) {
    const auto messages = record();
    ledger_.check(messages, static_cast<std::size_t>(plan.kills));
    EXPECT_GT(ledger_.given_way(), 0U) << "no cut answer was continued";

    // Invariant (2).
    std::int64_t questions = 0;
    bool answered = true;
    for (const Message& message : messages) {
      if (message.role == role::kUser) {
        EXPECT_TRUE(answered) << "before turn " << questions;
        EXPECT_EQ(plain_text(message), question(plan.seed, questions));
        ++questions;
        answered = false;
      } else if (message.role == role::kAssistant) {
        answered = message.state == MessageState::complete;
      }
    }
    EXPECT_TRUE(answered);
    EXPECT_EQ(questions, plan.turns);

    // Invariant (3).
    EXPECT_EQ(server_->violations(), std::vector<std::string>{});
  }

  StorePlace store_;
  test::TemporaryFolder folder_;
  Ledger ledger_;
  std::mt19937_64 random_;
  std::vector<std::int64_t> kill_at_;  // turns
  int kills_done_ = 0;
};

TEST_F(ConversationE2e, SurvivesKillsWithOpenaiChat) {
  run(plan({"openai-chat"}, 1));
}

TEST_F(ConversationE2e, SurvivesKillsWithOpenaiResponses) {
  run(plan({"openai-responses"}, 2));
}

TEST_F(ConversationE2e, SurvivesKillsWithAnthropic) {
  run(plan({"anthropic"}, 3));
}

class ConversationInStore : public ConversationE2e, public testing::WithParamInterface<StorePlace> {
 protected:
  ConversationInStore() : ConversationE2e(GetParam()) {}
};

// Each process continues the session of another provider's process.
TEST_P(ConversationInStore, SurvivesKillsWhileTheProvidersChange) {
  run(plan({"anthropic", "openai-chat", "openai-responses"}, 6));
}

INSTANTIATE_TEST_SUITE_P(Stores, ConversationInStore,
                         testing::Values(kSqlite, StorePlace{"context", "ai.json"},
                                         StorePlace{"sessions", "sessions"},
                                         StorePlace{"chatdir", "chats?messages=100000"}),
                         [](const auto& one) { return one.param.name; });

// P4: shown text is stored, except the last 50 ms; a busy machine that may stop a process for a
// while gets a second here.
TEST_F(ConversationE2e, KeepsTheTextThatWasShownBeforeAKill) {
  const Plan plan{.providers = {"openai-chat"}, .turns = 1, .kills = 1, .seed = 5};
  start(plan.seed);
  must(server_->add_rule("text [long] => slow=10"));
  auto arguments = command(plan, plan.providers[0]);
  arguments.emplace_back("[long] long:400");
  std::string shown;
  std::string shown_early;
  {
    ChildProcess child(arguments);
    const auto kill_at = [](auto begin) { return begin + std::chrono::milliseconds(2500); };
    std::optional<std::chrono::steady_clock::time_point> begin;
    while (const auto line = child.line()) {
      if (!line->starts_with("text ")) {
        continue;
      }
      const auto now = std::chrono::steady_clock::now();
      begin = begin.value_or(now);
      shown += must(fake::parse_value(std::string_view(*line).substr(5))).text;
      if (now < kill_at(*begin) - std::chrono::milliseconds(1000)) {
        shown_early = shown;
      }
      if (now >= kill_at(*begin)) {
        break;
      }
    }
  }  // killed
  ASSERT_FALSE(shown_early.empty());
  const auto store = must(open_store(url()));
  EXPECT_TRUE(must(recover_interrupted(*store, must(SessionId::parse(kSession)))));
  const auto cut = record();
  ASSERT_EQ(cut.size(), 2U);
  EXPECT_EQ(cut[1].state, MessageState::incomplete);
  const std::string partial_text = plain_text(cut[1]);
  EXPECT_TRUE(partial_text.starts_with(shown_early)) << partial_text << "\n" << shown_early;

  ChildProcess again(arguments);
  while (again.line()) {
  }
  EXPECT_EQ(again.wait(), 0);
  const auto whole = record();
  ASSERT_EQ(whole.size(), 2U);
  EXPECT_EQ(whole[1].state, MessageState::complete);
  EXPECT_TRUE(plain_text(whole[1]).starts_with(partial_text));
  EXPECT_GT(plain_text(whole[1]).size(), partial_text.size());
  EXPECT_EQ(server_->violations(), std::vector<std::string>{});
}

}  // namespace
}  // namespace reprise::e2e
