#include "support/build.h"

#include "base/text.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "support/must.h"

namespace reprise::test {

using namespace std::string_view_literals;

SessionId session_id(std::string_view text) {
  return must(SessionId::parse(text));
}

OperationId operation_id(std::string_view text) {
  return must(OperationId::parse(text));
}

PartialStart running_answer(std::string_view answer) {
  return {.answer = operation_id(answer),
          .owner = this_process(),
          .provider = "p",
          .model = "m",
          .started_at = at(1)};
}

RawJson raw(std::string text) {
  return must(RawJson::parse(std::move(text)));
}

Time at(int seconds, int microseconds) {
  constexpr std::int64_t kBeginning = 1'768'766'400;
  return Time(std::chrono::seconds(kBeginning + seconds) + std::chrono::microseconds(microseconds));
}

Session session(std::string_view id) {
  return session(id, at(0));
}

Session session(std::string_view id, Time updated_at) {
  Session session{.info = {.id = session_id(id)}};
  session.info.title = cat("Title of ", id);
  session.info.created_at = at(0);
  session.info.updated_at = updated_at;
  return session;
}

Session full_session(std::string_view id) {
  Session session{.info = {.id = session_id(id)}};
  session.info.title = "Ein Titel, der “alles” hat: \xF0\x9F\x90\x9F\n100 %_\\";
  session.info.mode = "draft";
  session.info.state = SessionState::closed;
  session.info.pinned = true;
  session.info.provider = "anthropic";
  session.info.model = "some-model-1";
  session.info.working_dir = "/home/somebody/a folder";
  session.info.created_at = at(5, 1);
  session.info.updated_at = at(6, 999'999);
  session.info.closed_at = at(7, 500'000);
  session.info.forked_from = ForkOrigin{session_id("somewhere-else"), {3}};
  session.system_prompt = "Be brief.\nBe kind.";
  session.config = raw(R"({"temperature":1.0,"big":123456789012345678901234,"b":null,"a":[1e2]})");
  session.response_chain = {{"openai", "resp_1"}, {"openai", "resp_2"}, {"other", "resp_1"}};
  session.prompt_history = {"newest", "older\nof two lines", ""};
  session.extra = {{"later", raw(R"({"n":1.0})")}, {"x", raw("null")}};
  return session;
}

Message message(std::string_view role, std::string_view text, Time created_at) {
  Message message;
  message.role = role;
  message.blocks.emplace_back(TextBlock{std::string(text), {}});
  message.created_at = created_at;
  return message;
}

Message user(std::string_view text, Time created_at) {
  return message(role::kUser, text, created_at);
}

Message assistant(std::string_view text, Time created_at) {
  return message(role::kAssistant, text, created_at);
}

std::vector<Message> messages(int count, std::string_view prefix, Time start) {
  std::vector<Message> all;
  for (int number = 0; number < count; ++number) {
    all.push_back(message(number % 2 == 0 ? role::kUser : role::kAssistant,
                          cat(prefix, " ", number), start + std::chrono::seconds(number)));
  }
  return all;
}

Message full_message() {
  const BlobHash blob = must(BlobHash::parse(std::string(64, 'a')));
  Message message;
  message.role = "assistant";
  message.blocks = {
      TextBlock{"Hello", {{"cache_control", raw(R"({"type":"ephemeral","ttl":1.0})")}}},
      ThinkingBlock{"Hm.\n", "c2ln", {{"n", raw("1e2")}}},
      ToolUseBlock{"toolu_1",
                   "file.read",
                   raw(R"({"path":"a","n":1.0,"big":123456789012345678901234,"b":"\u00e9"})"),
                   {{"k", raw("true")}}},
      ToolUseBlock{"toolu_2", "file.patch", raw(R"("{\"path\":\"broken\"")"), {}},
      ToolResultBlock{"toolu_1", "exit status 1", true, blob, {{"content", raw("[ 1 ]")}}},
      ToolResultBlock{"toolu_2", "", false, {}, {}},
      ImageBlock{"image/png", blob, "", {{"detail", raw(R"("low")")}}},
      ImageBlock{"image/jpeg", {}, "https://example.org/a.jpg", {}},
      UnknownBlock{"server_tool", raw(R"({"type":"server_tool","n":1.0,"a":{"z":0,"a":1}})")},
      TextBlock{},
      TextBlock{"again", {}},
  };
  message.created_at = at(3, 123'456);
  message.author = must(Author::parse("Zo\u00eb \"Z\" O\\Brien, 100 %_"));
  message.provider = "anthropic";
  message.model = "some-model-2";
  message.response_id = "msg_01";
  message.usage = Usage{.input = {10},
                        .output = {20},
                        .reasoning = {3},
                        .cached = {4},
                        .cache_written = {5},
                        .cost = Money{105'000},
                        .price_source = "config",
                        .request_id = "req_full",
                        .extra = {{"tier", raw(R"("standard")")}}};
  message.state = MessageState::incomplete;
  message.extra = {{"later", raw(R"({"deep":[1.0,{"x":null}]})")}};
  return message;
}

std::vector<std::string> hard_texts() {
  return {
      "",
      " ",
      "\n",
      std::string("a\0b"sv),
      std::string("\0"sv),
      "line\u2028separator\u2029paragraph",
      "\U0001F41F\U0001F469\u200D\U0001F4BB e\u0301 \uFEFF \uFFFD \U0010FFFF",
      "\"quoted\" \\back\\ /slash/ <tag> &amp; '; DROP TABLE messages; --",
      "\x01\x1b[31m\x7f\t\r\n\b\f",
      R"(\u0000 \ud800 {"type":"text"})",
      std::string(70'000, 'x'),
  };
}

std::vector<Message> numbered(std::vector<Message> messages, Seq first) {
  for (Message& message : messages) {
    message.seq = first;
    first = first.next();
  }
  return messages;
}

std::vector<std::string> texts(const std::vector<Message>& messages) {
  std::vector<std::string> all;
  all.reserve(messages.size());
  for (const Message& message : messages) {
    all.push_back(plain_text(message));
  }
  return all;
}

Usage usage(std::string_view request_id, std::int64_t input, std::int64_t output) {
  Usage usage;
  usage.input = {input};
  usage.output = {output};
  usage.request_id = request_id;
  return usage;
}

}  // namespace reprise::test
