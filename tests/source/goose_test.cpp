#include <memory>

#include "base/text.h"
#include "source/source_fixture.h"
#include "sqlite/sqlite_support.h"
#include "support/must.h"

namespace reprise::test::goose_history {
namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view kSchema = R"(
CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TIMESTAMP);
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', description TEXT NOT NULL
  DEFAULT '', user_set_name BOOLEAN DEFAULT FALSE, session_type TEXT NOT NULL DEFAULT 'user',
  working_dir TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP,
  extension_data TEXT DEFAULT '{}', total_tokens INTEGER, accumulated_input_tokens INTEGER,
  accumulated_output_tokens INTEGER, accumulated_cache_read_tokens INTEGER,
  accumulated_cache_write_tokens INTEGER, accumulated_cost REAL, provider_name TEXT,
  model_config_json TEXT, archived_at TIMESTAMP, parent_session_id TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL
  REFERENCES sessions(id), role TEXT NOT NULL, content_json TEXT NOT NULL,
  created_timestamp INTEGER NOT NULL, timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP, tokens INTEGER,
  metadata_json TEXT);
CREATE TABLE provider_secret (key TEXT);
)";

class GooseTest : public SourceTest {
 protected:
  void fill(std::string_view sql) {
    PlainDatabase(location() / "sessions.db").run(std::string(sql));
  }
};

TEST_F(GooseTest, MessagesWithTheirCallsAndResults) {
  fill(kSchema);
  fill(R"(
INSERT INTO sessions(id, name, working_dir, created_at, updated_at, provider_name, model_config_json,
  accumulated_input_tokens, accumulated_output_tokens, accumulated_cache_read_tokens,
  accumulated_cache_write_tokens, accumulated_cost) VALUES('20260102_1', 'Named',
  '/home/a/x', '2026-01-02 03:04:05', '2026-01-02 03:05:05', 'anthropic', '{"model_name":"c-1"}', 30, 9,
  8, 7, 0.5);
INSERT INTO sessions(id, working_dir, session_type) VALUES('20260102_2', '/x', 'sub_agent');
INSERT INTO sessions(id, working_dir, session_type) VALUES('20260102_3', '/x', 'hidden');
INSERT INTO messages(session_id, role, content_json, created_timestamp, metadata_json) VALUES
 ('20260102_2', 'user', '[{"type":"text","text":"Look"}]', 1767323045, NULL),
 ('20260102_1', 'user', '[{"type":"text","text":"Why?"}]', 1767323045, NULL),
 ('20260102_1', 'assistant', '[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"toolRequest",
  "id":"c1","toolCall":{"status":"success","value":{"name":"sh","arguments":{"x":1.0}}}}]', 1767323046,
  '{"userVisible":true,"agentVisible":false}'),
 ('20260102_1', 'user', '[{"type":"toolResponse","id":"c1","toolResult":{"status":"success","value":{
  "content":[{"type":"text","text":"done"}],"isError":false}}}]', 1767323047, NULL),
 ('20260102_1', 'user', '[{"type":"toolResponse","id":"c0","toolResult":{"status":"error","error":"no"}}]',
  1767323047, NULL),
 ('20260102_1', 'user', '[{"type":"text","text":"Summary of before"}]', 1767323048,
  '{"userVisible":false,"agentVisible":true}'),
 ('20260102_1', 'assistant', '{torn', 1767323049, NULL),
 ('20260102_1', 'assistant', '[{"type":"text","text":"So."},{"type":"ofTomorrow"}]', 1767323050, NULL);
)");
  open("goose");
  EXPECT_EQ(sessions(), Lines{"20260102_1 Named (7)"});
  EXPECT_EQ(sessions(true).size(), 2U);
  EXPECT_EQ(transcript("20260102_2"), Lines{"*user: Look"}) << "asked by the model";
  EXPECT_EQ(
      transcript("20260102_1"),
      (Lines{"user: Why?", "assistant: (thinking) hm | call sh c1 {\"x\":1.0}", "tool: c1 = done",
             "tool: c0 failed: no", "*user: Summary of before", "assistant: So. | ?ofTomorrow"}));
  EXPECT_EQ(damage("20260102_1").size(), 1U);
  const Session found = session("20260102_1");
  EXPECT_EQ(found.usage.input.value, 30);
  EXPECT_EQ(found.usage.cached.value, 8);
  EXPECT_EQ(found.usage.cache_written.value, 7);
  EXPECT_EQ(found.usage.cost->str(), "0.5");
  EXPECT_EQ(found.info.model, "c-1");
  EXPECT_EQ(format_time(found.info.created_at), "2026-01-02T03:04:05Z");
}

TEST_F(GooseTest, ASessionThatNobodyNamedHasTheTitleOfItsQuestion) {
  fill(kSchema);
  fill(R"(
INSERT INTO sessions(id, name, user_set_name, working_dir) VALUES
 ('20260102_1', 'CLI Session', 0, '/x'), ('20260102_2', 'CLI Session', 1, '/x');
INSERT INTO messages(session_id, role, content_json, created_timestamp) VALUES
 ('20260102_1', 'user', '[{"type":"text","text":"Why?"}]', 1767323045),
 ('20260102_2', 'user', '[{"type":"text","text":"How?"}]', 1767323045);
)");
  open("goose");
  EXPECT_EQ(session("20260102_1").info.title, "Why?");
  EXPECT_EQ(session("20260102_2").info.title, "CLI Session");
}

TEST_F(GooseTest, AFileOfASessionThatNobodyNamedHasTheTitleOfItsQuestion) {
  for (const std::string is_set : {"false", "true"}) {
    write(cat("named-", is_set, ".jsonl"),
          {cat("{'working_dir':'/x','name':'CLI Session','user_set_name':", is_set,
               ",'message_count':1}"),
           "{'role':'user','created':1763600000,'content':[{'type':'text','text':'Why?'}]}"});
  }
  open("goose");
  EXPECT_EQ(session("named-false").info.title, "Why?");
  EXPECT_EQ(session("named-true").info.title, "CLI Session");
}

TEST_F(GooseTest, TheLedgerTellsWhatEachAnswerCost) {
  fill(kSchema);
  fill(R"(
CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY, session_id TEXT, created_timestamp INTEGER,
  model TEXT, input_tokens INTEGER, output_tokens INTEGER, cache_read_tokens INTEGER,
  cache_write_tokens INTEGER, cost REAL, is_compaction BOOLEAN);
INSERT INTO sessions(id, working_dir, accumulated_input_tokens) VALUES('1', '/x', 99);
INSERT INTO messages(session_id, role, content_json, created_timestamp) VALUES
 ('1', 'user', '[{"type":"text","text":"Why?"}]', 1767323045),
 ('1', 'assistant', '[{"type":"text","text":"So."}]', 1767323046),
 ('1', 'assistant', '[{"type":"text","text":"And so."}]', 1767323050);
INSERT INTO usage_ledger(session_id, created_timestamp, input_tokens, output_tokens,
  cache_read_tokens, cache_write_tokens, cost) VALUES
 ('1', 1767323046, 10, 1, 4, 3, 0.25), ('1', 1767323051, 20, 2, 0, 0, 0.5),
 ('1', 1767323052, 5, 1, 0, 0, NULL), ('2', 1767323046, 1000, 1000, 0, 0, NULL);
)");
  open("goose");
  const Session found = session("1");
  EXPECT_EQ(found.usage.input.value, 35);
  EXPECT_EQ(found.usage.cached.value, 4);
  EXPECT_EQ(found.usage.cache_written.value, 3);
  EXPECT_EQ(found.usage.cost->str(), "0.75");
  const auto messages = must(read_all(source(), must(SessionId::parse("1"))));
  EXPECT_FALSE(messages.at(0).usage);
  EXPECT_EQ(messages.at(1).usage->input.value, 10);
  EXPECT_EQ(messages.at(2).usage->input.value, 25);
  EXPECT_NE(messages.at(1).usage->request_id, messages.at(2).usage->request_id);
}

TEST_F(GooseTest, AnswersHaveTheModelsOfTheirRequests) {
  fill(kSchema);
  fill(R"(
CREATE TABLE usage_ledger (session_id TEXT, created_timestamp INTEGER, model TEXT,
  is_compaction BOOLEAN);
INSERT INTO sessions(id, working_dir, model_config_json)
  VALUES('1', '/x', '{"model_name":"last"}');
INSERT INTO messages(session_id, role, content_json, created_timestamp) VALUES
 ('1', 'user', '[{"type":"text","text":"Why?"}]', 1767323045),
 ('1', 'assistant', '[{"type":"text","text":"So."}]', 1767323046),
 ('1', 'assistant', '[{"type":"text","text":"And so."}]', 1767323050);
INSERT INTO usage_ledger(session_id, created_timestamp, model, is_compaction) VALUES
 ('1', 1767323046, 'summary', 1), ('1', 1767323047, 'first', 0);
)");
  open("goose");
  const auto messages = must(read_all(source(), must(SessionId::parse("1"))));
  EXPECT_EQ(messages.at(1).model, "first");
  EXPECT_EQ(messages.at(2).model, "last");
}

// Where the user sees the original.
TEST_F(GooseTest, AQuestionThatTheProgramRepeatsAfterACompactionIsInjected) {
  constexpr std::string_view kHidden = R"({"userVisible":false,"agentVisible":false})";
  constexpr std::string_view kForUser = R"({"userVisible":true,"agentVisible":false})";
  constexpr std::string_view kForAgent = R"({"userVisible":false,"agentVisible":true})";
  fill(kSchema);
  fill("INSERT INTO sessions(id, working_dir) VALUES('1', '/x')");
  const auto add = [this](std::string_view role, std::string_view text,
                          std::string_view who = "{}") {
    fill(
        cat("INSERT INTO messages(session_id, role, content_json, created_timestamp,"
            " metadata_json) VALUES('1', '",
            role, "', '[{\"type\":\"text\",\"text\":\"", text, "\"}]', 1, '", who, "')"));
  };
  add("user", "Why?", kForUser);
  add("assistant", "Let me see.", kForUser);
  add("user", "They met.", kForAgent);
  add("assistant", "Continue.", kForAgent);
  add("user", "Why?");
  add("assistant", "So.");
  add("user", "And?", kHidden);  // during the question, which only the repetition shows
  add("user", "They met again.", kForAgent);
  add("user", "And?");
  add("user", "And?");
  open("goose");
  EXPECT_EQ(transcript("1"),
            (Lines{"user: Why?", "assistant: Let me see.", "*user: They met.",
                   "*assistant: Continue.", "*user: Why?", "assistant: So.", "*user: And?",
                   "*user: They met again.", "user: And?", "user: And?"}));
}

TEST_F(GooseTest, AnOlderSchemaIsRead) {
  fill(
      "CREATE TABLE sessions (id TEXT PRIMARY KEY, description TEXT, working_dir TEXT);"
      "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json "
      "TEXT);"
      "INSERT INTO sessions VALUES('1', 'Old', '/x');"
      "INSERT INTO messages VALUES(1, '1', 'user', '[{\"type\":\"text\",\"text\":\"Hi\"}]')");
  open("goose", "sessions.db");
  EXPECT_EQ(sessions(), Lines{"1 Old (1)"});
  EXPECT_EQ(transcript("1"), Lines{"user: Hi"});
}

TEST_F(GooseTest, TheOlderFilesAreRead) {
  write("20250101_120000.jsonl",
        {"{'working_dir':'/x','description':'','message_count':2}",
         "{'role':'user','created':1735732800,'content':[{'type':'text','text':'First'}]}",
         "{'role':'assist",
         "{'role':'user','created':1735732801,'content':[{'type':'toolResponse','id':'c','"
         "toolResult':"
         "{'status':'success','value':[{'type':'text','text':'ok'}]}}]}"});
  append("20250101_120000.jsonl", "{\"role\":\"user\",\"cre");
  open("goose");
  EXPECT_EQ(sessions(), Lines{"20250101_120000 First (2)"});
  EXPECT_EQ(transcript("20250101_120000"), (Lines{"user: First", "tool: c = ok"}));
  EXPECT_EQ(damage("20250101_120000").size(), 1U);
}

// `goose session export`: one object. It looks like a context file, which can be written.
TEST_F(GooseTest, AnExportIsRead) {
  append("export.json",
         R"({
  "id": "20260102_1", "working_dir": "/x", "name": "Named", "session_type": "user",
  "created_at": "2026-01-02T03:04:05Z", "updated_at": "2026-01-02T03:05:05Z",
  "accumulated_input_tokens": 7, "provider_name": "p", "model_config": {"model_name": "m"},
  "message_count": 2,
  "conversation": [
    {"role": "user", "created": 1767323045, "content": [{"type": "text", "text": "Why?"}]},
    {"role": "assistant", "created": 1767323046, "content": [{"type": "text", "text": "So."}]}
  ]
})");
  EXPECT_EQ(must(source_kind_of((location() / "export.json").native()))->name, "goose");
  open("goose", "export.json");
  EXPECT_EQ(sessions(), Lines{"20260102_1 Named (2)"});
  EXPECT_EQ(transcript("20260102_1"), (Lines{"user: Why?", "assistant: So."}));
  EXPECT_EQ(metadata("20260102_1"), "Named|p|m|/x|2026-01-02T03:04:05Z|2026-01-02T03:05:05Z");
  EXPECT_EQ(session("20260102_1").usage.input.value, 7);
}

TEST_F(GooseTest, AnExportOfANewerVersionHasItsUsage) {
  append("export.json", R"({
  "id": "20260102_1", "working_dir": "/x", "name": "Named", "archived_at": "2026-01-02T03:06:05Z",
  "usage": {"input_tokens": 1}, "accumulated_usage": {"input_tokens": 70, "output_tokens": 6,
    "cache_read_input_tokens": 50, "cache_write_input_tokens": 10},
  "conversation": [{"role": "user", "created": 1, "content": [{"type": "text", "text": "Why?"}]}]
})");
  open("goose", "export.json");
  const Session found = session("20260102_1");
  EXPECT_EQ(found.usage,
            (Usage{.input = {70}, .output = {6}, .cached = {50}, .cache_written = {10}}));
  EXPECT_EQ(found.info.state, SessionState::archived);
}

TEST_F(GooseTest, ItIsRecognised) {
  fill(kSchema);
  EXPECT_EQ(must(source_kind_of(location().native()))->name, "goose");
  EXPECT_EQ(must(source_kind_of((location() / "sessions.db").native()))->name, "goose");
}

TEST_F(GooseTest, ADamagedDatabaseDoesNotHideTheOlderFiles) {
  append("sessions.db", std::string(5000, 'x'));
  write("20250101_120000.jsonl",
        {"{'working_dir':'/x','description':'T','message_count':1}",
         "{'role':'user','created':1735732800,'content':[{'type':'text','text':'Why?'}]}"});
  open("goose");
  EXPECT_EQ(sessions(), Lines{"20250101_120000 T (1)"});
  EXPECT_EQ(must(source().list({})).damage.size(), 1U);
  EXPECT_EQ(transcript("20250101_120000"), Lines{"user: Why?"});
  EXPECT_FALSE(source().find(must(SessionId::parse("20260102_1")))) << "it may be in the database";
}

}  // namespace
}  // namespace reprise::test::goose_history
