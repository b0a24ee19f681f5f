// Sessions that the original program has resumed and saved again: it keeps the members that it
// knows, and writes the newest message first.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/json_view.h"
#include "base/json_write.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "sessions/fixture.h"
#include "support/build.h"
#include "support/must.h"
#include "support/print.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string members(std::string_view object, std::initializer_list<std::string_view> known) {
  std::string out;
  json::ObjectWriter writer(out);
  for (const std::string_view name : known) {
    if (const std::string_view value = json::find_member(object, name); !value.empty()) {
      writer.raw(name, value);
    }
  }
  writer.close();
  return out;
}

class Rewritten : public testing::Test {
 protected:
  Rewritten() {
    Session closed = session(id_.str());
    closed.info.title = "A title that is too long for the original, which takes fifty characters";
    closed.info.provider = "openai-chat";
    closed.info.model = "m";
    closed.info.mode = "review";
    closed.system_prompt = "Be brief.";
    closed.config = raw(R"({"base_url":"http://127.0.0.1:1/v1","temperature":0.5})");
    must(store_->create(closed));
    Message call = assistant("", at(2));
    call.blocks = {TextBlock{"I look.", {}},
                   ToolUseBlock{"t1", "list_dir", raw(R"({"path":"."})"), {}}};
    Message result = message(role::kTool, "", at(3));
    result.blocks = {ToolResultBlock{"t1", "THE-RESULT", false, std::nullopt, {}}};
    must(store_->append(id_, {user("q", at(1)), call, result, assistant("a", at(4))}, {}));
    close();
    before_ = must(get(*store_, id_));
    messages_ = must(read_all(*store_, id_));
  }

  fs::path root() const { return folder_.path() / "sessions"; }
  fs::path file() const { return root() / cat(id_.str(), ".json"); }
  fs::path ours() const { return root() / ".reprise" / cat(id_.str(), ".json"); }
  void close() { must(store_->update(id_, {.state = SessionState::closed, .closed_at = at(9)})); }

  // `config` replaces the members of it that the original keeps; `added` is its newest message.
  void save_by_original(const std::string& config = "", const std::string& added = "") {
    const std::string text = must(read_file(file()));
    std::string newest_first;
    const auto prepend = [&newest_first](std::string_view message) {
      newest_first.insert(0, cat(message, newest_first.empty() ? "" : ","));
    };
    JsonView(text)["conversation"].each([&](const JsonView& message) {
      prepend(members(message.raw(), {"content", "id", "role", "timestamp", "usage"}));
    });
    if (!added.empty()) {
      prepend(added);
    }
    std::string out =
        members(text, {"closed_at", "created_at", "cumulative_usage", "id", "name", "project_path",
                       "prompt_history", "todos", "updated_at", "version"});
    out.pop_back();
    const std::string settings = config.empty()
                                     ? members(json::find_member(text, "config"),
                                               {"max_tokens", "model", "provider", "temperature"})
                                     : config;
    out += cat(",\"config\":", settings, ",\"conversation\":[", newest_first, "]}");
    must(replace_file(file(), out));
    store_ = must(open_sessions_store(root()));
  }

  TemporaryFolder folder_;
  SessionId id_ = session_id(kFixtureId);
  std::unique_ptr<Store> store_ = must(open_sessions_store(root()));
  Session before_{.info = {.id = id_}};
  std::vector<Message> messages_;
};

TEST_F(Rewritten, KeepsWhatTheOriginalDropped) {
  save_by_original();
  EXPECT_EQ(must(get(*store_, id_)), before_);
  EXPECT_EQ(must(read_all(*store_, id_)), messages_);
  const SessionPage page = must(store_->list({}));
  ASSERT_EQ(page.sessions.size(), 1U);
  EXPECT_EQ(page.sessions[0].title, before_.info.title);
  EXPECT_EQ(page.sessions[0].provider, "openai-chat");
  EXPECT_EQ(page.sessions[0].mode, "review");
}

TEST_F(Rewritten, ItIsInTheFileAgainAfterTheNextWrite) {
  save_by_original();
  must(store_->update(id_, {.title = "other"}));
  fs::remove(ours());
  store_ = must(open_sessions_store(root()));
  EXPECT_EQ(must(get(*store_, id_)).config, before_.config);
  EXPECT_EQ(must(read_all(*store_, id_)), messages_);
}

TEST_F(Rewritten, MessagesOfTheOriginalAreAdded) {
  save_by_original("", entry("user", "more", format_time(at(20))));
  std::vector<Message> all = must(read_all(*store_, id_));
  ASSERT_EQ(all.size(), messages_.size() + 1);
  EXPECT_EQ(plain_text(all.back()), "more");
  all.pop_back();
  EXPECT_EQ(all, messages_);
  EXPECT_EQ(must(get(*store_, id_)).config, before_.config);
}

TEST_F(Rewritten, WhatTheOriginalChangedIsTheNewOne) {
  save_by_original(R"({"model":"m-2","provider":"openai","temperature":0.9})");
  const Session session = must(get(*store_, id_));
  EXPECT_EQ(session.info.model, "m-2");
  EXPECT_EQ(session.info.provider, "openai-chat") << "the same one for the original";
  EXPECT_THAT(session.config.text(), HasSubstr("\"temperature\":0.9"));
  EXPECT_THAT(session.config.text(), HasSubstr("127.0.0.1")) << "its server";
}

TEST_F(Rewritten, TheServerOfAnotherProviderIsNotItsServer) {
  save_by_original(R"({"model":"m-2","provider":"anthropic"})");
  const Session session = must(get(*store_, id_));
  EXPECT_EQ(session.info.provider, "anthropic");
  EXPECT_EQ(session.config, RawJson());
}

TEST_F(Rewritten, AnotherConversationTakesNothingFromTheOldOne) {
  must(replace_file(file(), file_with(entry("user", "new", "2025-12-16T15:00:00Z"))));
  store_ = must(open_sessions_store(root()));
  const Session session = must(get(*store_, id_));
  EXPECT_EQ(session.info.title, "n");
  EXPECT_EQ(session.info.mode, "");
  EXPECT_EQ(session.system_prompt, "");
  EXPECT_EQ(session.config, RawJson());
}

TEST_F(Rewritten, AChangedTextLosesItsOtherBlocks) {
  const std::string text = must(read_file(file()));
  std::string changed = text;
  changed.replace(changed.find("I look."), 7, "I LOOK.");
  must(replace_file(file(), changed));
  save_by_original();
  const std::vector<Message> all = must(read_all(*store_, id_));
  EXPECT_EQ(all[1].blocks, (std::vector<Block>{TextBlock{"I LOOK.", {}}}));
  EXPECT_EQ(all[2], messages_[2]);
}

TEST_F(Rewritten, APurgeRemovesOurVersion) {
  ASSERT_TRUE(fs::exists(ours()));
  must(store_->capabilities().trash->purge(id_));
  EXPECT_FALSE(fs::exists(ours()));
}

TEST_F(Rewritten, ABackupHasOurVersion) {
  save_by_original();
  must(store_->capabilities().backup->backup(folder_.path() / "copy"));
  const auto copy = must(open_sessions_store(folder_.path() / "copy"));
  EXPECT_EQ(must(get(*copy, id_)), before_);
}

TEST_F(Rewritten, OurVersionWaitsForASessionThatTheOriginalHasOpen) {
  fs::remove(file());
  must(must(open_sessions_store(root()))->create(session("other")));
  EXPECT_TRUE(fs::exists(ours()));
  fs::last_write_time(ours(), fs::file_time_type::clock::now() - std::chrono::days(31));
  must(must(open_sessions_store(root()))->create(session("another")));
  EXPECT_FALSE(fs::exists(ours())) << "it was deleted there";
}

TEST_F(Rewritten, TheContentHasTheResultsOfToolsOnce) {
  const std::string text = must(read_file(file()));
  std::vector<std::string> results;
  JsonView(text)["conversation"].each([&](const JsonView& message) {
    if (message["role"].text() == "tool") {
      results.push_back(message["content"].text());
    }
  });
  EXPECT_EQ(results, std::vector<std::string>{"THE-RESULT"});
  EXPECT_EQ(text.find("THE-RESULT"), text.rfind("THE-RESULT"));
  EXPECT_EQ(JsonView(text)["config"]["provider"].text(), "openai");
}

}  // namespace
}  // namespace reprise::test
