// Written files satisfy the rules of the original program, and unchanged parts are preserved,
// damaged or not.

#include <gtest/gtest.h>

#include <regex>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/terminal_text.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "reprise/open_store.h"
#include "sessions/fixture.h"
#include "store/document/document_format.h"
#include "store/sessions/session_json.h"
#include "store/stored_session.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

using store::FileSession;
using Texts = std::vector<std::string>;

std::string text_of(std::string_view json) {
  std::string text;
  EXPECT_TRUE(json::Scanner(json).string(text)) << json;
  return text;
}

Texts texts_in(std::string_view array) {
  Texts texts;
  json::Scanner scanner(array);
  EXPECT_TRUE(scanner.array([&] { return scanner.string(texts.emplace_back()); })) << array;
  return texts;
}

Texts prompts_in(const std::string& file) {
  return texts_in(json::find_member(file, "prompt_history"));
}

void add(FileSession& file, Message message) {
  store::add_message(file.stored, std::move(message));
}

// The checks of the original's loader, which refuses the whole file if one fails.
void expect_taken_by_the_original(const std::string& file) {
  for (const std::string_view name :
       {"version", "id", "name", "project_path", "config", "created_at", "updated_at", "closed_at",
        "conversation", "todos"}) {
    EXPECT_FALSE(json::find_member(file, name).empty()) << name;
  }
  const std::string name = text_of(json::find_member(file, "name"));
  EXPECT_FALSE(name.empty());
  EXPECT_EQ(grapheme_prefix(name, 50), name);
  EXPECT_LE(prompts_in(file).size(), 100U);
  json::Scanner conversation(json::find_member(file, "conversation"));
  conversation.array([&] {
    std::string_view raw;
    conversation.raw(raw);
    const std::string role = text_of(json::find_member(raw, "role"));
    EXPECT_TRUE(role == "user" || role == "assistant" || role == "system" || role == "tool")
        << role;
    for (const std::string_view member : {"id", "content", "timestamp"}) {
      EXPECT_TRUE(json::find_member(raw, member).starts_with('"')) << raw;
    }
    return true;
  });
}

FileSession session_with(std::string title, std::vector<Message> messages) {
  FileSession file = read(file_with(""));
  file.stored.session.info.title = std::move(title);
  for (Message& message : messages) {
    add(file, std::move(message));
  }
  return file;
}

std::string name_in(std::string_view part) {
  return std::string(part.substr(1, part.find('"', 1) - 1));
}

std::string_view value_in(std::string_view part) {
  return trimmed(part.substr(part.find(':') + 1));
}

// A file with the member of the same name replaced by `part`.
std::string file_having(std::string_view conversation, std::string_view part) {
  std::string json = file_with(conversation);
  const std::string_view there = json::find_member(json, name_in(part));
  if (there.empty()) {
    return file_with(conversation, cat(",", part));
  }
  return json.replace(static_cast<std::size_t>(there.data() - json.data()), there.size(),
                      value_in(part));
}

TEST(NewSessions, HaveIdsOfVersion4) {
  const TemporaryFolder folder;
  const auto store = must(open_sessions_store(folder.path()));
  const std::regex is_taken(
      "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$");
  for (int i = 0; i < 100; ++i) {
    const auto id =
        make_session_id(system_clock(), system_entropy(), store->capabilities().new_ids);
    EXPECT_TRUE(std::regex_match(id.str(), is_taken)) << id.str();
  }
  EXPECT_EQ(must(open_sqlite_store(folder.path() / "x.db"))->capabilities().new_ids,
            UuidVersion::v7);
}

TEST(Names, AreTruncatedForTheOriginalAndTheTitleIsPreserved) {
  std::string families;
  for (int i = 0; i < 60; ++i) {
    families += "\U0001F468\u200D\U0001F469\u200D\U0001F467";
  }
  for (const std::string& title :
       {std::string("short"), std::string(50, 'x'), std::string(51, 'y'), std::string(), families,
        std::string("  "), cat(std::string(49, 'a'), " b")}) {
    FileSession file = session_with(title, {user("q")});
    const std::string json = written(file);
    expect_taken_by_the_original(json);
    EXPECT_EQ(read(json).stored.session.info.title, title);
    EXPECT_EQ(written(read(json)), json);
  }
  EXPECT_EQ(text_of(json::find_member(written(session_with(std::string(51, 'y'), {})), "name")),
            std::string(50, 'y'));
  FileSession nameless = session_with("", {});
  nameless.stored.session.info.working_dir = "/home/anna/alpha/";
  EXPECT_EQ(text_of(json::find_member(written(nameless), "name")), "alpha");
}

TEST(Names, ThatAnotherProgramChangedAreTheTitle) {
  std::string json = written(session_with(std::string(60, 'y'), {user("q")}));
  const std::string name = cat("\"", std::string(50, 'y'), "\"");
  json.replace(json.find(name), name.size(), "\"other\"");
  EXPECT_EQ(read(json).stored.session.info.title, "other");
}

TEST(Roles, AreThoseOfTheOriginal) {
  const std::string json = written(
      session_with("t", {message("developer", "a"), message("tool", "b"), message("odd", "c")}));
  expect_taken_by_the_original(json);
  const FileSession again = read(json);
  EXPECT_EQ(again.stored.log->at(0)->role, "developer");
  EXPECT_EQ(again.stored.log->at(1)->role, "tool");
  EXPECT_EQ(again.stored.log->at(2)->role, "odd");
}

TEST(PromptHistory, HasEachPromptTheNewestFirst) {
  FileSession file = session_with("t", {user("one"), assistant("1"), user(" two\n"), user("two")});
  const std::string json = written(file);
  EXPECT_EQ(prompts_in(json), (Texts{"two", "two", "one"}));
  FileSession again = read(json);
  EXPECT_EQ(again.stored.session.prompt_history, Texts{}) << "they follow from the messages";
  EXPECT_EQ(written(again), json);
  add(again, user("three"));
  EXPECT_EQ(prompts_in(written(again)), (Texts{"three", "two", "two", "one"}));
}

TEST(PromptHistory, OfTheOriginalIsContinued) {
  FileSession file = read(file_with(entry("assistant", "a", "2025-12-16T15:00:01Z"),
                                    R"(,"prompt_history":["/help","old"])"));
  add(file, user("new"));
  const std::string json = written(file);
  EXPECT_EQ(prompts_in(json), (Texts{"new", "/help", "old"}));
  FileSession again = read(json);
  EXPECT_EQ(again.stored.session.prompt_history, (Texts{"/help", "old"}));
  add(again, user("newer"));
  EXPECT_EQ(prompts_in(written(again)), (Texts{"newer", "new", "/help", "old"}));
  // The original drops our member and keeps the list; prompts are not duplicated.
  std::string theirs = json;
  const std::size_t at = theirs.find("  \"reprise\": ");
  theirs.erase(at, theirs.find('\n', at) + 1 - at);
  FileSession back = read(theirs);
  EXPECT_EQ(back.stored.session.prompt_history, (Texts{"new", "/help", "old"}));
  add(back, user("newer"));
  EXPECT_EQ(prompts_in(written(back)), (Texts{"newer", "new", "/help", "old"}));
}

TEST(PromptHistory, IsLimitedLikeInTheOriginal) {
  std::string given;
  for (int i = 0; i < 100; ++i) {
    given += cat(i == 0 ? "" : ",", "\"old ", i, "\"");
  }
  FileSession file = read(file_with("", cat(",\"prompt_history\":[", given, "]")));
  for (int i = 0; i < 3; ++i) {
    add(file, user(cat("new ", i)));
    file = read(written(file));
    EXPECT_EQ(file.stored.session.prompt_history.size(), 100U) << "nothing is lost";
  }
  const Texts prompts = prompts_in(written(file));
  EXPECT_EQ(prompts.size(), 100U);
  EXPECT_EQ(prompts.at(0), "new 2");
  EXPECT_EQ(prompts.at(2), "new 0");
  EXPECT_EQ(prompts.at(3), "old 0");
  // Derived copies of prompts must not make a session too large to write.
  FileSession large = session_with("t", {user(std::string(300'000, 'x')), user("small")});
  EXPECT_EQ(prompts_in(written(large)), Texts{"small"});
}

TEST(Damage, OfEveryKindIsReportedAndPreserved) {
  const Texts parts = {"\"name\":7",
                       "\"name\": \"n\xFF\"",
                       "\"project_path\":[1, 2]",
                       "\"created_at\" : \"some day\"",
                       "\"config\":\"x\"",
                       "\"config\":{\"model\": 5,  \"temperature\":\"\xFE\"}",
                       "\"todos\":{\"a\":1}",
                       "\"todos\":[ 7, {\"content\":\"\xFF\",\"status\":\"pending\","
                       "\"active_form\":\"f\"}]",
                       "\"todos\":[{\"content\":\"c\",\"status\":\"pending\","
                       "\"active_form\":5}]",
                       "\"version\":\"one\"",
                       "\"prompt_history\":[\"a\",  1]",
                       "\"cumulative_usage\": 5",
                       "\"id\":12",
                       "\"language\": \"\xC3\""};
  for (const std::string& part : parts) {
    const std::string name = name_in(part);
    FileSession file = read(file_having(entry("user", "q", "2025-12-16T15:00:01Z"), part));
    ASSERT_FALSE(file.damage.empty()) << part;
    EXPECT_NE(file.damage.front().where.find(name), std::string::npos) << part;
    add(file, assistant("more"));
    file.stored.session.response_chain.push_back({"p", "r"});
    const std::string json = written(file);
    EXPECT_EQ(json::find_member(json, name), value_in(part)) << json;
    const FileSession again = read(json);
    EXPECT_EQ(again.damage.size(), file.damage.size()) << part;
    EXPECT_EQ(again.stored.session, file.stored.session) << part;
  }
}

TEST(Damage, OfMessagesAndEntriesIsReportedAndPreserved) {
  const Texts entries = {
      "{\"role\":\"user\",\"content\":\"a\xFF\",  "
      "\"timestamp\":\"2025-12-16T15:00:01Z\",\"id\":\"m\"}",
      R"({"role":"user","content":"b","timestamp":5,"id":"m"})",
      R"({"role":"user","content":"c","timestamp":"2025-12-16T15:00:01Z","id":  7})",
      R"({"role":"user","content":"d","timestamp":"2025-12-16T15:00:01Z","usage":"x"})",
      "{\"role\":\"user\",\"text\":\"e\xFF\"}",
      "\"no\xFFthing\"",
  };
  for (const std::string& bad : entries) {
    FileSession file = read(file_with(bad));
    ASSERT_EQ(file.damage.size(), 1U) << bad;
    EXPECT_TRUE(file.damage.front().where.ends_with("conversation[0]"));
    add(file, assistant("more", at(9)));
    const std::string json = written(file);
    EXPECT_NE(json.find(bad), std::string::npos) << json;
    EXPECT_EQ(read(json).damage.size(), 1U);
    EXPECT_EQ(written(read(json)), json);
  }
}

TEST(Damage, BesideChangesIsPreserved) {
  std::string json =
      file_having("", "\"config\":{\"model\":\"m\",\"temperature\":\"\xFE\",\"provider\":\"p\"}");
  const std::string none = "\"todos\":[]";
  json.replace(json.find(none), none.size(),
               "\"todos\":[{\"content\":\"\xFF\",\"status\":\"pending\","
               "\"active_form\":\"f\"}, 7]");
  FileSession file = read(json);
  file.stored.session.info.model = "other";
  file.stored.todos.push_back({"new", TodoStatus::pending, "", {}});
  json = written(file);
  EXPECT_EQ(json::find_member(json::find_member(json, "config"), "temperature"), "\"\xFE\"");
  EXPECT_NE(json.find("{\"content\":\"\xFF\",\"status\":\"pending\",\"active_form\":\"f\"}"),
            std::string::npos)
      << json;
  EXPECT_EQ(read(json).stored.session.info.model, "other");
  EXPECT_EQ(read(json).stored.todos.size(), 2U);
}

}  // namespace
}  // namespace reprise::test
