// The file of a context store, changed by users and other programs.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "context/context_fixture.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

class ContextStore : public testing::Test {
 protected:
  std::unique_ptr<Store> open(Access access = Access::write) {
    return must(open_context_store(
        file_, {.access = access,
                .on_warning = [this](std::string_view text) { notices_.emplace_back(text); }}));
  }
  static SessionId only(Store& store) { return must(store.list({})).sessions.at(0).id; }
  static Texts texts_in(Store& store) { return texts(must(read_all(store, only(store)))); }
  std::string bytes() const { return must(read_file(file_)); }
  void put(std::string_view text) const { must(replace_file(file_, text)); }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      all.push_back(entry.path().filename().string());
    }
    std::ranges::sort(all);
    return all;
  }
  // A whole turn of another program, which replaces the file without a lock.
  static std::string with_turn(std::string_view text, std::string_view words,
                               std::string_view time) {
    std::string out(text);
    const auto entry = [time](std::string_view role, std::string_view content) {
      return cat(R"(,{"role":")", role, R"(","content":")", content, R"(","timestamp":")", time,
                 R"("})");
    };
    const auto end = out.rfind("\n  ],\n  \"meta\"");
    EXPECT_NE(end, std::string::npos) << out;
    out.insert(end, cat(entry("user", words), entry("assistant", cat("re: ", words))));
    const auto last = out.find("\"last_updated\": \"") + 17;
    out.replace(last, 24, time);
    return out;
  }
  static void ask(Store& store, std::string_view words, std::string_view time) {
    const Time when = parse_time(time).value_or(Time{});
    must(store.append(only(store), {user(words, when), assistant(cat("re: ", words), when)},
                      {.operation = operation_id(cat("op-", words))}));
  }

  TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "openai.json";
  Texts notices_;
};

TEST_F(ContextStore, ContinuesAFileOfAnotherProgram) {
  put(kOriginalContext);
  const auto store = open();
  EXPECT_EQ(texts_in(*store).size(), 4U);
  ask(*store, "next", "2025-10-21T00:00:00.000Z");
  const std::string written = bytes();
  const auto common = kOriginalContext.substr(0, kOriginalContext.find("\n  ],\n  \"meta\""));
  EXPECT_TRUE(written.starts_with(common)) << "every byte of what was there";
  EXPECT_NE(written.find("\"total_turns\": 6"), std::string::npos);
  EXPECT_NE(written.find("\"last_updated\": \"2025-10-21T00:00:00.000Z\""), std::string::npos);
  EXPECT_TRUE(written.ends_with("}\n"));
}

TEST_F(ContextStore, ReadingChangesNothing) {
  EXPECT_TRUE(fails(open_context_store(file_, {.access = Access::read}), Code::not_found));
  put(kOriginalContext);
  const auto before = fs::last_write_time(file_);
  const auto store = open(Access::read);
  const SessionId id = only(*store);
  EXPECT_EQ(texts_in(*store).size(), 4U);
  EXPECT_FALSE(store->append(id, {user("x")}, {}));
  EXPECT_FALSE(store->update(id, {.title = "x"}));
  EXPECT_TRUE(must(store->capabilities().repair->verify()).damage.empty());
  EXPECT_EQ(bytes(), kOriginalContext);
  EXPECT_EQ(fs::last_write_time(file_), before);
  EXPECT_EQ(names(), Texts{"openai.json"});
}

TEST_F(ContextStore, InvalidJsonIsCopiedAndReplaced) {
  for (const char* const damaged : {"{\"conversation\": [", "not json at all"}) {
    put(damaged);
    {
      const auto reader = open(Access::read);
      EXPECT_EQ(must(reader->list({})).sessions.size(), 0U);
      EXPECT_EQ(must(reader->list({})).damage.size(), 1U);
      EXPECT_EQ(bytes(), damaged) << "reading moves nothing";
    }
    const auto store = open();
    notices_.clear();
    must(store->create(session("s")));
    ASSERT_EQ(notices_.size(), 1U);
    EXPECT_NE(notices_.front().find("openai.json.bak-2"), std::string::npos) << notices_.front();
    EXPECT_TRUE(bytes().starts_with("{\n  \"provider\": \"openai\",\n  \"base_url\""));
    must(store->capabilities().trash->purge(session_id("s")));
  }
  Texts remaining;
  for (const std::string& name : names()) {
    if (name.starts_with("openai.json.bak-")) {
      remaining.push_back(must(read_file(folder_.path() / name)));
    }
  }
  std::ranges::sort(remaining);
  EXPECT_EQ(remaining, (Texts{"not json at all", "{\"conversation\": ["})) << "none is overwritten";
}

TEST_F(ContextStore, UnsupportedContentsAreQuarantinedOnWrite) {
  constexpr std::string_view kOdd = R"({"model": "mine", "conversation": {"a": 1.0}})";
  put(kOdd);
  const auto store = open();
  EXPECT_EQ(must(store->list({})).damage.size(), 1U);
  must(store->create(session("s")));
  EXPECT_EQ(notices_.size(), 1U);
  EXPECT_NE(bytes().find("\"model\": \"mine\""), std::string::npos) << "what could be read stays";
  const auto all = names();
  const auto aside = std::ranges::find_if(
      all, [](const std::string& name) { return name.starts_with("openai.json.bak-"); });
  ASSERT_NE(aside, all.end());
  EXPECT_EQ(must(read_file(folder_.path() / *aside)), kOdd);
}

TEST_F(ContextStore, UnreadableTodosAreQuarantined) {
  const std::string text =
      R"({"conversation":[{"role":"user","content":"q"}],"reprise":{"id":"s","todos":5}})";
  put(text);
  must(open()->append(session_id("s"), {assistant("a")}, {}));
  const auto all = names();
  const auto aside = std::ranges::find_if(
      all, [](const std::string& name) { return name.starts_with("openai.json.bak-"); });
  ASSERT_NE(aside, all.end());
  EXPECT_EQ(must(read_file(folder_.path() / *aside)), text);
}

TEST_F(ContextStore, AFolderInItsPlaceIsAnError) {
  fs::create_directory(file_);
  const auto store = open();
  EXPECT_TRUE(fails(store->list({}), Code::invalid_argument));
  EXPECT_TRUE(fails(store->create(session("s")), Code::invalid_argument));
  EXPECT_TRUE(fs::is_directory(file_));
}

TEST_F(ContextStore, AnUnreadableFileIsAnErrorAndUnchanged) {
  if (::geteuid() == 0) {
    GTEST_SKIP() << "root may read everything";
  }
  put(kOriginalContext);
  fs::permissions(file_, fs::perms::none);
  const auto store = open();
  EXPECT_TRUE(fails(store->list({}), Code::io));
  EXPECT_TRUE(fails(store->create(session("s")), Code::io));
  fs::permissions(file_, fs::perms::owner_all);
  EXPECT_EQ(bytes(), kOriginalContext);
}

TEST_F(ContextStore, LinksAreFollowedAndPreserved) {
  fs::create_directory(folder_.path() / "real");
  fs::create_symlink("real/file.json", file_);
  const auto store = open();
  must(store->create(session("s")));
  EXPECT_TRUE(fs::is_symlink(file_));
  EXPECT_TRUE(fs::is_regular_file(folder_.path() / "real" / "file.json"));
  // One lock, whichever path is used for the file.
  const auto other = must(open_context_store(folder_.path() / "real" / "file.json"));
  must(other->append(session_id("s"), {user("hello")}, {}));
  must(store->append(session_id("s"), {assistant("hi")}, {}));
  EXPECT_EQ(texts_in(*other), (Texts{"hello", "hi"}));
  EXPECT_TRUE(fs::exists(folder_.path() / "real" / "file.json.lock"));
}

TEST_F(ContextStore, FilesArePrivateAndKeepTheirMode) {
  const auto mode = [](const fs::path& file) {
    struct stat status{};
    return ::stat(file.c_str(), &status) == 0 ? status.st_mode & 0777U : 0U;
  };
  file_ = folder_.path() / ".ai" / "openai.json";
  const auto store = open();
  must(store->create(session("s")));
  EXPECT_EQ(mode(file_), 0600U);
  EXPECT_EQ(mode(file_.parent_path()), 0700U);
  fs::permissions(file_, fs::perms{0640});
  must(store->append(session_id("s"), {user("x")}, {}));
  EXPECT_EQ(mode(file_), 0640U);
  must(store->capabilities().trash->trash(session_id("s"), at(1)));
  EXPECT_EQ(mode(fs::path(file_.native() + ".trash")), 0700U);
  EXPECT_EQ(mode(fs::path(file_.native() + ".trash") / "s.json"), 0600U);
}

TEST_F(ContextStore, AReplacedFileIsReadAgain) {
  put(kOriginalContext);
  const auto store = open();
  EXPECT_EQ(texts_in(*store).size(), 4U);
  put(with_turn(kOriginalContext, "theirs", "2025-10-22T00:00:00.000Z"));
  EXPECT_EQ(texts_in(*store).back(), "re: theirs");
  ask(*store, "ours", "2025-10-23T00:00:00.000Z");
  const Texts all = texts_in(*store);
  EXPECT_EQ(Texts(all.end() - 4, all.end()), (Texts{"theirs", "re: theirs", "ours", "re: ours"}));
  // The user has restored an older version: turns that are not ours are gone.
  put(kOriginalContext);
  EXPECT_EQ(texts_in(*open()).size(), 4U);
}

// A program without the lock has read the file before our turn and writes it afterwards.
TEST_F(ContextStore, AnOverwrittenTurnIsRestoredByTime) {
  put(kOriginalContext);
  const auto store = open();
  ask(*store, "ours", "2025-10-22T00:00:00.000Z");
  put(with_turn(kOriginalContext, "theirs", "2025-10-23T00:00:00.000Z"));
  Texts expected = {"10 + 11", "10 + 11 equals 21.", "describe", "A \"fish\".\n",
                    "ours",    "re: ours",           "theirs",   "re: theirs"};
  EXPECT_EQ(texts_in(*store), expected) << "each question is followed by its own answer";
  ask(*store, "more", "2025-10-22T12:00:00.000Z");
  expected.insert(expected.end(), {"more", "re: more"});
  EXPECT_EQ(texts_in(*open()), expected);
  const std::string written = bytes();
  EXPECT_NE(written.find("\"total_turns\": 7"), std::string::npos)
      << "theirs had not counted its own, but ours and the one after are counted: " << written;
  EXPECT_NE(written.find("\"last_updated\": \"2025-10-22T12:00:00.000Z\""), std::string::npos);
  EXPECT_EQ(must(get(*store, only(*store))).usage.input, TokenCount{5}) << "counted once";
}

// What is no message stays where it was among their messages; at their end, it stays at the end.
TEST_F(ContextStore, EntriesOfOthersStayInPlaceWhenATurnIsRestored) {
  const auto with_entry = [](std::string text, std::string_view entry) {
    text.insert(text.rfind("\n  ],\n  \"meta\""), cat(",\n    ", entry));
    return text;
  };
  for (const bool has_turn : {true, false}) {
    put(kOriginalContext);
    const auto store = open();
    ask(*store, "ours", "2025-10-22T00:00:00.000Z");
    std::string theirs(kOriginalContext);
    if (has_turn) {
      theirs =
          with_turn(with_entry(std::move(theirs), "1234567"), "theirs", "2025-10-23T00:00:00.000Z");
    }
    put(with_entry(std::move(theirs), "7654321"));
    ask(*store, "more", "2025-10-24T00:00:00.000Z");
    const std::string written = bytes();
    const auto at = [&written](std::string_view text) { return written.find(text); };
    EXPECT_LT(at("re: ours"), at("7654321")) << written;
    EXPECT_LT(at("7654321"), at("\"more\"")) << written;
    if (has_turn) {
      EXPECT_LT(at("re: theirs"), at("7654321")) << written;
      EXPECT_LT(at("fish"), at("1234567")) << written;
      EXPECT_LT(at("1234567"), at("\"theirs\"")) << written;
    }
  }
}

TEST_F(ContextStore, TheirEarlierTurnIsBeforeOurs) {
  put(kOriginalContext);
  const auto store = open();
  ask(*store, "ours", "2025-10-23T00:00:00.000Z");
  put(with_turn(with_turn(kOriginalContext, "first", "2025-10-22T00:00:00.000Z"), "last",
                "2025-10-24T00:00:00.000Z"));
  const Texts all = texts_in(*store);
  EXPECT_EQ(Texts(all.begin() + 4, all.end()),
            (Texts{"first", "re: first", "ours", "re: ours", "last", "re: last"}));
}

TEST_F(ContextStore, RepeatsAreNotDuplicatesButTheSameLastTurnIs) {
  put(kOriginalContext);
  const auto store = open();
  ask(*store, "again", "2025-10-22T00:00:00.000Z");
  // The same text at another time, and our own turn copied by another program.
  const std::string theirs =
      with_turn(with_turn(kOriginalContext, "again", "2025-10-21T00:00:00.000Z"), "again",
                "2025-10-22T00:00:00.000Z");
  put(theirs);
  const Texts all = texts_in(*store);
  EXPECT_EQ(Texts(all.begin() + 4, all.end()), (Texts{"again", "re: again", "again", "re: again"}));
}

// The original program replaces the conversation unless it is told to continue it, and keeps all
// other members of the file.
TEST_F(ContextStore, NothingOfOursOutlivesTheConversation) {
  const auto with_conversation = [this](std::string_view entries) {
    std::string text = bytes();
    const auto from = text.find("\"conversation\": [") + 17;
    const auto to = text.find("\n  ],\n  \"meta\"");
    return text.replace(from, to - from, entries);
  };
  const auto entry = [](std::string_view words) {
    return cat(R"({"role":"user","content":")", words,
               R"(","timestamp":"2025-10-25T00:00:00.000Z"})");
  };
  for (const std::string_view entries : {"", "fresh"}) {
    notices_.clear();
    put(kOriginalContext);
    must(open()->update(only(*open()), {.title = "Old title", .mode = "old mode"}));
    const auto edit = [](std::vector<Todo>& todos) -> Result<> {
      todos = {{"old todo", TodoStatus::pending, "", {}}};
      return {};
    };
    must(open()->capabilities().todos->edit_todos(only(*open()), edit));
    const std::string old = bytes();
    put(with_conversation(cat("\n    ", entries.empty() ? "" : entry(entries))));
    const std::string replaced = bytes();
    const auto store = open();
    const Session session = must(get(*store, only(*store)));
    EXPECT_EQ(session.info.title, "");
    EXPECT_EQ(session.info.mode, "");
    EXPECT_EQ(must(store->capabilities().todos->todos(only(*store))), std::vector<Todo>());
    EXPECT_EQ(must(store->list({})).damage, std::vector<Damage>());
    EXPECT_EQ(bytes(), replaced) << "reading changes nothing";
    EXPECT_EQ(notices_, Texts());
    ask(*store, "next", "2025-10-26T00:00:00.000Z");
    ask(*store, "more", "2025-10-27T00:00:00.000Z");
    ASSERT_EQ(notices_.size(), 1U);
    EXPECT_NE(notices_.front().find("another program has replaced"), std::string::npos);
    const Texts all = names();
    const auto kept = std::ranges::find_if(
        all, [](const std::string& name) { return name.find(".bak-") != std::string::npos; });
    ASSERT_NE(kept, all.end());
    EXPECT_EQ(must(read_file(folder_.path() / *kept)), replaced);
    EXPECT_EQ(texts_in(*open()).size(), entries.empty() ? 4U : 5U);
    fs::remove(folder_.path() / *kept);
  }
}

TEST_F(ContextStore, WhatOthersAddOrRemoveKeepsOurs) {
  put(kOriginalContext);
  must(open()->update(only(*open()), {.title = "Title"}));
  put(with_turn(bytes(), "theirs", "2025-10-25T00:00:00.000Z"));
  EXPECT_EQ(must(get(*open(), only(*open()))).info.title, "Title");
  std::string text = bytes();
  const auto from = text.find("{\n      \"role\"");
  put(text.replace(from, text.find("{\n      \"role\"", from + 1) - from, ""));
  EXPECT_EQ(must(get(*open(), only(*open()))).info.title, "Title") << "the first entry is gone";
}

TEST_F(ContextStore, TurnsRemovedOnPurposeAreNotRestored) {
  put(kOriginalContext);
  const auto store = open();
  ask(*store, "ours", "2025-10-22T00:00:00.000Z");
  const auto other = open();
  must(other->capabilities().rewriting->replace_suffix(only(*other), {4}, {}, {}));
  EXPECT_EQ(texts_in(*store).size(), 4U);
  must(other->capabilities().trash->trash(only(*other), at(1)));
  EXPECT_EQ(must(store->list({})).sessions.size(), 0U);
}

// A write between reading and replacing the file.
TEST_F(ContextStore, AWriterInBetweenIsNotOverwritten) {
  put(kOriginalContext);
  const auto store = open();
  int calls = 0;
  must(store->capabilities().todos->edit_todos(
      only(*store), [&](std::vector<Todo>& todos) -> Result<> {
        todos = {{"a", TodoStatus::pending, "", {}}};
        if (calls++ == 0) {
          put(with_turn(kOriginalContext, "theirs", "2025-10-22T00:00:00.000Z"));
        }
        return {};
      }));
  EXPECT_EQ(calls, 2) << "edited again, on what is there now";
  EXPECT_EQ(texts_in(*open()).back(), "re: theirs");
  EXPECT_EQ(must(store->capabilities().todos->todos(only(*store))).size(), 1U);
}

TEST_F(ContextStore, HoldsOneConversation) {
  const auto store = open();
  must(store->create(session("first")));
  must(store->append(session_id("first"), {user("hello")}, {}));
  const std::string before = bytes();
  EXPECT_TRUE(fails(store->create(session("second")), Code::unsupported));
  EXPECT_EQ(bytes(), before);
  must(store->capabilities().trash->trash(session_id("first"), at(1)));
  must(store->create(session("second")));
  must(store->capabilities().trash->trash(session_id("second"), at(1)));
  must(store->create(session("third")));
  EXPECT_TRUE(fails(store->capabilities().trash->restore(session_id("first")), Code::unsupported));
  EXPECT_EQ(must(store->list({.states = {SessionState::trashed}})).sessions.size(), 2U);
  must(store->capabilities().trash->purge(session_id("third")));
  must(store->capabilities().trash->restore(session_id("first")));
  EXPECT_EQ(texts_in(*open()), Texts{"hello"});
  must(store->capabilities().trash->purge(session_id("second")));
  EXPECT_TRUE(fs::is_empty(fs::path(file_.native() + ".trash")));
}

TEST_F(ContextStore, TheSettingsOutliveTheConversation) {
  std::string text(kOriginalContext);
  text.replace(text.find("0.7"), 3, "1.25");
  put(text);
  const auto store = open();
  must(store->capabilities().trash->trash(only(*store), at(1)));
  EXPECT_NE(bytes().find("\"temperature\": 1.25"), std::string::npos);
  EXPECT_NE(bytes().find("\"conversation\": []"), std::string::npos);
}

TEST_F(ContextStore, IsVerifiedRepairedAndBackedUp) {
  put(R"({"conversation": [{"role": "user", "content": "q"}, 17]})");
  const auto store = open();
  const VerifyReport report = must(store->capabilities().repair->verify());
  EXPECT_EQ(report.sessions, 1);
  EXPECT_EQ(report.messages, 1);
  EXPECT_EQ(report.damage.size(), 1U);
  const fs::path target = folder_.path() / "copy.json";
  must(store->capabilities().repair->repair_into(target));
  const auto copy = must(open_context_store(target));
  EXPECT_EQ(texts_in(*copy), Texts{"q"});
  must(store->capabilities().backup->backup(folder_.path() / "backup.json"));
  EXPECT_EQ(must(read_file(folder_.path() / "backup.json")), bytes());
}

TEST_F(ContextStore, RepairPreservesMessagesBeforeATruncation) {
  const std::string whole =
      R"({"model": "m", "conversation": [{"role": "user", "content": "q"}, {"role": "assistant", )"
      R"("content": "a"}, {"role": "user", "content": "more"}], "meta": {"total_turns": 1}})";
  const std::pair<std::size_t, Texts> cases[] = {{whole.find("more"), Texts{"q", "a"}},
                                                 {whole.size() - 2, Texts{"q", "a", "more"}}};
  for (const auto& [cut, texts] : cases) {
    put(whole.substr(0, cut));
    const fs::path target = folder_.path() / cat("copy", cut, ".json");
    const VerifyReport report = must(open()->capabilities().repair->repair_into(target));
    EXPECT_EQ(report.messages, std::ssize(texts)) << cut;
    EXPECT_EQ(report.damage.size(), 1U) << cut;
    EXPECT_EQ(texts_in(*must(open_context_store(target))), texts) << cut;
  }
}

TEST(ContextFile, IsFoundUpwards) {
  const TemporaryFolder folder;
  const fs::path root = fs::canonical(folder.path());
  const fs::path below = root / "a" / "b";
  fs::create_directories(below);
  EXPECT_EQ(find_context_file(below), below / ".ai/openai.json") << "nothing around";
  must(replace_file(root / "package.json", "{}"));
  EXPECT_EQ(find_context_file(below), root / ".ai/openai.json");
  fs::create_directory(root / "a" / ".git");
  EXPECT_EQ(find_context_file(below), root / "a/.ai/openai.json") << "the nearest";
  fs::create_directory(root / ".ai");
  must(replace_file(root / ".ai" / "config.json", R"({"theme": "dark"})"));
  EXPECT_EQ(find_context_file(below), root / "a/.ai/openai.json") << "another program's file";
  must(replace_file(root / ".ai" / "openai.json", "damaged"));
  EXPECT_EQ(find_context_file(below), root / ".ai/openai.json") << "there, though damaged";
  must(replace_file(root / ".ai" / "config.json", kOriginalContext));
  EXPECT_EQ(find_context_file(below), root / ".ai/config.json") << "the newer name";
  EXPECT_EQ(find_context_file(root), root / ".ai/config.json");
}

TEST(ContextFile, IsRecognised) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "anything";
  must(replace_file(file, kOriginalContext));
  EXPECT_EQ(must(recognise_store(file)), cat("context:", file.native()));
  EXPECT_EQ(must(must(open_store(file.native()))->list({})).sessions.size(), 1U);
  must(replace_file(file, R"({"name": "x", "model": 1})"));
  EXPECT_EQ(must(recognise_store(file)), "");
  must(replace_file(file, kOriginalContext.substr(0, 500)));
  EXPECT_EQ(must(recognise_store(file)), "");
}

}  // namespace
}  // namespace reprise::test
