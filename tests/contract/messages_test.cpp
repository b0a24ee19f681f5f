// Messages are stored completely and unchanged.

#include <gtest/gtest.h>

#include "contract/store_contract.h"
#include "reprise/capabilities.h"
#include "reprise/store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

TEST_P(StoreContract, AWholeMessageRoundTrips) {
  REPRISE_NEEDS(capabilities().messages);
  const SessionId id = create("s");
  Message bare;
  bare.role = role::kUser;
  bare.created_at = at(1);
  const std::vector<Message> all = {holdable(full_message()), bare, user("plain")};
  append(id, all);
  EXPECT_EQ(stored(id), numbered(all));
  reopen();
  EXPECT_EQ(stored(id), numbered(all));
}

TEST_P(StoreContract, HardTextsRoundTrip) {
  REPRISE_NEEDS(capabilities().messages);
  std::vector<Message> all;
  for (const std::string& text : hard_texts()) {
    all.push_back(user(text));
  }
  const SessionId id = create("s", all);
  reopen();
  EXPECT_EQ(stored(id), numbered(all));
}

TEST_P(StoreContract, HardTextsRoundTripInEveryBlockType) {
  REPRISE_NEEDS(capabilities().messages && capabilities().blocks);
  std::vector<Message> all;
  for (const std::string& text : hard_texts()) {
    Message one = assistant(text);
    one.blocks.emplace_back(ThinkingBlock{text, text, {}});
    one.blocks.emplace_back(ToolUseBlock{text, text, RawJson::string(text), {}});
    one.blocks.emplace_back(
        ToolResultBlock{text, text, false, {}, {{"original", RawJson::string(text)}}});
    all.push_back(std::move(one));
  }
  const SessionId id = create("s", all);
  reopen();
  EXPECT_EQ(stored(id), numbered(all));
}

TEST_P(StoreContract, OpaqueJsonKeepsItsSpelling) {
  REPRISE_NEEDS(capabilities().messages && capabilities().blocks);
  std::vector<Message> all;
  for (const char* json :
       {"null", "true", "0", "-0", "1.0", "1e2", "1E+2", "123456789012345678901234",
        "0.1000000000000000055511151231257827", "\"\"", R"("\u0000\ud83d\ude00\/")", "[]", "{}",
        R"({"b":1,"a":2})", R"({"a":1,"a":2})", R"({"":{"":[]}})", R"({ "spaced" : [ 1 , 2 ] })"}) {
    Message one = assistant("x");
    one.blocks.emplace_back(ToolUseBlock{"t", "n", raw(json), {{"extra", raw(json)}}});
    one.extra = {{"kept", raw(json)}};
    all.push_back(std::move(one));
  }
  const SessionId id = create("s", all);
  reopen();
  EXPECT_EQ(stored(id), numbered(all));
}

TEST_P(StoreContract, ALargeTextRoundTrips) {
  REPRISE_NEEDS(capabilities().messages);
  std::string large;
  while (large.size() < 5'000'000) {
    large += "0123456789 \"\\\n\u2028\U0001F41F";
  }
  const std::vector<Message> all = {user("before"), user(large), assistant("after")};
  const SessionId id = create("s", all);
  reopen();
  EXPECT_TRUE(stored(id) == numbered(all)) << "not shown: it is 5 MB";
}

// The same for all stores: the field is named, and nothing changes.
TEST_P(StoreContract, ValuesThatWouldChangeAreRefused) {
  const SessionId id = create("s", messages(1));
  const Session before = found(id);
  const std::string bad = "a\xff\xfe z";
  const auto names = [](const auto& result, std::string_view field) {
    return fails(result, Code::invalid_argument) && result.error().message.contains(field);
  };
  const auto append = [&](Message message) { return store().append(id, {std::move(message)}, {}); };
  EXPECT_TRUE(names(append({.role = "user", .blocks = {TextBlock{bad, {}}}}), "blocks[0].text"));
  EXPECT_TRUE(
      names(append({.role = "tool",
                    .blocks = {TextBlock{"", {}}, ToolResultBlock{"t", bad, false, {}, {}}}}),
            "blocks[1].text"));
  EXPECT_TRUE(names(append({.role = "assistant", .blocks = {ToolUseBlock{"t", bad, {}, {}}}}),
                    "blocks[0].name"));
  EXPECT_TRUE(names(append({.role = "assistant", .response_id = bad}), "response_id"));
  EXPECT_TRUE(names(append({.role = bad}), "role"));
  EXPECT_TRUE(names(append({.role = ""}), "role"));
  EXPECT_TRUE(names(store().update(id, {.title = bad}), "title"));
  EXPECT_TRUE(names(store().update(id, {.prompt_history = {{bad}}}), "prompt_history"));
  EXPECT_TRUE(names(store().update(id, {.working_dir = std::string("/a\0b", 4)}), "working_dir"));
  Session other = session("other");
  other.system_prompt = bad;
  EXPECT_TRUE(names(store().create(other), "system_prompt"));
  if (capabilities().rewriting != nullptr) {
    EXPECT_TRUE(names(capabilities().rewriting->replace_suffix(id, {0}, {user(bad)}, {}), "text"));
  }
  if (capabilities().todos != nullptr) {
    const auto add = [&bad](std::vector<Todo>& todos) -> Result<> {
      todos.push_back({bad, TodoStatus::pending, "", {}});
      return {};
    };
    EXPECT_TRUE(names(capabilities().todos->edit_todos(id, add), "content"));
  }
  reopen();
  EXPECT_EQ(found(id), before);
  EXPECT_EQ(stored(id), readable(messages(1)));
}

TEST_P(StoreContract, AnyRoleIsStored) {
  REPRISE_NEEDS(capabilities().messages);
  std::vector<Message> all;
  for (const char* role : {"user", "assistant", "system", "tool", "developer", "Ünïcode role"}) {
    all.push_back(message(role, "text"));
  }
  const SessionId id = create("s", all);
  reopen();
  EXPECT_EQ(stored(id), numbered(all));
}

TEST_P(StoreContract, TimesHaveMicrosecondsAndMayDecrease) {
  REPRISE_NEEDS(capabilities().messages);
  const std::vector<Message> all = {
      user("later", at(100)),        user("earlier", at(50, 1)),
      user("half", at(50, 500'000)), user("same", at(50, 500'000)),
      user("1970", Time()),          user("before 1970", Time(std::chrono::microseconds(-1)))};
  const SessionId id = create("s", all);
  reopen();
  EXPECT_EQ(stored(id), numbered(all));
  EXPECT_EQ(found(id).info.updated_at, all.back().created_at);
}

TEST_P(StoreContract, MessageDetailsAreStoredIndividually) {
  REPRISE_NEEDS(capabilities().messages && capabilities().message_details);
  std::vector<Message> all(5, assistant("x"));
  all[0].provider = "openai";
  all[1].model = "m";
  all[2].response_id = "resp_1";
  all[3].state = MessageState::incomplete;
  all[4].usage = Usage{};
  const SessionId id = create("s", all);
  reopen();
  EXPECT_EQ(stored(id), numbered(all));
}

}  // namespace
}  // namespace reprise::test
