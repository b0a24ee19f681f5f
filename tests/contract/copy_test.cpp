// Copies from every store to every store: each field is unchanged afterwards, or reported as lost.

#include "engine/copy.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "contract/store_contract.h"
#include "engine/copied_id.h"
#include "engine/copy_reduce.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

struct Pair {
  StoreCase from;
  StoreCase to;
};

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest's name.
void PrintTo(const Pair& pair, std::ostream* out) {
  *out << pair.from.name << "_" << pair.to.name;
}

std::vector<Pair> pairs() {
  std::vector<Pair> all;
  for (const StoreCase& from : store_cases()) {
    for (const StoreCase& to : store_cases()) {
      all.push_back({from, to});
    }
  }
  return all;
}

class CopyPairs : public testing::TestWithParam<Pair> {
 protected:
  // A session without default values, and messages of which one has no time.
  void fill() {
    engine::Losses none;
    must(source_->create(engine::reduce(full_session("s"), source_->capabilities(), none)));
    Message timeless = user("when?");
    timeless.created_at = {};
    Message last = assistant("last", at(90, 654'321));
    last.response_id = "resp_9";
    for (Message message : {full_message(), timeless, last}) {
      message = engine::reduce(std::move(message), source_->capabilities(), none);
      if (!source_->capabilities().messages) {
        message.blocks.clear();
      }
      must(source_->append(id_, {std::move(message)}, {}));
    }
  }

  // A loss may be reported by any of these names.
  template <class Value>
  void expect_same(const Value& there, const Value& here, std::string_view field,
                   const std::vector<std::string>& losses,
                   const std::vector<std::string_view>& names) {
    const bool named = std::ranges::any_of(names, [&losses](std::string_view name) {
      return std::ranges::find(losses, name) != losses.end();
    });
    EXPECT_TRUE(there == here || named) << field << " was lost without a word";
  }

  const TemporaryFolder from_;
  const TemporaryFolder to_;
  const SessionId id_ = session_id("s");
  std::unique_ptr<Store> source_ = must(GetParam().from.open(from_.path(), {}));
  std::unique_ptr<Store> target_ = must(GetParam().to.open(to_.path(), {}));
};

// If the target has artefacts, they become one.
TEST_P(CopyPairs, BringReplacedMessagesAlongOrReportThem) {
  Rewriting* const from = source_->capabilities().rewriting;
  if (from == nullptr) {
    GTEST_SKIP() << "nothing is replaced there";
  }
  fill();
  std::vector<std::string> gone;
  must(source_->read(id_, {.from = Seq{1}}, [&gone](Message&& message) {
    gone.push_back(plain_text(message));
    return Flow::proceed;
  }));
  ASSERT_EQ(gone.size(), 2U);
  must(from->replace_suffix(id_, Seq{1}, {}, {}));
  const bool has_artefact = must(from->count_replaced(id_)) == 0;
  const std::string loss = has_artefact ? "the artefacts" : "replaced messages: 2";
  Artefacts* const to = target_->capabilities().artefacts;
  for (int copies = 0; copies < 2; ++copies) {
    const auto losses = must(copy_session(*source_, *target_, id_)).losses;
    const bool is_reported = std::ranges::find(losses, loss) != losses.end();
    if (to == nullptr) {
      EXPECT_TRUE(is_reported);
      continue;
    }
    const std::string lines = must(to->find_artefact(id_, {0}, "replaced.jsonl")).value_or("");
    for (const std::string& text : gone) {
      EXPECT_NE(lines.find(text), std::string::npos) << text << " in " << lines;
    }
    EXPECT_EQ(std::ranges::count(lines, '\n'), 2);
    EXPECT_EQ(std::ranges::count_if(
                  losses, [](const std::string& one) { return one.starts_with("replaced"); }),
              0);
  }
}

TEST_P(CopyPairs, LoseNothingSilently) {
  fill();
  const Session here = must(with_copied_ids(*source_, *target_, must(get(*source_, id_))));
  const std::vector<Message> originals = must(read_all(*source_, id_));
  const CopiedSession copied = must(copy_session(*source_, *target_, id_));
  const auto& losses = copied.losses;
  EXPECT_EQ(copied.id, here.info.id);
  const Session there = must(get(*target_, here.info.id));
  const auto same = [&](const auto& a, const auto& b, std::string_view field,
                        const std::vector<std::string_view>& names) {
    expect_same(a, b, field, losses, names);
  };
  same(there.info.title, here.info.title, "title", {"the title"});
  same(there.info.mode, here.info.mode, "mode", {"the mode"});
  same(there.info.state, here.info.state, "state", {"the state active", "the state closed"});
  same(there.info.provider, here.info.provider, "provider", {"the provider"});
  same(there.info.model, here.info.model, "model", {"the model"});
  same(there.info.working_dir, here.info.working_dir, "folder", {"the folder"});
  same(there.info.head, here.info.head, "head", {"the text of messages"});
  same(there.info.created_at, here.info.created_at, "created_at", {"the creation time"});
  same(there.info.updated_at, here.info.updated_at, "updated_at",
       {"the time of the last activity"});
  same(there.info.closed_at, here.info.closed_at, "closed_at", {"the closing time"});
  same(there.info.forked_from, here.info.forked_from, "forked_from",
       {"the link to the session it was forked from"});
  same(there.system_prompt, here.system_prompt, "system_prompt", {"the system prompt"});
  same(there.config, here.config, "config", {"the session's settings"});
  same(there.usage, here.usage, "usage", {"the total usage"});
  same(there.prompt_history, here.prompt_history, "prompt_history", {"the prompt history"});
  same(there.extra, here.extra, "extra", {"fields of other programs"});
  same(there.response_chain, here.response_chain, "response_chain", {"the response ids"});
  const std::vector<Message> copies = must(read_all(*target_, here.info.id));
  if (!target_->capabilities().messages) {
    same(copies.size(), originals.size(), "messages", {"the text of messages"});
    return;
  }
  ASSERT_EQ(copies.size(), originals.size());
  for (std::size_t i = 0; i < originals.size(); ++i) {
    const Message& a = copies[i];
    const Message& b = originals[i];
    same(a.role, b.role, "role", {});
    same(a.blocks, b.blocks, "blocks", {"blocks that are not text"});
    same(a.created_at, b.created_at, "a message's created_at", {});
    same(a.provider, b.provider, "a message's provider", {"the messages' providers"});
    same(a.model, b.model, "a message's model", {"the messages' models"});
    same(a.response_id, b.response_id, "response_id", {"the messages' response ids"});
    same(a.usage, b.usage, "a message's usage", {"the messages' usage"});
    same(a.state, b.state, "a message's state", {"whether answers are incomplete"});
    same(a.extra, b.extra, "a message's extra", {});
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, CopyPairs, testing::ValuesIn(pairs()), [](const auto& one) {
  return cat(one.param.from.name, "_", one.param.to.name);
});

}  // namespace
}  // namespace reprise::test
