// Chats of the program that defined the format: reading and continuing them.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/file.h"
#include "base/text.h"
#include "chatdir/chatdir_fixture.h"
#include "engine/copy.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "reprise/sessions.h"
#include "support/build.h"
#include "support/must.h"
#include "support/print.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

const Texts kOriginalTexts = {"You are AI.\n<tools> & \"quotes\"  ", "Привіт 😀 turn 1\nline2",
                              "Hello there 1"};

TEST(OriginalChat, IsReadWithoutChanges) {
  const ChatDirectory directory;
  const SessionId id = directory.write_original();
  const auto before = directory.snapshot();
  for (int time = 0; time < 2; ++time) {
    const auto store = directory.open({.access = Access::read});
    const Session found = must(get(*store, id));
    EXPECT_EQ(found.info.title, "Привіт 😀 turn 1");
    EXPECT_EQ(found.info.provider, "cerebras");
    EXPECT_EQ(found.info.model, "gpt-oss-120b");
    EXPECT_EQ(found.info.head, Seq{3});
    EXPECT_EQ(found.info.state, SessionState::active);
    EXPECT_EQ(found.info.working_dir, fs::canonical(directory.root()).string());
    EXPECT_GT(found.info.updated_at, Time());
    EXPECT_GT(found.info.created_at, Time());
    EXPECT_LE(found.info.created_at, found.info.updated_at);
    EXPECT_EQ(texts_of(*store, id), kOriginalTexts);
    const SessionPage page = must(store->list({}));
    EXPECT_EQ(page.sessions, std::vector{found.info});
    EXPECT_TRUE(page.damage.empty());
    EXPECT_EQ(must(store->capabilities().current_session->current()), id);
  }
  EXPECT_EQ(directory.snapshot(), before);
}

TEST(OriginalChat, CanBeContinued) {
  const ChatDirectory directory;
  const SessionId id = directory.write_original();
  const std::string before = directory.read(directory.messages(id));
  {
    const auto store = directory.open();
    const AppendResult appended = must(
        store->append(id, {user("more"), assistant("yes")}, {.operation = operation_id("op-1")}));
    EXPECT_EQ(appended.first, Seq{3});
    EXPECT_TRUE(
        must(store->append(id, {user("more")}, {.operation = operation_id("op-1")})).repeated);
  }
  EXPECT_TRUE(directory.read(directory.messages(id)).starts_with(before)) << "only added to";
  const auto store = directory.open();
  Texts expected = kOriginalTexts;
  expected.insert(expected.end(), {"more", "yes"});
  EXPECT_EQ(texts_of(*store, id), expected);
  EXPECT_EQ(must(get(*store, id)).info.head, Seq{5});
  EXPECT_EQ(must(get(*store, id)).info.title, "Привіт 😀 turn 1");
}

TEST(OriginalChat, HasTheUsageOfItsSteps) {
  const ChatDirectory directory;
  const SessionId id = directory.write_original();
  const fs::path steps = fs::path("chat") / kOriginalId / "steps";
  directory.write(steps / "002" / "usage.json",
                  R"({"inputTokens":5,"outputTokens":2,"totalTokens":7})");
  directory.write(steps / "003" / "usage.json", "no JSON");
  const auto store = directory.open();
  Usage sum = usage("", 105, 12);
  sum.reasoning.value = 1;
  EXPECT_EQ(must(get(*store, id)).usage, sum);
  Message answer = assistant("yes");
  answer.usage = usage("req-1", 1000, 100);
  must(store->append(id, {user("more"), answer}, {}));
  must(store->capabilities().artefacts->save_artefact(id, {4}, "usage", R"({"inputTokens":1000})"));
  sum.input.value += 1000;
  sum.output.value += 100;
  EXPECT_EQ(must(get(*directory.open(), id)).usage, sum) << "each counted once";
  must(store->capabilities().archives->archive(id, at(1)));
  EXPECT_EQ(must(get(*store, id)).usage, sum);
}

std::vector<std::int64_t> input_tokens(Store& store, const SessionId& id,
                                       const ReadRange& range = {}) {
  std::vector<std::int64_t> tokens;
  for (const Message& message : must(read_all(store, id, range))) {
    if (message.role == role::kAssistant) {
      tokens.push_back(message.usage ? message.usage->input.value : 0);
    }
  }
  return tokens;
}

TEST(OriginalChat, TheUsageOfAStepIsThatOfItsAnswer) {
  using Tokens = std::vector<std::int64_t>;
  const ChatDirectory directory;
  const SessionId id = directory.write_original();
  const fs::path steps = fs::path("chat") / kOriginalId / "steps";
  const auto original_adds = [&] {
    directory.write(directory.messages(id), cat(directory.read(directory.messages(id)),
                                                R"({"role":"user","content":"q"})"
                                                "\n",
                                                R"({"role":"assistant","content":"a"})"
                                                "\n"));
  };
  original_adds();
  directory.write(steps / "002" / "usage.json", R"({"inputTokens":5})");
  EXPECT_EQ(input_tokens(*directory.open(), id), (Tokens{100, 5}));
  {
    Message answer = assistant("ours");
    answer.usage = usage("req-1", 1000, 0);
    must(directory.open()->append(id, {user("more"), answer, assistant("without")}, {}));
    directory.write(steps / "004" / "usage.json", R"({"inputTokens":7})");
  }
  original_adds();
  directory.write(steps / "005" / "usage.json", R"({"inputTokens":9})");
  const auto store = directory.open({.access = Access::read});
  EXPECT_EQ(input_tokens(*store, id), (Tokens{100, 5, 1000, 0, 9})) << "not of ours";
  EXPECT_EQ(must(get(*store, id)).usage.input.value, 1114);
  for (const bool is_open : {false, true}) {
    const auto reader = directory.open({.access = Access::read});
    if (is_open) {
      must(read_all(*reader, id));
    }
    EXPECT_EQ(input_tokens(*reader, id, {.newest_first = true}), (Tokens{9, 0, 1000, 5, 100}));
    EXPECT_EQ(input_tokens(*reader, id, {.from = {3}, .to = {6}}), (Tokens{5}));
    // What was counted for one page is used for the next one, in any order.
    const Tokens all = {100, 5, 1000, 0, 9};
    const std::vector<Message> messages = must(read_all(*reader, id));
    std::vector<std::int64_t> pages(messages.size());
    std::iota(pages.begin(), pages.end(), 0);
    for (const bool newest_first : {false, true}) {
      for (int order = 0; order < 20; ++order) {
        std::ranges::rotate(pages, pages.begin() + order % std::ssize(pages));
        std::swap(pages.front(), pages[pages.size() / 2]);
        std::map<std::int64_t, Tokens> found;
        for (const std::int64_t at : pages) {
          found[at] = input_tokens(*reader, id,
                                   {.from = {at}, .to = {at + 1}, .newest_first = newest_first});
        }
        Tokens joined;
        for (const auto& [at, tokens] : found) {
          joined.insert(joined.end(), tokens.begin(), tokens.end());
        }
        EXPECT_EQ(joined, all);
      }
    }
  }
  const auto copy = open_memory_store();
  must(copy_session(*store, *copy, id));
  EXPECT_EQ(must(get(*copy, id)).usage.input.value, 1114);
  directory.write(steps / "005" / "answer.md", "xyz");
  EXPECT_EQ(input_tokens(*store, id).back(), 0) << "of an answer that is gone";
}

// --new of the original empties the current chat and goes on in it.
class ClearedChat : public testing::Test {
 protected:
  ClearedChat() {
    const auto store = open();
    must(store->create(chat_session(1)));
    must(store->update(id_, {.title = "Old title"}));
    Message answer = assistant("old answer");
    answer.usage = usage("req-1", 100, 1);
    must(store->append(id_, {user("old"), answer}, {}));
  }

  std::unique_ptr<Store> open() {
    return directory_.open(
        {.on_warning = [this](std::string_view text) { warnings_.emplace_back(text); }});
  }
  void add_todo() {
    must(open()->capabilities().todos->edit_todos(id_, [](std::vector<Todo>& todos) -> Result<> {
      todos = {{"old todo", TodoStatus::pending, "", {}}};
      return {};
    }));
  }
  void put(std::string_view lines) { directory_.write(directory_.messages(id_), lines); }
  std::string title() { return must(get(*open(), id_)).info.title; }

  void expect_nothing_of_the_old(std::string_view lines) {
    put(lines);
    const auto before = directory_.snapshot();
    const auto store = open();
    const Session session = must(get(*store, id_));
    EXPECT_EQ(session.info.title, lines.empty() ? "" : "fresh");
    EXPECT_EQ(session.usage, Usage{});
    EXPECT_EQ(must(store->list({})).sessions.at(0).title, session.info.title);
    EXPECT_EQ(must(store->capabilities().todos->todos(id_)), std::vector<Todo>());
    EXPECT_EQ(directory_.snapshot(), before) << "reading changes nothing";
    EXPECT_EQ(warnings_, std::vector<std::string>());
  }

  static constexpr std::string_view kFresh =
      "{\"role\":\"system\",\"content\":\"s\"}\n{\"role\":\"user\",\"content\":\"fresh\"}\n"
      "{\"role\":\"assistant\",\"content\":\"new\"}\n";
  ChatDirectory directory_;
  const SessionId id_ = chat_id(1);
  std::vector<std::string> warnings_;
};

TEST_F(ClearedChat, HasNothingOfTheOldConversation) {
  expect_nothing_of_the_old("");
  expect_nothing_of_the_old(kFresh);
}

TEST_F(ClearedChat, HasNoTodosOfTheOldConversation) {
  add_todo();
  expect_nothing_of_the_old("");
  expect_nothing_of_the_old(kFresh);
}

TEST_F(ClearedChat, HasNoReplacedMessagesOfIt) {
  const auto store = open();
  must(store->capabilities().rewriting->replace_suffix(id_, {1}, {assistant("again")}, {}));
  const auto count = [&] {
    std::int64_t replaced = 0;
    must(store->capabilities().replaced_reader->read_replaced(id_, [&](const Message&) {
      ++replaced;
      return Flow::proceed;
    }));
    return replaced;
  };
  EXPECT_EQ(count(), 1);
  put(kFresh);
  EXPECT_EQ(count(), 0);
  must(store->append(id_, {user("more")}, {}));
  EXPECT_TRUE(fs::exists(directory_.chat(id_) / "replaced.jsonl.bak"));
  EXPECT_EQ(count(), 0);
}

TEST_F(ClearedChat, KeepsTheOldAsideWhenItIsGoneOnWith) {
  add_todo();
  const std::string old = directory_.read(directory_.chat(id_) / "reprise.json");
  put(kFresh);
  const auto store = open();
  must(store->append(id_, {user("more")}, {}));
  must(store->append(id_, {assistant("yes")}, {}));
  EXPECT_EQ(directory_.read(directory_.chat(id_) / "reprise.json.bak"), old);
  ASSERT_EQ(warnings_.size(), 1U);
  EXPECT_NE(warnings_.front().find("reprise.json.bak"), std::string::npos);
  EXPECT_EQ(title(), "fresh");
  EXPECT_EQ(must(open()->capabilities().todos->todos(id_)), std::vector<Todo>());
  EXPECT_EQ(texts_of(*open(), id_), (std::vector<std::string>{"s", "fresh", "new", "more", "yes"}));
}

TEST_F(ClearedChat, IsNotOneThatAnotherProgramHasRewritten) {
  std::string lines = directory_.read(directory_.messages(id_));
  put(cat(" ", lines, R"({"role":"user","content":"more"})", "\n"));
  EXPECT_EQ(title(), "Old title") << "our lines have moved";
  add_todo();
  put("{\"role\":\"user\",\"content\":\"old\"}\n{\"role\":\"assistant\",\"content\":\"x\"}\n"
      "{\"role\":\"user\",\"content\":\"more\"}\n");
  EXPECT_EQ(title(), "Old title") << "without our members";
  put("{\"role\":\"user\",\"content\":\"old\"}\n");
  EXPECT_EQ(title(), "old") << "begun again with the same question";
}

TEST(OriginalChat, ItsModelIsNotThatOfASingleRun) {
  const ChatDirectory directory;
  const SessionId id = directory.write_original();
  const std::string model =
      R"({"id": "gpt-oss-120b", "provider": "cerebras", "context_length": 131072})";
  directory.write(fs::path("chat") / kOriginalId / "model.json", model);
  const auto ask = [&](std::string_view provider, std::string_view name) {
    const auto store = directory.open();
    const auto recorder = must(
        store->capabilities().turn_recording->record_turn(id, {.question = user("q").blocks,
                                                               .provider = std::string(provider),
                                                               .model = std::string(name),
                                                               .replaces = {}}));
    recorder->on_answer(assistant("a"));
    EXPECT_EQ(recorder->finish(), std::nullopt);
    return directory.read(directory.chat(id) / "model.json");
  };
  EXPECT_EQ(ask("openai-chat", "m"), model);
  EXPECT_NE(directory.read(directory.chat(id) / "steps" / "002" / "model.json").find("\"m\""),
            std::string::npos)
      << "who was asked";
  EXPECT_EQ(ask("openai-chat", "gpt-oss-120b"), model) << "its prices are kept";
  must(directory.open()->update(id, {.provider = "openai-responses", .model = "gpt-x"}));
  const std::string changed = ask("openai-responses", "gpt-x");
  EXPECT_NE(changed.find("\"gpt-x\""), std::string::npos);
  EXPECT_NE(changed.find("\"openai\""), std::string::npos) << "by the name that it knows";
}

TEST(OriginalChat, AForkHasTheFilesOfItsSteps) {
  const ChatDirectory directory;
  const SessionId id = directory.write_original();
  const fs::path chat = fs::path("chat") / kOriginalId;
  directory.write(directory.messages(id), cat(directory.read(directory.messages(id)),
                                              R"({"role":"user","content":"q"})"
                                              "\n",
                                              R"({"role":"assistant","content":"a"})"
                                              "\n"));
  directory.write(chat / "steps" / "002" / "answer.md", "a");
  directory.write(chat / "steps" / "002" / "prompt.md", "second prompt");
  directory.write(chat / "steps" / "002" / "more" / "x.txt", "x");
  directory.write(chat / "steps" / "003" / "prompt.md", "of a turn without an answer");
  directory.write(chat / "steps.jsonl",
                  cat(directory.read(chat / "steps.jsonl"), "{\"step\":2}\n"));
  const auto store = directory.open();
  const auto names = [&](const std::optional<Seq>& at) {
    const SessionId fork = must(fork_session(*store, {.parent = id, .at = at, .title = {}}));
    std::vector<std::string> found;
    for (const auto& entry : must(store->capabilities().artefacts->list_artefacts(fork))) {
      found.push_back(cat(entry.step.value, "/", entry.name));
    }
    EXPECT_EQ(directory.read(directory.chat(fork) / "prompt.md"),
              at ? "prompt 1" : "second prompt");
    EXPECT_EQ(directory.read(directory.chat(fork) / "steps.jsonl").find("\"step\":2") ==
                  std::string::npos,
              at.has_value());
    EXPECT_FALSE(fs::exists(directory.chat(fork) / "steps" / "003"));
    return std::pair(found, fork);
  };
  const auto [whole, whole_id] = names(std::nullopt);
  EXPECT_EQ(std::ranges::count(whole, "1/usage.json"), 1);
  EXPECT_EQ(std::ranges::count(whole, "2/more/x.txt"), 1);
  EXPECT_EQ(std::ranges::count(whole, "0/model.json"), 1);
  EXPECT_EQ(must(get(*store, whole_id)).usage, Usage{}) << "counted in the parent";
  const auto [part, part_id] = names(Seq{3});
  EXPECT_EQ(std::ranges::count(part, "1/answer.md"), 1);
  EXPECT_EQ(std::ranges::count(part, "2/answer.md"), 0);
  directory.write(fs::path("chat") / whole_id.str() / "steps" / "001" / "answer.md", "changed");
  EXPECT_EQ(directory.read(chat / "steps" / "001" / "answer.md"), "Hello there 1") << "a copy";
}

TEST(OriginalChat, ItsLaterUsageIsCountedToo) {
  const ChatDirectory directory;
  const SessionId id = directory.write_original();
  const fs::path steps = fs::path("chat") / kOriginalId / "steps";
  const auto original_adds = [&](const char* step, int tokens) {
    directory.write(steps / step / "usage.json", cat("{\"inputTokens\":", tokens, "}"));
    directory.write(directory.messages(id), cat(directory.read(directory.messages(id)),
                                                R"({"role":"user","content":"q"})"
                                                "\n",
                                                R"({"role":"assistant","content":"a"})"
                                                "\n"));
  };
  const auto input_tokens = [&] {
    return must(get(*directory.open({.access = Access::read}), id)).usage.input.value;
  };
  const auto we_add = [&](const char* request, std::int64_t step) {
    const auto store = directory.open();
    Message answer = assistant("ours");
    answer.usage = usage(request, 1000, 0);
    must(store->append(id, {user("more"), answer}, {}));
    must(store->capabilities().artefacts->save_artefact(id, {step}, "usage",
                                                        R"({"inputTokens":1000})"));
  };
  we_add("req-1", 2);
  EXPECT_EQ(input_tokens(), 1100);
  original_adds("003", 10'000);
  EXPECT_EQ(input_tokens(), 11'100) << "behind ours";
  original_adds("004", 100'000);
  EXPECT_EQ(input_tokens(), 111'100);
  we_add("req-2", 5);
  EXPECT_EQ(input_tokens(), 112'100) << "each counted once";
  original_adds("006", 1'000'000);
  must(directory.open()->update(id, {.title = "new"}));
  EXPECT_EQ(input_tokens(), 1'112'100) << "the metadata is written anew";
  original_adds("007", 10'000'000);
  EXPECT_EQ(input_tokens(), 11'112'100);
  must(directory.open()->capabilities().archives->archive(id, at(1)));
  EXPECT_EQ(input_tokens(), 11'112'100);
}

TEST(OriginalChat, AStepThatCannotBeRecordedIsReported) {
  const ChatDirectory directory;
  const SessionId id = directory.write_original();
  const auto store = directory.open();
  const auto recorder = must(store->capabilities().turn_recording->record_turn(
      id, {.question = user("q").blocks, .provider = "p", .model = "m", .replaces = {}}));
  fs::create_directories(directory.chat(id) / "steps" / "002" / "answer.md");
  recorder->on_answer(assistant("a"));
  EXPECT_TRUE(recorder->finish());
}

// The original writes step N + 1 after N answers, and reads the usage of answer N from step N. It
// adds to prompt.md after its answer, so that no message and no step has that text.
TEST(OriginalChat, ItsNextStepIsFreeAndUsageIsFoundByItsRule) {
  const ChatDirectory directory;
  const SessionId id = directory.write_original();
  const fs::path steps = directory.chat(id) / "steps";
  directory.write(steps / "003" / "answer.md", "rewound");
  directory.write(steps / "003" / "usage.json", R"({"inputTokens":7})");
  const auto ask = [&](int number) {
    const auto store = directory.open();
    const Message question = user(cat("question ", number));
    Message answer = assistant(cat("answer ", number));
    answer.usage = usage(cat("req-", number), number, 0);
    const auto recorder = must(store->capabilities().turn_recording->record_turn(
        id, {.question = question.blocks, .provider = "p", .model = "m", .replaces = {}}));
    must(store->append(id, {question, answer}, {}));
    recorder->on_answer(answer);
    EXPECT_EQ(recorder->finish(), std::nullopt);
  };
  for (const int number : {2, 3}) {
    ask(number);
    const fs::path step = steps / cat("00", number);
    EXPECT_EQ(directory.read(step / "answer.md"), cat("answer ", number));
    EXPECT_NE(directory.read(step / "usage.json").find(cat("\"inputTokens\": ", number, ",")),
              std::string::npos);
    EXPECT_FALSE(fs::exists(steps / cat("00", number + 1))) << "the next one of the original";
    directory.write(directory.chat(id) / "prompt.md", cat("output ", number));
  }
  const fs::path replaced = directory.chat(id) / "replaced";
  EXPECT_EQ(directory.read(replaced / "000" / "prompt.md"), "prompt");
  EXPECT_EQ(directory.read(replaced / "000" / "input.md"), "input");
  EXPECT_EQ(directory.read(replaced / "000.1" / "prompt.md"), "output 2");
  EXPECT_EQ(directory.read(replaced / "003" / "answer.md"), "rewound");
  EXPECT_EQ(must(directory.open()->capabilities().artefacts->find_artefact(
                id, {0}, "replaced/000/prompt.md")),
            "prompt");
  EXPECT_EQ(must(get(*directory.open(), id)).usage.input.value, 100 + 7 + 2 + 3);
}

TEST(OriginalChat, TheCostOfItsTurnsIsCountedIfRecorded) {
  const ChatDirectory directory;
  const SessionId id = directory.write_original();
  const fs::path steps = fs::path("chat") / kOriginalId / "steps";
  const auto add_answer = [&] {
    directory.write(directory.messages(id), cat(directory.read(directory.messages(id)),
                                                R"({"role":"assistant","content":"a"})"
                                                "\n"));
  };
  {
    const auto store = directory.open();
    Message answer = assistant("ours");
    answer.usage = usage("req-1", 1, 1);
    answer.usage->cost = Money{1'000};
    answer.usage->price_source = "provider";
    must(store->append(id, {user("more"), answer}, {}));
  }
  directory.write(steps / "003" / "chunks.jsonl",
                  R"({"type":"raw","rawValue":{"usage":{"cost":9}}})"
                  "\n"
                  R"({"type":"raw","rawValue":{"usage":{"cost":0.00002}}})"
                  "\n"
                  R"({"type":"text-delta","id":"txt-0","text":"x"})"
                  "\nno JSON");
  add_answer();
  directory.write(steps / "004" / "usage.json", R"({"inputTokens":1,"cost":0.0003})");
  directory.write(steps / "004" / "chunks.jsonl",
                  R"({"type":"raw","rawValue":{"usage":{"cost":9}}})");
  add_answer();
  const Usage used = must(get(*directory.open({.access = Access::read}), id)).usage;
  EXPECT_EQ(used.cost, Money{321'000});
  EXPECT_EQ(used.price_source, "provider");
}

TEST(OriginalChat, TheCostIsInTheLast64KiBOfItsChunks) {
  constexpr std::size_t kEndBytes = std::size_t{64} << 10U;
  const std::string cost = R"({"type":"raw","rawValue":{"usage":{"cost":0.00002}}})";
  for (const auto& [more, expected] :
       {std::pair<std::size_t, std::optional<Money>>{0, Money{20'000}}, {1, std::nullopt}}) {
    const ChatDirectory directory;
    const SessionId id = directory.write_original();
    const fs::path step = fs::path("chat") / kOriginalId / "steps" / "003";
    directory.write(step / "usage.json", R"({"inputTokens":1})");
    directory.write(step / "chunks.jsonl",
                    cat(cost, "\n", std::string(kEndBytes - cost.size() - 1 + more, ' ')));
    const auto store = directory.open({.access = Access::read});
    EXPECT_EQ(must(get(*store, id)).usage.cost, expected) << more;
  }
}

TEST(OriginalChat, MayBeWrittenByBothInTurn) {
  const ChatDirectory directory;
  const SessionId id = directory.write_original();
  const auto store = directory.open();
  must(store->append(id, {user("ours 1")}, {}));
  // The original rewrites the whole file, with its own line last and without a line end.
  directory.write(directory.messages(id), directory.read(directory.messages(id)) +
                                              R"({"role":"assistant","content":"theirs"})");
  must(store->append(id, {user("ours 2")}, {.expected_head = Seq{5}}));
  Texts expected = kOriginalTexts;
  expected.insert(expected.end(), {"ours 1", "theirs", "ours 2"});
  EXPECT_EQ(texts_of(*store, id), expected);
  EXPECT_EQ(must(store->read(id, {}, [](Message&&) { return Flow::proceed; })).damaged, 0);
}

TEST(OriginalChat, WithoutMessagesIsListedAsPartial) {
  const ChatDirectory directory;
  const fs::path chat = fs::path("chat") / kOriginalId;
  directory.write(chat / "steps" / "003" / "prompt.md", "third");
  const auto store = directory.open({.access = Access::read});
  const SessionPage page = must(store->list({}));
  ASSERT_EQ(page.sessions.size(), 1U);
  EXPECT_EQ(page.sessions.front().id.str(), kOriginalId);
  ASSERT_EQ(page.damage.size(), 1U);
  EXPECT_EQ(page.damage.front().reason, "has no messages.jsonl");
  const SessionId id = session_id(kOriginalId);
  EXPECT_EQ(texts_of(*store, id), Texts{});
  EXPECT_EQ(must(store->capabilities().artefacts->list_artefacts(id)),
            (std::vector<Artefacts::Entry>{{{3}, "prompt.md", 5}}));
  must(directory.open()->append(id, {user("begin")}, {}));
  EXPECT_EQ(texts_of(*store, id), Texts{"begin"});
}

TEST(OriginalChat, CurrentIsReadInAllForms) {
  const ChatDirectory directory;
  const SessionId id = directory.write_original();
  const auto store = directory.open();
  CurrentSession& current = *store->capabilities().current_session;
  const fs::path file = directory.root() / "chat" / "current";
  for (const char* end : {"", "\n", "\r\n", " \n\n"}) {
    directory.write("chat/current", std::string(kOriginalId) + end);
    EXPECT_EQ(must(current.current()), id);
  }
  for (const fs::path& target : {fs::path(kOriginalId), directory.chat(id)}) {
    fs::remove(file);
    fs::create_directory_symlink(target, file);
    EXPECT_EQ(must(current.current()), id) << target;
  }
  must(store->create(chat_session(1)));
  must(current.set_current(chat_id(1)));
  EXPECT_EQ(must(current.current()), chat_id(1));
  EXPECT_EQ(fs::read_symlink(file), chat_id(1).str()) << "still a link";
  fs::remove(file);
  EXPECT_EQ(must(current.current()), std::nullopt);
  must(current.set_current(id));
  EXPECT_EQ(directory.read("chat/current"), kOriginalId) << "no line end";
  must(current.set_current(std::nullopt));
  EXPECT_FALSE(fs::exists(file));
  must(current.set_current(std::nullopt));
  for (const char* bad : {"../../etc/passwd", "/etc/passwd", "abc", "..", ""}) {
    directory.write("chat/current", bad);
    EXPECT_TRUE(fails(current.current(), Code::corrupt)) << bad;
  }
  EXPECT_TRUE(fails(current.set_current(chat_id(99)), Code::not_found));
  must(store->capabilities().trash->trash(id, at(1)));
  EXPECT_TRUE(fails(current.set_current(id), Code::invalid_argument));
  directory.write("chat/current", kOriginalId);
  EXPECT_EQ(must(current.current()), std::nullopt) << "it is in the trash";
}

TEST(OriginalChat, IsNotCurrentAfterItWasMoved) {
  const ChatDirectory directory;
  const auto store = directory.open();
  const fs::path file = directory.root() / "chat" / "current";
  for (const int number : {1, 2, 3, 4, 5}) {
    must(store->create(chat_session(number)));
  }
  const auto leave = [&](int number, const auto& how) {
    must(store->capabilities().current_session->set_current(chat_id(number)));
    must(how(chat_id(number)));
    EXPECT_FALSE(fs::is_symlink(file) || fs::exists(file)) << number;
  };
  leave(1, [&](const SessionId& id) { return store->capabilities().trash->trash(id, at(1)); });
  leave(2, [&](const SessionId& id) { return store->capabilities().trash->purge(id); });
  leave(3, [&](const SessionId& id) { return store->capabilities().archives->archive(id, at(1)); });
  fs::create_directory_symlink(chat_id(4).str(), file);
  leave(4, [&](const SessionId& id) { return store->capabilities().archives->archive(id, at(1)); });
  must(store->capabilities().current_session->set_current(chat_id(5)));
  must(store->capabilities().trash->trash(chat_id(3), at(1)));
  EXPECT_EQ(must(store->capabilities().current_session->current()), chat_id(5))
      << "another one stays";
}

TEST(OriginalChat, TheModelOfTheCurrentChatIsWritten) {
  const ChatDirectory directory;
  directory.write("chat/llimo.json", R"({"model":"old","theme":"dark","provider":"p"})");
  const auto store = directory.open();
  Session session = chat_session(1);
  session.info.model = "m-1";
  session.info.provider = "openai";
  must(store->create(session));
  must(store->capabilities().current_session->set_current(chat_id(1)));
  EXPECT_EQ(directory.read("chat/llimo.json"),
            "{\n  \"model\": \"m-1\",\n  \"provider\": \"openai\",\n  \"theme\": \"dark\"\n}");
}

}  // namespace
}  // namespace reprise::test
