// Decoding and encoding.

#include "store/context/codec.h"

#include <gtest/gtest.h>

#include "base/json_scan.h"
#include "base/text.h"
#include "context/context_fixture.h"
#include "reprise/select.h"
#include "store/context/entry.h"
#include "store/context/members.h"
#include "store/document/document_format.h"
#include "store/stored_session.h"
#include "support/build.h"
#include "support/must.h"
#include "support/print.h"

namespace reprise::store::context {
namespace {

using test::at;
using test::kOriginalContext;
using test::must;

const Origin& here() {
  static const Origin origin = must(origin_of("/somewhere/project/.ai/openai.json"));
  return origin;
}

Document read(std::string_view bytes) {
  return decode(here(), bytes);
}

std::string write(Document document) {
  return must(encode(here(), document));
}

std::vector<Message> messages_in(const FileSession& session) {
  std::vector<Message> all;
  for (const SharedMessage& message : session.stored.log->own) {
    all.push_back(*message);
  }
  return all;
}

std::string replaced(std::string_view in, std::string_view what, std::string_view with) {
  std::string text(in);
  const auto place = text.find(what);
  EXPECT_NE(place, std::string::npos) << what;
  return text.replace(place, what.size(), with);
}

// The file as seen by other programs: without our members.
std::string without_reprise(std::string text) {
  for (auto place = text.find(",\n"); place != std::string::npos;
       place = text.find(",\n", place + 1)) {
    const auto name = text.find_first_not_of(" \n,", place);
    if (text.compare(name, 10, "\"reprise\":") == 0) {
      text.erase(place, text.find('\n', name) - place);
      --place;
    }
  }
  return text;
}

TEST(ContextCodec, ReadsWhatTheOriginalWrote) {
  const Document document = read(kOriginalContext);
  ASSERT_EQ(document.sessions.size(), 1U);
  EXPECT_FALSE(document.unreadable);
  const FileSession& file = document.sessions.front();
  EXPECT_TRUE(file.damage.empty());
  const Session& session = file.stored.session;
  EXPECT_EQ(session.system_prompt, "You are a helpful assistant.");
  EXPECT_EQ(session.info.provider, "openai-chat");
  EXPECT_EQ(session.info.model, "gpt-4o-mini");
  EXPECT_EQ(session.info.working_dir, "/somewhere/project");
  EXPECT_EQ(session.info.head, Seq{4});
  EXPECT_EQ(format_time(session.info.created_at), "2025-10-20T18:27:48.503Z");
  EXPECT_EQ(format_time(session.info.updated_at), "2025-10-20T18:28:14.390Z");
  EXPECT_EQ(session.usage.input, TokenCount{5});
  EXPECT_EQ(session.usage.cost, Money::parse("0.0001"));
  EXPECT_EQ(session.extra, Extra{});
  const std::vector<Message> messages = messages_in(file);
  EXPECT_EQ(test::texts(messages), (std::vector<std::string>{"10 + 11", "10 + 11 equals 21.",
                                                             "describe", "A \"fish\".\n"}));
  EXPECT_EQ(messages[3].model, "gpt-4o-mini-2024");
  EXPECT_EQ(messages[2].extra, (Extra{{"attachments", test::raw("[\"/home/me/photo.png\"]")}}));
}

TEST(ContextCodec, WritesBackTheBytesItRead) {
  EXPECT_EQ(without_reprise(write(read(kOriginalContext))), kOriginalContext);
  // Afterwards, its own bytes are stable.
  const std::string ours = write(read(kOriginalContext));
  EXPECT_EQ(write(read(ours)), ours);
}

TEST(ContextCodec, FormatsLikeTheOriginal) {
  Document document = read(kOriginalContext);
  document.sessions.front().encoded = {};
  const std::string written = without_reprise(write(document));
  EXPECT_EQ(written, replaced(kOriginalContext, "\"total_turns\": 5", "\"total_turns\": 7"))
      << "all answers are new to the file";
}

// Values sent to the model are not invented.
TEST(ContextCodec, AnEmptyDocumentIsTheDefaults) {
  EXPECT_EQ(write({}), R"({
  "provider": "openai",
  "base_url": "https://api.openai.com/v1",
  "stream_default": true,
  "save_path_default": "ai.out.txt",
  "env_key": "OPENAI_API_KEY",
  "conversation": [],
  "meta": {
    "last_updated": null,
    "total_turns": 0,
    "notes": "This file is updated by the CLI after each run. Do not check secrets into VCS."
  }
}
)");
  EXPECT_TRUE(read(write({})).sessions.empty()) << "no conversation yet";
}

TEST(ContextCodec, PreservesUnknownMembers) {
  const std::string strange = R"({"x": {"n": 1.0, "n": 2e0},
"temperature": 1.50, "max_tokens": 99999999999999999999, "model": ["odd"], "conversation": [
 17, {"role": "user", "content": "q", "k": [1.0, {"a" : null}], "timestamp": "yesterday"},
 {"role": "user"}, {"content": "no role"}, {"role": "user", "content": ["a", "list"]},
 {"role": "assistant", "content": "a", "usage": {"prompt_tokens": 1.5, "cost": 1e-4, "z": 0.10}},
 null], "meta": {"total_turns": "many", "last_format": 3.0}, "y": 1.0})";
  const Document document = read(strange);
  ASSERT_EQ(document.sessions.size(), 1U);
  const FileSession& file = document.sessions.front();
  EXPECT_EQ(file.stored.session.info.head, Seq{2});
  EXPECT_EQ(file.raw_entries.size(), 5U);
  EXPECT_EQ(file.damage.size(), 5U);
  EXPECT_EQ(file.damage[1].where, cat(here().file.native(), ": conversation entry 3"));
  const std::string written = write(document);
  for (const char* const part :
       {R"("x": {"n": 1.0, "n": 2e0})", R"("temperature": 1.50)",
        R"("max_tokens": 99999999999999999999)", R"("model": ["odd"])", R"([1.0, {"a" : null}])",
        R"("timestamp": "yesterday")", R"("prompt_tokens": 1.5, "cost": 1e-4, "z": 0.10)",
        R"("total_turns": "many")", R"("last_format": 3.0)", R"("y": 1.0)"}) {
    EXPECT_NE(written.find(part), std::string::npos) << part << "\n" << written;
  }
  const Document again = read(written);
  EXPECT_EQ(again.sessions.front().raw_entries.size(), 5U);
  EXPECT_EQ(again.sessions.front().raw_entries.front().before, 0);
  EXPECT_EQ(again.sessions.front().raw_entries.back().before, 2);
  EXPECT_EQ(messages_in(again.sessions.front()), messages_in(file));
  Session expected = file.stored.session;
  expected.config = again.sessions.front().stored.session.config;  // with the missing members added
  EXPECT_EQ(again.sessions.front().stored.session, expected);
  EXPECT_EQ(write(again), written);
}

TEST(ContextCodec, RawEntriesStayInPlaceWhenMessagesAreAppended) {
  Document document = read(R"({"conversation": [1, {"role": "user", "content": "a"}, 2]})");
  FileSession& file = document.sessions.front();
  add_message(file.stored, test::assistant("b"));
  const std::string written = write(document);
  EXPECT_LT(written.find("\n    1,"), written.find("\"a\""));
  EXPECT_LT(written.find("\"a\""), written.find("\n    2,"));
  EXPECT_LT(written.find("\n    2,"), written.find("\"b\""));
  EXPECT_EQ(read(written).sessions.front().raw_entries, file.raw_entries);
}

TEST(ContextCodec, HoldsEverythingInASessionAndItsMessages) {
  FileSession file{.stored = {.session = test::full_session("whole")}};
  StoredSession& stored = file.stored;
  std::vector<Message> all = {test::full_message(), test::user("hello"), Message{}};
  for (const std::string& text : test::hard_texts()) {
    all.push_back(test::assistant(text));
  }
  for (const Message& message : all) {
    add_message(stored, message);
  }
  stored.todos = {{"do", TodoStatus::in_progress, "doing", {{"k", test::raw("1.0")}}}};
  add_operation(stored, test::operation_id("op"), {0}, {3});
  stored.replaced.push_back(std::make_shared<const Message>(test::user("old")));
  Document document;
  document.sessions.push_back(file);
  const std::string written = write(document);
  const Document again = read(written);
  ASSERT_EQ(again.sessions.size(), 1U);
  const StoredSession& back = again.sessions.front().stored;
  EXPECT_EQ(back.session, stored.session);
  EXPECT_EQ(messages_in(again.sessions.front()), test::numbered(all));
  EXPECT_EQ(back.todos, stored.todos);
  EXPECT_EQ(back.operations.size(), 1U);
  EXPECT_EQ(back.replaced.size(), 1U);
  EXPECT_EQ(write(again), written);
}

// Messages without words have no entry of their own.
TEST(ContextCodec, HoldsMessagesWithoutWordsAnywhere) {
  Message thought;
  thought.role = role::kAssistant;
  thought.blocks = {ThinkingBlock{"hm", "", {}}};
  const std::vector<Message> kinds = {thought, test::user("q"), test::assistant("a")};
  for (std::size_t shape = 0; shape < 27; ++shape) {  // a digit for the kind of each message
    SCOPED_TRACE(shape);
    FileSession file{.stored = {.session = test::full_session("whole")}};
    const std::vector<Message> all = {kinds[shape % 3], kinds[shape / 3 % 3], kinds[shape / 9]};
    for (std::size_t count = 1; count <= all.size(); ++count) {
      add_message(file.stored, all[count - 1]);
      Document document;
      document.sessions.push_back(file);
      const std::string written = write(document);
      const Document again = read(written);
      ASSERT_EQ(again.sessions.size(), 1U);
      EXPECT_EQ(messages_in(again.sessions.front()),
                test::numbered({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)}));
      EXPECT_EQ(write(again), written);
    }
  }
}

TEST(ContextCodec, SessionsDoNotChangeTheFilesSettings) {
  Document document = read(kOriginalContext);
  Session& session = document.sessions.front().stored.session;
  session.info.provider = "echo";
  session.info.model = "another";
  session.config = test::raw(R"({"base_url":"http://127.0.0.1:1"})");
  session.info.title = "A title";
  const Session expected = session;
  const std::string written = write(document);
  EXPECT_EQ(without_reprise(written), kOriginalContext);
  EXPECT_EQ(read(written).sessions.front().stored.session, expected);
}

TEST(ContextCodec, TheSystemPromptIsTheFiles) {
  Document document = read(kOriginalContext);
  document.sessions.front().stored.session.system_prompt = "Be brief.";
  const std::string written = write(document);
  EXPECT_NE(written.find("\"system\": \"Be brief.\""), std::string::npos);
  const std::string edited = replaced(written, "Be brief.", "Be long.");
  EXPECT_EQ(read(edited).sessions.front().stored.session.system_prompt, "Be long.");
}

TEST(ContextCodec, AMissingPromptDoesNotReplaceAStoredOne) {
  const std::string stored = R"({"conversation": [{"role": "system", "content": "Rhyme."}]})";
  EXPECT_EQ(read(stored).sessions.front().stored.session.system_prompt, "");
  EXPECT_EQ(read(write(read(stored))).sessions.front().stored.session.system_prompt, "");
  const std::string none = R"({"conversation": [{"role": "user", "content": "q"}]})";
  EXPECT_EQ(read(none).sessions.front().stored.session.system_prompt, "");
}

TEST(ContextCodec, AddsNothingSentToTheModel) {
  const std::string bare =
      R"({"conversation": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]})";
  const std::string written = write(read(bare));
  for (const char* const name : {"model", "system", "temperature", "max_tokens"}) {
    EXPECT_EQ(written.find(cat('"', name, "\":")), std::string::npos) << name << "\n" << written;
  }
  EXPECT_NE(written.find(R"("env_key": "OPENAI_API_KEY")"), std::string::npos);
  const Session session = read(written).sessions.front().stored.session;
  EXPECT_EQ(session.info.model, "");
  EXPECT_EQ(session.system_prompt, "");
}

TEST(ContextCodec, TurnsAreCountedAndNeverCorrected) {
  Document document = read(kOriginalContext);
  StoredSession& stored = document.sessions.front().stored;
  add_message(stored, test::user("more"));
  Message cut = test::assistant("half");
  cut.state = MessageState::incomplete;
  add_message(stored, cut);
  const std::string one = write(document);
  EXPECT_NE(one.find("\"total_turns\": 5"), std::string::npos) << "a cut answer is no turn";
  EXPECT_NE(one.find("\"incomplete\": true"), std::string::npos);
  document = read(one);
  add_message(document.sessions.front().stored, test::assistant("whole"));
  const std::string two = must(encode(here(), document));
  EXPECT_NE(two.find("\"total_turns\": 6"), std::string::npos);
  EXPECT_EQ(must(encode(here(), document)), two) << "counted once";
}

TEST(ContextCodec, ChangesByAnotherProgramAreRead) {
  Document document = read(kOriginalContext);
  StoredSession& stored = document.sessions.front().stored;
  stored.session.info.title = "Ours";
  stored.session.info.updated_at = at(1, 1);
  std::string text = write(document);
  // It appends, sets its time, and preserves unknown members.
  text = replaced(text, "\n  ],\n  \"meta\"",
                  ",\n    {\"role\": \"user\", \"content\": \"theirs\"}\n  ],\n  \"meta\"");
  const auto time = text.find("\"last_updated\": \"") + 17;
  text.replace(time, 24, "2030-01-01T00:00:00.000Z");
  const Document theirs = read(text);
  const Session& session = theirs.sessions.front().stored.session;
  EXPECT_EQ(session.info.head, Seq{5});
  EXPECT_EQ(session.info.title, "Ours");
  EXPECT_EQ(format_time(session.info.updated_at), "2030-01-01T00:00:00Z");
}

TEST(ContextCodec, TheIdIsStable) {
  const SessionId id = read(kOriginalContext).sessions.front().stored.session.info.id;
  EXPECT_NE(short_id(id), id.str()) << "in the shape of all others: " << id.str();
  EXPECT_EQ(read(kOriginalContext).sessions.front().stored.session.info.id, id);
  const std::string written = write(read(kOriginalContext));
  const Origin elsewhere = must(origin_of("/else/where.json"));
  const Document moved = decode(elsewhere, written);
  EXPECT_EQ(moved.sessions.front().stored.session.info.id, id);
  EXPECT_NE(decode(elsewhere, kOriginalContext).sessions.front().stored.session.info,
            read(kOriginalContext).sessions.front().stored.session.info);
}

TEST(ContextCodec, OtherFilesAreQuarantined) {
  for (const char* const bytes :
       {"", "null", "[]", "17", "\"x\"", "{", "{}x", "\xEF\xBB\xBF{}", "{\"a\":}", "not json"}) {
    const Document document = read(bytes);
    EXPECT_TRUE(document.unreadable) << bytes;
    EXPECT_TRUE(document.sessions.empty()) << bytes;
    EXPECT_EQ(write(document), write({})) << "regenerated with the defaults";
  }
  for (const char* const bytes :
       {R"({"conversation": {}})", R"({"conversation": "x"})", R"({"meta": 1})",
        R"({"reprise": []})", R"({"model": "a", "model": "b"})", "{\"model\": \"\xFF\"}",
        R"({"conversation": [], "conversation": []})", R"({"reprise": {"title": 5}})",
        R"({"reprise": {"id": "a", "title": 5}})"}) {
    EXPECT_TRUE(read(bytes).unreadable) << bytes;
  }
  EXPECT_FALSE(read("{}").unreadable) << "all of it is missing, and has a default";
}

TEST(ContextCodec, AnyTruncationIsReported) {
  for (std::size_t cut = 0; cut < kOriginalContext.size() - 2; ++cut) {
    const Document document = read(kOriginalContext.substr(0, cut));
    ASSERT_TRUE(document.unreadable) << cut;
  }
}

TEST(ContextCodec, DepthAndLengthAreHandled) {
  const std::string deep = cat("{\"x\": ", std::string(100'000, '['), "]}");
  EXPECT_TRUE(read(deep).unreadable);
  const std::string depth =
      std::string(kJsonDepthMax - 1, '[') + std::string(kJsonDepthMax - 1, ']');
  const std::string allowed =
      cat(R"({"conversation": [{"role": "user", "content": "q"}], "x": )", depth, "}");
  EXPECT_FALSE(read(allowed).unreadable);
  EXPECT_EQ(read(write(read(allowed))).sessions.front().stored.session.extra.front().value.text(),
            depth);
}

TEST(ContextCodec, OneConversationOnly) {
  Document document = read(kOriginalContext);
  document.sessions.push_back(document.sessions.front());
  EXPECT_TRUE(test::fails(encode(here(), document), Code::unsupported));
}

TEST(ContextCodec, ANewFileGetsTheSettingsOfAnother) {
  Document source =
      read(replaced(kOriginalContext, "\"temperature\": 0.7", "\"temperature\": 1.50"));
  Document target;
  target.sessions.push_back(source.sessions.front());
  target.sessions.front().encoded = {};
  EXPECT_NE(write(target).find("\"temperature\": 1.50"), std::string::npos);
  // The settings of one run are not those of a file.
  target.extra.clear();
  target.sessions.front().stored.session.config = test::raw(R"({"base_url":"http://x"})");
  EXPECT_NE(write(target).find("\"base_url\": \"https://api.openai.com/v1\""), std::string::npos);
}

}  // namespace
}  // namespace reprise::store::context
