#include "store/sessions/session_json.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/json_scan.h"
#include "base/json_view.h"
#include "base/json_write.h"
#include "base/text.h"
#include "sessions/fixture.h"
#include "store/document/document_format.h"
#include "store/stored_session.h"
#include "support/build.h"
#include "support/must.h"
#include "support/print.h"

namespace reprise::test {
namespace {

using store::FileSession;
using store::SharedMessage;
using store::sessions::kMembers;
using store::sessions::read_session;
using store::sessions::SigningKey;
using store::sessions::write_session;

std::vector<std::string> texts_of(const FileSession& session) {
  std::vector<std::string> texts;
  for (const SharedMessage& message : session.stored.log->own) {
    texts.push_back(plain_text(*message));
  }
  return texts;
}

std::vector<std::string> damaged_parts(const FileSession& session) {
  std::vector<std::string> parts;
  for (const Damage& damage : session.damage) {
    EXPECT_TRUE(damage.where.starts_with(cat(kFixtureId, ".json: "))) << damage.where;
    parts.push_back(damage.where.substr(kFixtureId.size() + 7));
  }
  return parts;
}

// In byte order, at every depth.
bool has_sorted_keys(JsonView value) {
  std::vector<std::string_view> keys;
  bool is_sorted = true;
  value.each_member([&](std::string_view key, JsonView member) {
    is_sorted = is_sorted && (keys.empty() || keys.back() <= key) && has_sorted_keys(member);
    keys.push_back(key);
  });
  value.each([&](JsonView element) { is_sorted = is_sorted && has_sorted_keys(element); });
  return is_sorted;
}

using Texts = std::vector<std::string>;

TEST(ReadSession, ReadsEveryMember) {
  const FileSession file = read(fixture());
  EXPECT_EQ(file.damage, std::vector<Damage>{});
  const Session& session = file.stored.session;
  const SessionInfo& info = session.info;
  EXPECT_EQ(info.title, "alpha");
  EXPECT_EQ(info.state, SessionState::closed);
  EXPECT_EQ(info.provider, "anthropic");
  EXPECT_EQ(info.model, "claude-x");
  EXPECT_EQ(info.working_dir, "/home/anna/alpha");
  EXPECT_EQ(info.head, Seq{2});
  EXPECT_EQ(format_time(info.created_at), "2025-12-16T14:00:00Z");
  EXPECT_EQ(format_time(info.updated_at), "2025-12-16T15:00:01.500Z");
  EXPECT_EQ(format_time(info.closed_at.value()), "2025-12-16T16:00:00.654321Z");
  EXPECT_EQ(session.config.text(), R"({"max_tokens":4096,"stream":"true","temperature":0.7})");
  EXPECT_EQ(session.usage, (Usage{.input = {12}, .output = {3}, .cost = Money{105'000}}));
  EXPECT_EQ(session.prompt_history, Texts{"Hello"});
  EXPECT_EQ(session.extra,
            (Extra{{"language", raw("\"python\"")},
                   {"spelling", raw(R"({"updated_at":"2025-12-16T15:00:01.5Z"})")}}));
  EXPECT_EQ(file.stored.todos,
            (std::vector<Todo>{{"Run tests", TodoStatus::in_progress, "Running tests", {}}}));
  const Message& answer = *file.stored.log->at(1);
  EXPECT_EQ(answer.role, "assistant");
  EXPECT_EQ(answer.usage, session.usage);
  EXPECT_EQ(answer.extra,
            (Extra{{"id", raw("\"msg-002\"")}, {"timestamp", raw("\"2025-12-16T15:00:01.5Z\"")}}));
  EXPECT_EQ(plain_text(*file.stored.log->at(0)), "Hello \xC3\xA9\xE2\x80\xA8 \x01\n\"q\" /");
}

TEST(ReadSession, IgnoresWhenAnOpenSessionWasClosed) {
  EXPECT_EQ(read(fixture(), SessionState::active).stored.session.info.closed_at, std::nullopt);
  EXPECT_EQ(read(fixture(), SessionState::active).stored.session.info.state, SessionState::active);
}

TEST(WriteSession, KeepsTheBytesOfAFileOfOurs) {
  const std::string once = written(read(fixture()));
  EXPECT_EQ(written(read(once)), once);
  const SigningKey key = fixture_key();
  const std::string proven = written(read(fixture()), &key);
  EXPECT_EQ(written(read(proven), &key), proven);
  EXPECT_EQ(written(read(proven)), once) << "without the secret: unsigned";
}

TEST(WriteSession, AddsOneMemberToAFileOfTheOriginals) {
  std::string ours = written(read(fixture()));
  const std::size_t at = ours.find("  \"reprise\": ");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(ours.substr(at, ours.find('\n', at) - at), R"(  "reprise": "{\"messages\":2}",)");
  ours.erase(at, ours.find('\n', at) + 1 - at);
  std::string theirs = fixture();
  const std::size_t signature = theirs.find("  \"signature\"");
  theirs.erase(signature, theirs.find('\n', signature) + 1 - signature);
  EXPECT_EQ(ours, theirs);
}

TEST(WriteSession, LooksLikeTheOriginal) {
  FileSession file = read(fixture());
  store::add_message(file.stored, user("more", at(5)));
  const std::string json = written(file);
  EXPECT_EQ(json, must(json::pretty(json))) << "two blanks, no line end at the end";
  EXPECT_TRUE(has_sorted_keys(JsonView(json)));
  EXPECT_NE(json.find("\"content\": \"more\",\n      \"id\": \"reprise-2\",\n      \"role\""),
            std::string::npos);
}

TEST(ReadSession, OrdersTheMessagesByTime) {
  const std::string newest_first =
      file_with(cat(entry("assistant", "d", "2025-12-16T15:00:03Z"), ",",
                    entry("user", "c", "2025-12-16T15:00:02.000001Z"), ",",
                    entry("assistant", "b", "2025-12-16T15:00:02Z"), ",",
                    entry("user", "a", "2025-12-16T15:00:01Z")));
  EXPECT_EQ(texts_of(read(newest_first)), (Texts{"a", "b", "c", "d"}));
  const std::string mixed = file_with(cat(entry("user", "c", "2025-12-16T16:00:02+01:00"), ",",
                                          entry("user", "d", "2025-12-16T15:00:03Z"), ",",
                                          entry("user", "a", "2025-12-16 15:00:01Z"), ",",
                                          entry("user", "b", "2025-12-16T10:00:01.5-05:00")));
  EXPECT_EQ(texts_of(read(mixed)), (Texts{"a", "b", "c", "d"}));
  EXPECT_EQ(read(mixed).damage, std::vector<Damage>{});
}

TEST(ReadSession, LeavesMessagesOfOneTimeInTheirOrder) {
  const std::string same = file_with(cat(entry("user", "a", "2025-12-16T15:00:01Z"), ",",
                                         entry("assistant", "b", "2025-12-16T15:00:01Z"), ",",
                                         entry("user", "c", "2025-12-16T15:00:01Z")));
  EXPECT_EQ(texts_of(read(same)), (Texts{"a", "b", "c"}));
}

TEST(ReadSession, LeavesTheOrderThatWeWroteEvenIfTheClockWentBack) {
  FileSession file = read(file_with(""));
  store::add_message(file.stored, user("first", at(100)));
  store::add_message(file.stored, assistant("second", at(50)));
  store::add_message(file.stored, user("third", at(75)));
  const std::string json = written(file);
  EXPECT_EQ(texts_of(read(json)), (Texts{"first", "second", "third"}));
  // The original drops our member; then only the times determine the order.
  std::string theirs = json;
  const std::size_t at = theirs.find("  \"reprise\"");
  theirs.erase(at, theirs.find('\n', at) + 1 - at);
  EXPECT_EQ(texts_of(read(theirs)), (Texts{"second", "third", "first"}));
}

TEST(ReadSession, ReportsMissingQuestions) {
  const std::string answers = entry("assistant", "a", "2025-12-16T15:00:01Z");
  const FileSession with_prompts =
      read(file_with(answers, R"(,"prompt_history":["newest","older"])"));
  EXPECT_EQ(with_prompts.stored.session.prompt_history, (Texts{"newest", "older"}));
  EXPECT_EQ(with_prompts.damage, std::vector<Damage>{});
  ASSERT_EQ(with_prompts.gaps.size(), 1U);
  EXPECT_EQ(with_prompts.gaps[0].reason,
            "the answers have no questions: the questions are in the prompt history");
  EXPECT_EQ(read(file_with(answers)).gaps.size(), 1U);
  EXPECT_EQ(read(file_with("")).gaps.size(), 0U);
  EXPECT_EQ(read(fixture()).gaps.size(), 0U);
}

TEST(ReadSession, KeepsConfigValuesAsTheyAre) {
  std::string json = fixture();
  const std::string config =
      R"({"extra":{"a":""},"max_tokens":"4096","model":"","provider":null,"stream":"true"})";
  const std::size_t from = json.find("\"config\": ") + 10;
  json.replace(from, json.find("\"conversation\"") - 4 - from, config);
  const FileSession file = read(json);
  EXPECT_EQ(file.stored.session.info.model, "");
  EXPECT_EQ(file.stored.session.info.provider, "");
  EXPECT_EQ(file.stored.session.config.text(), config);
  const std::string again = written(file);
  EXPECT_EQ(json::compact(json::find_member(again, "config")), config);
  EXPECT_EQ(read(again).stored.session, file.stored.session);

  FileSession chosen = file;
  chosen.stored.session.info.model = "m";
  EXPECT_EQ(read(written(chosen)).stored.session, chosen.stored.session);
  chosen.stored.session.config = raw("[1]");
  EXPECT_EQ(read(written(chosen)).stored.session, chosen.stored.session);
}

TEST(ReadSession, ABadMessageCostsItself) {
  const Texts bad = {"5",
                     "\"text\"",
                     "null",
                     "[]",
                     "{}",
                     R"({"role":"user","timestamp":"2025-12-16T15:00:02Z"})",
                     R"({"role":"user","content":["a"],"timestamp":"2025-12-16T15:00:02Z"})",
                     R"({"role":7,"content":"a","timestamp":"2025-12-16T15:00:02Z"})"};
  const std::string before = entry("user", "a", "2025-12-16T15:00:01Z");
  const std::string after = entry("assistant", "b", "2025-12-16T15:00:02Z");
  for (const std::string& one : bad) {
    FileSession file = read(file_with(cat(before, ",", one, ",", after, ",", one)));
    EXPECT_EQ(texts_of(file), (Texts{"a", "b"})) << one;
    EXPECT_EQ(damaged_parts(file), (Texts{"conversation[1]", "conversation[3]"})) << one;
    EXPECT_EQ(file.damage[0].excerpt, one);
    store::add_message(file.stored, user("c", at(0)));
    const std::string again = written(file);
    Texts places;
    json::Scanner scanner(json::find_member(again, "conversation"));
    scanner.array([&] {
      std::string_view entry;
      const bool good = scanner.raw(entry);
      places.emplace_back(json::compact(entry) == one ? "bad" : "good");
      return good;
    });
    EXPECT_EQ(places, (Texts{"good", "bad", "good", "bad", "good"})) << one;
    EXPECT_EQ(written(read(again)), again);
  }
}

TEST(ReadSession, AMessageWithoutAGoodTimeStaysWhereItIs) {
  const FileSession file = read(file_with(cat(entry("user", "a", "2025-12-16T15:00:01Z"), ",",
                                              entry("assistant", "b", "yesterday"), ",",
                                              entry("user", "c", "2025-12-16T15:00:02Z"))));
  EXPECT_EQ(texts_of(file), (Texts{"a", "b", "c"}));
  EXPECT_EQ(damaged_parts(file), Texts{"conversation[1]"});
  EXPECT_EQ(file.stored.log->at(1)->created_at, file.stored.log->at(0)->created_at);
}

TEST(ReadSession, ABadTodoCostsItself) {
  std::string json = fixture();
  const std::size_t from = json.find("\"todos\": ") + 9;
  json.replace(from, json.find("\"updated_at\"") - 4 - from,
               R"([{"content":"a","status":"pending","activeForm":"Doing a","note":1.0},
                   {"content":"b","status":"cancelled"}, 7,
                   {"content":"c","status":"completed"}])");
  FileSession file = read(json);
  EXPECT_EQ(file.stored.todos,
            (std::vector<Todo>{{"a", TodoStatus::pending, "Doing a", {{"note", raw("1.0")}}},
                               {"c", TodoStatus::completed, "", {}}}));
  EXPECT_EQ(damaged_parts(file), (Texts{"todos[1]", "todos[2]"}));
  file.stored.todos.pop_back();
  const std::string todos = json::compact(json::find_member(written(file), "todos"));
  EXPECT_EQ(todos, R"([{"active_form":"Doing a","content":"a","note":1.0,"status":"pending"},)"
                   R"({"content":"b","status":"cancelled"},7])");
  file.stored.todos.push_back({"d", TodoStatus::pending, "", {}});
  EXPECT_NE(written(file).find(R"("active_form": "d")"), std::string::npos)
      << "the original asks for one";
}

TEST(ReadSession, PreservesUnknownMembers) {
  const std::string strange =
      R"({"content":"a","id":"m","meta":{"b":1.50,"a":[123456789012345678901234]},)"
      R"("role":"tool","timestamp":"2025-12-16T15:00:01Z","usage":{"input_tokens":1,"x":1e3}})";
  const FileSession file =
      read(file_with(strange, R"(,"zeta":{"b":0.10,"a":{}},"alpha":[],"lone":"\ud800")"));
  EXPECT_EQ(file.stored.session.extra, (Extra{{"zeta", raw(R"({"b":0.10,"a":{}})")},
                                              {"alpha", raw("[]")},
                                              {"lone", raw(R"("\ud800")")}}));
  EXPECT_EQ(
      file.stored.log->at(0)->extra,
      (Extra{{"id", raw("\"m\"")}, {"meta", raw(R"({"b":1.50,"a":[123456789012345678901234]})")}}));
  EXPECT_EQ(file.stored.log->at(0)->usage, (Usage{.input = {1}, .extra = {{"x", raw("1e3")}}}));
  const std::string again = written(file);
  EXPECT_NE(json::compact(again).find(strange), std::string::npos);
  EXPECT_EQ(json::find_member(again, "lone"), R"("\ud800")");
  EXPECT_EQ(json::compact(json::find_member(again, "zeta")), R"({"b":0.10,"a":{}})");
  EXPECT_EQ(read(again).stored.session, file.stored.session) << "in their order, too";
}

TEST(ReadSession, ADifferentIdInsideStays) {
  std::string json = fixture();
  json.replace(json.find(kFixtureId), kFixtureId.size(), "another");
  const FileSession file = read(json);
  EXPECT_EQ(file.stored.session.info.id.str(), kFixtureId) << "the file is what was shown";
  EXPECT_EQ(json::find_member(written(file), "id"), "\"another\"");
  EXPECT_EQ(read(written(file)).stored.session, file.stored.session);
}

// Each known member has a wrong type: it is preserved, and everything else is read.
TEST(ReadSession, AMemberOfAnotherTypeCostsItself) {
  for (const std::string_view name : kMembers) {
    if (name == "conversation" || name == "config" || name == "signature" || name == "id") {
      continue;
    }
    for (const std::string_view odd : {"[7]", "{\"a\":1}", "true"}) {
      const std::string json =
          file_with(entry("user", "a", "2025-12-16T15:00:01Z"), cat(",\"", name, "\":", odd));
      const FileSession file = read(json);
      EXPECT_EQ(texts_of(file), Texts{"a"});
      if (!(name == "todos" && odd == "[7]") && name != "reprise" &&
          !(name == "cumulative_usage" && odd == "{\"a\":1}")) {
        EXPECT_EQ(damaged_parts(file), Texts{std::string(name)}) << odd;
        EXPECT_EQ(file.stored.session.extra, (Extra{{std::string(name), raw(std::string(odd))}}));
      }
      EXPECT_EQ(read(written(file)).stored.session, file.stored.session) << name << " " << odd;
    }
  }
}

TEST(ReadSession, RefusesOtherJson) {
  for (const char* json :
       {"", "null", "[]", "7", "\"text\"", "{}", R"({"name":"app","version":"1"})",
        R"({"conversation":{}})", R"({"conversation":[]} {})"}) {
    EXPECT_TRUE(fails(read_session(location(), json), Code::corrupt)) << json;
  }
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_TRUE(fails(read_session(location(), file_with(deep)), Code::corrupt));
  EXPECT_TRUE(fails(read_session(location(), file_with("", R"(,"version":2)")), Code::unsupported));
}

TEST(ReadSession, RefusesTruncatedFiles) {
  const std::string ours = written(read(fixture()));
  for (const std::string& whole : {fixture(), ours}) {
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
      ASSERT_TRUE(fails(read_session(location(), whole.substr(0, cut)), Code::corrupt)) << cut;
    }
  }
}

TEST(WriteSession, LosesNothingOfAMessage) {
  FileSession file = read(file_with(""));
  std::vector<Message> messages = {full_message()};
  for (const std::string& text : hard_texts()) {
    messages.push_back(user(text));
  }
  for (Message& message : messages) {
    message.seq = file.stored.session.info.head;
    store::add_message(file.stored, message);
  }
  const FileSession again = read(written(file));
  EXPECT_EQ(again.damage, std::vector<Damage>{});
  for (const Message& message : messages) {
    EXPECT_EQ(*again.stored.log->at(message.seq.value), message);
  }
}

TEST(WriteSession, EncodesOnlyNewMessages) {
  FileSession file = read(fixture());
  const std::string before = file.encoded.text;
  store::add_message(file.stored, user("more", at(5)));
  const SigningKey key = fixture_key();
  must(write_session(file, &key));
  EXPECT_TRUE(file.encoded.text.starts_with(before));
  EXPECT_EQ(file.encoded.count, 3);
  EXPECT_TRUE(file.encoded.signed_is_known);
  EXPECT_EQ(file.encoded.signed_as, "") << "our own spelling is the one that is signed";
}

}  // namespace
}  // namespace reprise::test
