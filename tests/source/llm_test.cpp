#include <memory>

#include "base/text.h"
#include "source/source_fixture.h"
#include "sqlite/sqlite_support.h"
#include "support/must.h"

namespace reprise::test::llm_history {
namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view kOlder = R"(
CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, model TEXT);
CREATE TABLE responses (id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT, prompt_json TEXT,
  options_json TEXT, response TEXT, response_json TEXT, conversation_id TEXT REFERENCES conversations(id),
  duration_ms INTEGER, datetime_utc TEXT, input_tokens INTEGER, output_tokens INTEGER,
  token_details TEXT, schema_id TEXT, resolved_model TEXT);
CREATE TABLE attachments (id TEXT PRIMARY KEY, type TEXT, path TEXT, url TEXT, content BLOB);
CREATE TABLE prompt_attachments (response_id TEXT, attachment_id TEXT, "order" INTEGER,
  PRIMARY KEY (response_id, attachment_id));
CREATE TABLE fragments (id INTEGER PRIMARY KEY, hash TEXT, content TEXT, datetime_utc TEXT, source TEXT);
CREATE TABLE prompt_fragments (response_id TEXT, fragment_id INTEGER, "order" INTEGER);
CREATE TABLE system_fragments (response_id TEXT, fragment_id INTEGER, "order" INTEGER);
CREATE TABLE tool_calls (id INTEGER PRIMARY KEY, response_id TEXT, tool_id INTEGER, name TEXT,
  arguments TEXT, tool_call_id TEXT);
CREATE TABLE tool_results (id INTEGER PRIMARY KEY, response_id TEXT, tool_id INTEGER, name TEXT,
  output TEXT, tool_call_id TEXT, instance_id INTEGER, exception TEXT);
CREATE TABLE tool_results_attachments (tool_result_id INTEGER, attachment_id TEXT, "order" INTEGER);
CREATE VIRTUAL TABLE responses_fts USING FTS5 (prompt, response, content=responses);
)";

constexpr std::string_view kNewer = R"(
CREATE TABLE threads (id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT, forked_from TEXT,
  datetime_utc TEXT);
CREATE TABLE turns (id TEXT PRIMARY KEY, thread_id TEXT, parent_message_hash TEXT,
  tip_message_hash TEXT, model TEXT, resolved_model TEXT, options_json TEXT, schema_id TEXT,
  input_tokens INTEGER, output_tokens INTEGER, token_details TEXT, duration_ms INTEGER,
  datetime_utc TEXT, response_json TEXT);
CREATE TABLE messages (hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT, provider_metadata TEXT);
CREATE TABLE parts (id INTEGER PRIMARY KEY, message_hash TEXT, position INTEGER, type TEXT,
  tool_name TEXT, text TEXT, payload TEXT);
CREATE VIEW message_tree AS SELECT * FROM messages;
)";

class LlmTest : public SourceTest {
 protected:
  void fill(std::string_view sql) { PlainDatabase(location() / "logs.db").run(std::string(sql)); }
};

TEST_F(LlmTest, ResponsesAreQuestionsAndAnswers) {
  fill(kOlder);
  fill(R"(
INSERT INTO conversations VALUES('01c', 'Named', 'gpt-x');
INSERT INTO fragments VALUES(1, 'h', 'From a file', '', '');
INSERT INTO attachments VALUES('aa', 'image/png', NULL, NULL, x'00ff');
INSERT INTO responses VALUES('01b', 'gpt-x', '', '', NULL, '{}', 'Found it', '{"$":"r:1"}', '01c', 5,
  '2026-01-02T03:04:06.5+00:00', 20, 6, NULL, NULL, 'gpt-x-1');
INSERT INTO responses VALUES('01a', 'gpt-x', 'Look', 'Be brief', NULL, '{}', '', NULL, '01c', 5,
  '2026-01-02T03:04:05+00:00', 10, 3, NULL, NULL, NULL);
INSERT INTO prompt_fragments VALUES('01a', 1, 0);
INSERT INTO prompt_attachments VALUES('01a', 'aa', 0);
INSERT INTO tool_calls VALUES(1, '01a', 1, 'look', '{"q": 1.0}', 'c1');
INSERT INTO tool_results VALUES(1, '01b', 1, 'look', '', 'c1', NULL, 'Error: none');
)");
  open("llm");
  EXPECT_EQ(sessions(), Lines{"01c Named (4+)"});
  EXPECT_EQ(transcript("01c"), (Lines{"*system: Be brief",
                                      "user: From a file | Look | [image/png "
                                      "data:image/png;base64,AP8=]",
                                      "assistant: call look c1 {\"q\": 1.0}",
                                      "tool: c1 failed: Error: none", "assistant: Found it"}));
  EXPECT_EQ(session("01c").usage.input.value, 30);
  EXPECT_EQ(session("01c").usage.output.value, 9);
  EXPECT_EQ(session("01c").system_prompt, "Be brief");
}

TEST_F(LlmTest, AttachmentsByTypeAndPlace) {
  fill(kOlder);
  fill(R"(
INSERT INTO conversations VALUES('01c', 'Named', 'gpt-x');
INSERT INTO attachments VALUES('a', 'image/png', NULL, 'http://x/a.png', NULL);
INSERT INTO attachments VALUES('b', 'image/png', NULL, 'http://x/b.png', x'00ff');
INSERT INTO attachments VALUES('c', 'application/pdf', NULL, NULL, x'00ff');
INSERT INTO attachments VALUES('d', 'application/pdf', NULL, 'http://x/d.pdf', NULL);
INSERT INTO attachments VALUES('e', 'audio/wav', NULL, NULL, x'00ff');
INSERT INTO attachments VALUES('f', 'image/png', '/tmp/f.png', NULL, NULL);
INSERT INTO responses VALUES('01a', 'gpt-x', 'Look', '', NULL, '{}', 'I see', NULL, '01c', 5,
  '2026-01-02T03:04:05+00:00', 10, 3, NULL, NULL, NULL);
INSERT INTO prompt_attachments SELECT '01a', id, unicode(id) FROM attachments;
)");
  open("llm");
  EXPECT_EQ(transcript("01c").at(0),
            "user: Look | [image/png http://x/a.png] | [image/png data:image/png;base64,AP8=] | "
            "[application/pdf data:application/pdf;base64,AP8=] | "
            "[application/pdf http://x/d.pdf] | ?audio/wav | ?image/png");
}

TEST_F(LlmTest, ResultsHaveAttachments) {
  fill(kOlder);
  fill(R"(
INSERT INTO conversations VALUES('01c', 'Named', 'gpt-x');
INSERT INTO attachments VALUES('a', 'image/png', NULL, NULL, x'00ff');
INSERT INTO responses VALUES('01a', 'gpt-x', '', '', NULL, '{}', 'I see', NULL, '01c', 5,
  '2026-01-02T03:04:05+00:00', 10, 3, NULL, NULL, NULL);
INSERT INTO tool_results VALUES(7, '01a', 1, 'look', 'Here', 'c1', NULL, NULL);
INSERT INTO tool_results_attachments VALUES(7, 'a', 0), (8, 'b', 0);
)");
  open("llm");
  EXPECT_EQ(transcript("01c"), (Lines{"tool: c1 = Here | [image/png data:image/png;base64,AP8=]",
                                      "assistant: I see"}));
}

TEST_F(LlmTest, AResponseWithoutAConversationIsOneOfItsOwn) {
  fill(kOlder);
  fill(R"(
INSERT INTO responses VALUES('01a', 'gpt-x', 'Why?', '', NULL, '{}', 'So.', NULL, NULL, 5,
  '2026-01-02T03:04:05+00:00', 10, 3, NULL, NULL, NULL);
)");
  open("llm");
  EXPECT_EQ(sessions(), Lines{"01a Why? (2+)"});
  EXPECT_TRUE(must(source().list({})).damage.empty());
  EXPECT_EQ(transcript("01a"), (Lines{"user: Why?", "assistant: So."}));
}

TEST_F(LlmTest, AConversationWhoseIdIsNotOneOfOursIsRead) {
  fill(kOlder);
  fill(R"(
INSERT INTO conversations VALUES('bad id', 'Named', 'gpt-x');
INSERT INTO responses VALUES('01a', 'gpt-x', 'Why?', '', NULL, '{}', 'So.', NULL, 'bad id', 5,
  '2026-01-02T03:04:05+00:00', 10, 3, NULL, NULL, NULL);
)");
  open("llm");
  const SessionPage page = must(source().list({}));
  ASSERT_EQ(page.sessions.size(), 1U);
  EXPECT_EQ(transcript(page.sessions.front().id.str()), (Lines{"user: Why?", "assistant: So."}));
}

TEST_F(LlmTest, ThreadsAreChainsOfMessages) {
  fill(kOlder);
  fill(kNewer);
  fill(R"(
INSERT INTO fragments VALUES(7, 'h', 'Text of a fragment', '', '');
INSERT INTO threads VALUES('01t', 'A thread…', 'h4', NULL, '2026-01-02T03:04:05+00:00');
INSERT INTO messages VALUES('h1', NULL, 'user', NULL), ('h2', 'h1', 'assistant', NULL),
  ('h3', 'h2', 'user', NULL), ('h4', 'h3', 'assistant', '{"sig":1}'), ('other', 'h1', 'assistant', NULL);
INSERT INTO parts(message_hash, position, type, tool_name, text, payload) VALUES
  ('h1', 0, 'text', NULL, '', '{"text_ref":[{"fragment":7},{"literal":"\n…"}]}'),
  ('h2', 1, 'tool_call', 'look', NULL, '{"name":"look","arguments":{"q":1.0},"tool_call_id":"c"}'),
  ('h2', 0, 'reasoning', NULL, 'hm', NULL),
  ('h3', 0, 'tool_result', 'look', NULL, '{"name":"look","output":"x","tool_call_id":"c"}'),
  ('h4', 0, 'text', NULL, 'So.', NULL), ('h4', 1, 'of_tomorrow', NULL, 'y', '{}');
INSERT INTO turns VALUES('u1', '01t', 'h1', 'h2', 'm', 'm-1', '{}', NULL, 4, 2, NULL, 5,
  '2026-01-02T03:04:06+00:00', '{}'), ('u2', '01t', 'h3', 'h4', 'm', NULL, '{}', NULL, 6, 3, NULL, 5,
  '2026-01-02T03:04:07+00:00', '{}');
)");
  open("llm");
  EXPECT_EQ(sessions(), Lines{"01t A thread… (4+)"});
  EXPECT_EQ(transcript("01t"), (Lines{"user: Text of a fragment\n…",
                                      "assistant: (thinking) hm | call look c {\"q\":1.0}",
                                      "tool: c = x", "assistant: So. | ?of_tomorrow"}));
  EXPECT_EQ(session("01t").usage.output.value, 5);
  EXPECT_EQ(format_time(session("01t").info.updated_at), "2026-01-02T03:04:07Z");
}

// llm's tools return attachments, which it asks the model about again.
TEST_F(LlmTest, AttachmentsOfResultsAreShownOnce) {
  fill(kOlder);
  fill(R"(
INSERT INTO conversations VALUES('01c', 'Named', 'gpt-x');
INSERT INTO attachments VALUES('a', 'image/png', NULL, NULL, x'00ff');
INSERT INTO responses VALUES('01a', 'gpt-x', '', '', NULL, '{}', 'I see', NULL, '01c', 5,
  '2026-01-02T03:04:05+00:00', 10, 3, NULL, NULL, NULL);
INSERT INTO tool_results VALUES(7, '01a', 1, 'look', 'Here', 'c1', NULL, NULL);
INSERT INTO tool_results_attachments VALUES(7, 'a', 0);
INSERT INTO prompt_attachments VALUES('01a', 'a', 0);
)");
  open("llm");
  EXPECT_EQ(transcript("01c"), (Lines{"tool: c1 = Here | [image/png data:image/png;base64,AP8=]",
                                      "assistant: I see"}));
}

TEST_F(LlmTest, SoundIsPreserved) {
  fill(kOlder);
  fill(R"(
INSERT INTO attachments VALUES('e', 'audio/wav', NULL, NULL, x'00ff');
INSERT INTO responses VALUES('01a', 'gpt-x', 'Hear', '', NULL, '{}', 'I do', NULL, NULL, 5,
  '2026-01-02T03:04:05+00:00', 10, 3, NULL, NULL, NULL);
INSERT INTO prompt_attachments VALUES('01a', 'e', 0);
)");
  open("llm");
  std::string question;
  (void)must(source().read(must(SessionId::parse("01a")), {}, [&](Message&& message) {
    question = message_to_json(message);
    return Flow::stop;
  }));
  EXPECT_TRUE(question.contains(R"("type":"audio/wav","content":"AP8=")")) << question;
}

TEST_F(LlmTest, TokensByKind) {
  fill(kOlder);
  fill(R"(
INSERT INTO conversations VALUES('01c', 'Named', 'm');
INSERT INTO responses VALUES('01a', 'm', 'Why?', '', NULL, '{}', 'So.', NULL, '01c', 5,
  '2026-01-02T03:04:05+00:00', 100, 30, '{"prompt_tokens_details": {"cached_tokens": 64},
  "completion_tokens_details": {"reasoning_tokens": 20}}', NULL, NULL);
INSERT INTO responses VALUES('01b', 'm', 'And?', '', NULL, '{}', 'So.', NULL, '01c', 5,
  '2026-01-02T03:04:06+00:00', 10, 3, '{"input_tokens_details": {"cached_tokens": 6},
  "output_tokens_details": {"reasoning_tokens": 2}}', NULL, NULL);
)");
  open("llm");
  EXPECT_EQ(session("01c").usage.cached.value, 70);
  EXPECT_EQ(session("01c").usage.reasoning.value, 22);
}

TEST_F(LlmTest, AttachmentsInThreads) {
  fill(kOlder);
  fill(kNewer);
  fill(R"(
INSERT INTO attachments VALUES('a', 'image/png', NULL, NULL, x'00ff');
INSERT INTO attachments VALUES('b', 'image/png', NULL, 'http://x/b.png', NULL);
INSERT INTO threads VALUES('01t', 'Look', 'h6', NULL, '2026-01-02 03:04:05.123456+00:00');
INSERT INTO messages VALUES('h1', NULL, 'user', NULL), ('h2', 'h1', 'assistant', NULL),
  ('h3', 'h2', 'tool', NULL), ('h4', 'h3', 'user', NULL), ('h5', 'h4', 'assistant', NULL),
  ('h6', 'h5', 'user', NULL);
INSERT INTO parts(message_hash, position, type, tool_name, text, payload) VALUES
  ('h1', 0, 'text', NULL, 'Look', NULL), ('h1', 1, 'attachment', NULL, NULL, '{"attachment":{"id":"b"}}'),
  ('h2', 0, 'tool_call', 'f', NULL, '{"name":"f","arguments":{},"tool_call_id":"c"}'),
  ('h3', 0, 'tool_result', 'f', NULL,
   '{"name":"f","output":"Here","tool_call_id":"c","attachments":[{"id":"a"}]}'),
  ('h4', 0, 'attachment', NULL, NULL, '{"attachment":{"id":"a"}}'),
  ('h5', 0, 'text', NULL, 'I see', NULL),
  ('h6', 0, 'attachment', NULL, NULL, '{"attachment":{"id":"b"}}');
)");
  open("llm");
  EXPECT_EQ(transcript("01t"),
            (Lines{"user: Look | [image/png http://x/b.png]", "assistant: call f c {}",
                   "tool: c = Here | [image/png data:image/png;base64,AP8=]",
                   "*user: [image/png data:image/png;base64,AP8=]", "assistant: I see",
                   "user: [image/png http://x/b.png]"}));
  EXPECT_EQ(format_time(session("01t").info.created_at), "2026-01-02T03:04:05.123456Z");
}

TEST_F(LlmTest, AnswersHaveResultsOfTheProvidersTools) {
  fill(kNewer);
  fill(R"(
INSERT INTO threads VALUES('01t', 'Find', 'h2', NULL, '2026-01-02T03:04:05+00:00');
INSERT INTO messages VALUES('h1', NULL, 'user', NULL), ('h2', 'h1', 'assistant', NULL);
INSERT INTO parts(message_hash, position, type, tool_name, text, payload) VALUES
  ('h1', 0, 'text', NULL, 'Find', NULL),
  ('h2', 0, 'tool_call', 's', NULL, '{"name":"s","arguments":{},"tool_call_id":"c","server_executed":true}'),
  ('h2', 1, 'tool_result', 's', NULL, '{"name":"s","output":"x","tool_call_id":"c","server_executed":true}'),
  ('h2', 2, 'text', NULL, 'Found', NULL);
INSERT INTO turns VALUES('u1', '01t', 'h1', 'h2', 'm', 'm-1', '{}', NULL, 4, 2, NULL, 5,
  '2026-01-02T03:04:06+00:00', '{}');
)");
  open("llm");
  EXPECT_EQ(transcript("01t"), (Lines{"user: Find", "assistant: call s c {} | c = x | Found"}));
  std::vector<Message> messages;
  (void)must(source().read(must(SessionId::parse("01t")), {}, [&](Message&& message) {
    messages.push_back(std::move(message));
    return Flow::proceed;
  }));
  EXPECT_EQ(messages[1].model, "m-1");
  EXPECT_EQ(messages[1].usage.value_or(Usage{}).output.value, 2);
  // llm stores the time of the request.
  EXPECT_EQ(format_time(messages[0].created_at), "2026-01-02T03:04:06Z");
}

// Of two answers to one message, asked for at the same time, llm continues the later one.
TEST_F(LlmTest, OtherTurnsOfAThreadAreBranches) {
  fill(kNewer);
  fill(R"(
INSERT INTO threads VALUES('01t', 'One', 'b2', NULL, '2026-01-02T03:04:05+00:00');
INSERT INTO messages VALUES('h1', NULL, 'user', NULL), ('h2', 'h1', 'assistant', NULL),
  ('a1', 'h2', 'user', NULL), ('a2', 'a1', 'assistant', NULL), ('b1', 'h2', 'user', NULL),
  ('b2', 'b1', 'assistant', NULL);
INSERT INTO parts(message_hash, position, type, text) SELECT hash, 0, 'text', hash FROM messages;
INSERT INTO turns VALUES
  ('u1', '01t', 'h1', 'h2', 'm', NULL, '{}', NULL, 4, 2, NULL, 5, '2026-01-02T03:04:06+00:00', '{}'),
  ('u2', '01t', 'a1', 'a2', 'n', NULL, '{}', NULL, 6, 3, NULL, 5, '2026-01-02T03:04:07+00:00', '{}'),
  ('u3', '01t', 'b1', 'b2', 'm', NULL, '{}', NULL, 6, 3, NULL, 5, '2026-01-02T03:04:08+00:00', '{}');
)");
  open("llm");
  EXPECT_EQ(transcript("01t"), (Lines{"user: h1", "assistant: h2", "user: b1", "assistant: b2"}));
  EXPECT_EQ(session("01t").info.model, "m");
  EXPECT_EQ(session("01t").usage.output.value, 5);
  std::string branch;
  for (const std::string& one : sessions(true)) {
    branch = one.starts_with('~') ? one.substr(1, one.find(' ') - 1) : branch;
  }
  ASSERT_NE(branch, "");
  EXPECT_EQ(transcript(branch), (Lines{"user: h1", "assistant: h2", "user: a1", "assistant: a2"}));
}

// llm 0.32 repeats the messages of the conversation that it continues.
TEST_F(LlmTest, AThreadContinuesAConversation) {
  fill(kOlder);
  fill(kNewer);
  fill(R"(
INSERT INTO conversations VALUES('01c', 'The first question', 'gpt-x');
INSERT INTO responses VALUES('01a', 'gpt-x', 'The first question', '', NULL, '{}', '', NULL, '01c', 5,
  '2026-01-02T03:04:05+00:00', 10, 3, NULL, NULL, 'gpt-x-1');
INSERT INTO responses VALUES('01b', 'gpt-x', '', '', NULL, '{}', 'h4', NULL, '01c', 5,
  '2026-01-02T03:04:06+00:00', 20, 6, NULL, NULL, NULL);
INSERT INTO tool_calls VALUES(1, '01a', 1, 'look', '{}', 'c1');
INSERT INTO threads VALUES('01c', 'And?', 'h6', NULL, '2026-09-02T03:04:05+00:00');
INSERT INTO messages VALUES('h1', NULL, 'user', NULL), ('h2', 'h1', 'assistant', NULL),
  ('h3', 'h2', 'tool', NULL), ('h4', 'h3', 'assistant', NULL), ('h5', 'h4', 'user', NULL),
  ('h6', 'h5', 'assistant', NULL);
INSERT INTO parts(message_hash, position, type, text) SELECT hash, 0, 'text', hash FROM messages;
INSERT INTO turns VALUES('u1', '01c', 'h5', 'h6', 'n', NULL, '{}', NULL, 40, 12, NULL, 5,
  '2026-09-02T03:04:06+00:00', '{}');
)");
  open("llm");
  EXPECT_EQ(sessions(), Lines{"01c The first question (2+)"});
  EXPECT_EQ(transcript("01c").size(), 6U);
  EXPECT_EQ(metadata("01c"), "The first question|llm|n||2026-01-02T03:04:05Z|2026-09-02T03:04:06Z");
  EXPECT_EQ(session("01c").usage.output.value, 21);
  std::string models;
  (void)must(source().read(must(SessionId::parse("01c")), {}, [&](Message&& message) {
    models += cat(message.model, "|");
    return Flow::proceed;
  }));
  EXPECT_EQ(models, "|gpt-x-1||gpt-x||n|");
}

TEST_F(LlmTest, CirclesAndMissingMessagesAreNoEnd) {
  fill(kNewer);
  fill(R"(
INSERT INTO threads VALUES('01a', 'Circle', 'h1', NULL, ''), ('01b', 'Gone', 'g1', NULL, '');
INSERT INTO messages VALUES('h1', 'h2', 'user', NULL), ('h2', 'h1', 'user', NULL),
  ('g1', 'nowhere', 'user', NULL);
INSERT INTO parts(message_hash, position, type, text) VALUES('g1', 0, 'text', x'ff41');
)");
  open("llm", "logs.db");
  EXPECT_EQ(transcript("01a").size(), 2U);
  EXPECT_EQ(transcript("01b").size(), 1U);
  EXPECT_EQ(damage("01b").size(), 1U);
}

TEST_F(LlmTest, ItIsRecognised) {
  fill(kOlder);
  EXPECT_EQ(must(source_kind_of(location().native()))->name, "llm");
  EXPECT_EQ(must(source_kind_of((location() / "logs.db").native()))->name, "llm");
}

}  // namespace
}  // namespace reprise::test::llm_history
