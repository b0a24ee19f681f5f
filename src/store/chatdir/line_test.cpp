#include "store/chatdir/line.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "store/chatdir/chat_metadata.h"
#include "store/chatdir/file_window.h"
#include "store/chatdir/trailer.h"

namespace reprise::store::chatdir {
namespace {

using namespace std::string_view_literals;

Message message(std::string_view role, std::vector<Block> blocks) {
  Message message;
  message.role = role;
  message.blocks = std::move(blocks);
  message.created_at = *parse_time("2026-01-18T20:00:01.000002Z");
  return message;
}

RawJson raw(std::string text) {
  return *RawJson::parse(std::move(text));
}

std::string line_of(const Message& message, const Trailer& trailer = {}) {
  std::string out;
  const auto done = append_line(out, 0, message, trailer);
  EXPECT_TRUE(done) << done.error().message;
  return out;
}

void expect_round_trip(const Message& message) {
  const std::string line = line_of(message);
  ASSERT_EQ(line.find('\n'), line.size() - 1) << line;
  const auto read = read_line(std::string_view(line).substr(0, line.size() - 1));
  ASSERT_TRUE(read) << read.error().message << line;
  EXPECT_EQ(read->message, message) << line;
  EXPECT_FALSE(read->duplicate);
  EXPECT_FALSE(read->lossy);
}

TEST(ChatLine, PlainTextIsSpelledLikeTheOriginal) {
  EXPECT_EQ(
      line_of(message("user", {TextBlock{"Привіт 😀\nline2", {}}})),
      R"({"role":"user","content":"Привіт 😀\nline2","reprise":{"log":{"seq":0,"line":0,"at":63,)"
      R"("created_at":"2026-01-18T20:00:01.000002Z"}}})"
      "\n");
}

TEST(ChatLine, BlocksAreParts) {
  const std::string line = line_of(
      message("assistant",
              {ThinkingBlock{"hm", "sig", {}}, TextBlock{"see", {}},
               ToolUseBlock{"t1", "read", raw(R"({"path":"a","n":1.0})"), {}},
               ToolResultBlock{"t1", "no such file", true, {}, {{"toolName", raw(R"("read")")}}},
               ImageBlock{"image/png", {}, "https://example.org/a.png", {}}}));
  EXPECT_TRUE(line.starts_with(
      R"({"role":"assistant","content":[{"type":"reasoning","text":"hm","signature":"sig"},)"
      R"({"type":"text","text":"see"},)"
      R"({"type":"tool-call","toolCallId":"t1","toolName":"read","input":{"path":"a","n":1.0}},)"
      R"({"type":"tool-result","toolCallId":"t1","output":{"type":"error-text",)"
      R"("value":"no such file"},"toolName":"read"},)"
      R"({"type":"file","data":"https://example.org/a.png","mediaType":"image/png"}],)"
      R"("reprise":{"content":[{"type":"reasoning",)"))
      << "the original takes an answer's picture for a file: " << line;
  EXPECT_TRUE(
      line_of(message("user", {ImageBlock{"image/png", {}, "https://example.org/a.png", {}}}))
          .starts_with(R"({"role":"user","content":[{"type":"image",)"
                       R"("image":"https://example.org/a.png","mediaType":"image/png"}],)"));
}

TEST(ChatLine, MessagesRoundTrip) {
  Message full = message("assistant", {TextBlock{"Hello", {{"id", raw("1")}}}, TextBlock{}});
  full.provider = "p";
  full.model = "m";
  full.response_id = "r";
  full.usage = Usage{.input = {1}, .request_id = "req"};
  full.state = MessageState::incomplete;
  full.extra = {
      {"role", raw("5")}, {"content", raw("[]")}, {"reprise", raw("{}")}, {"x", raw("1e2")}};
  const std::vector<Message> all = {
      full,
      Message{},
      message("", {}),
      message("user", {TextBlock{"", {}}}),
      message("tool", {ToolResultBlock{"t", "out", false, {}, {{"output", raw("[1]")}}}}),
      message("user", {UnknownBlock{"reasoning", raw(R"({"type":"reasoning","text":"a"})")}}),
      message("user", {UnknownBlock{"", raw("17")}, UnknownBlock{"", raw(R"("s")")}}),
      message("user", {UnknownBlock{"tool_use", raw(R"({"type":"tool_use","id":"x"})")}}),
      message("user", {ImageBlock{"image/png", {}, "", {}}}),
      message("user", {ImageBlock{"image/png", *BlobHash::parse(std::string(64, 'a')), "", {}}}),
      message("assistant", {ToolUseBlock{"t", "n", RawJson(), {{"args", raw("1")}}},
                            ToolUseBlock{"t", "n", raw("2"), {{"toolName", raw("1")}}}}),
      message("assistant", {ToolUseBlock{"t", "n", raw("{\n  \"a\": [1,\r\n2]\n}"), {}}}),
      message("user", {TextBlock{R"(","log":{"seq":9,"at":0}}})", {}}}),
  };
  for (const Message& one : all) {
    expect_round_trip(one);
  }
}

TEST(ChatLine, ReadsWhatOthersWrite) {
  const auto read = read_line(
      R"({"content":[{"type":"text","text":"a","providerOptions":{"x":1.0}},)"
      R"({"type":"tool-call","toolCallId":"c","toolName":"n","args":{"b":2}},)"
      R"({"type":"tool-result","toolCallId":"c","toolName":"n","result":{"ok":true}},)"
      R"({"type":"tool-result","toolCallId":"c","output":{"type":"json","value":[1]}},)"
      R"({"type":"image","image":"aGk=","mediaType":"image/png"},)"
      R"({"type":"file","data":"aGk=","mediaType":"text/plain"},"bare"],"role":"user","id":"m1"})");
  ASSERT_TRUE(read) << read.error().message;
  const std::vector<Block> expected = {
      TextBlock{"a", {{"providerOptions", raw(R"({"x":1.0})")}}},
      ToolUseBlock{"c", "n", raw(R"({"b":2})"), {}},
      ToolResultBlock{"c",
                      R"({"ok":true})",
                      false,
                      {},
                      {{"toolName", raw(R"("n")")}, {"result", raw(R"({"ok":true})")}}},
      ToolResultBlock{"c", "[1]", false, {}, {{"output", raw(R"({"type":"json","value":[1]})")}}},
      ImageBlock{"image/png", {}, "data:image/png;base64,aGk=", {}},
      UnknownBlock{"file", raw(R"({"type":"file","data":"aGk=","mediaType":"text/plain"})")},
      UnknownBlock{"", raw(R"("bare")")},
  };
  EXPECT_EQ(read->message.blocks, expected);
  EXPECT_EQ(read->message.extra, (Extra{{"id", raw(R"("m1")")}}));
}

TEST(ChatLine, UnusualLinesAreReadAndFlagged) {
  const auto text_of = [](std::string_view line) {
    const auto read = read_line(line);
    EXPECT_TRUE(read) << line;
    return read ? plain_text(read->message) : "";
  };
  EXPECT_EQ(text_of("{\"role\":\"user\",\"content\":\"a\nb\tc\"}"), "a\nb\tc");
  EXPECT_EQ(text_of("{\"role\":\"user\",\"content\":\"a\\\nb\"}"), "a\nb");
  EXPECT_EQ(text_of("{\"role\":\"user\",\"content\":\"a\u2028b\"}"), "a\u2028b");
  EXPECT_EQ(text_of(R"({"content":"no role"})"), "no role");
  EXPECT_TRUE(read_line(R"({"content":"1","content":"2"})")->duplicate);
  EXPECT_EQ(text_of(R"({"content":"1","content":"2"})"), "2");
  EXPECT_TRUE(read_line(R"({"x":1,"x":2})")->duplicate);
  EXPECT_TRUE(read_line(R"({"content":"\ud800"})")->lossy);
  EXPECT_TRUE(read_line(R"({"content":[{"type":"text","text":"\ud800"}]})")->lossy);
  EXPECT_TRUE(read_line("{\"content\":\"\xFF\"}")->lossy);
  EXPECT_EQ(text_of("{\"content\":\"\xFF\"}"), "\uFFFD");
  EXPECT_EQ(read_line(R"({"role":5,"content":7})")->message.extra.size(), 2U);
  EXPECT_FALSE(read_line(R"({"role":"user")"));
  EXPECT_FALSE(read_line("[]"));
  EXPECT_FALSE(read_line(std::string(100'000, '[')));
}

// With a linear search for each member, this would take minutes.
TEST(ChatLine, ReadsAsManyMembersAsFitOnALine) {
  constexpr std::size_t kMembers = 500'000;
  std::string line = R"({"role":"user","content":"a")";
  for (std::size_t i = 0; i < kMembers; ++i) {
    line += cat(",\"m", i, "\":1");
  }
  const auto read = read_line(line + R"(,"m7":2})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->message.extra.size(), kMembers);
  EXPECT_EQ(read->message.extra[7].value, raw("2"));
  EXPECT_TRUE(read->duplicate);
}

TEST(ChatLine, ChangesByOthersTakePrecedence) {
  Message two = message("user", {TextBlock{"a", {}}, TextBlock{"b", {}}});
  two.model = "m";
  std::string line = line_of(two);
  line.replace(line.find(R"("text":"b")"), 10, R"("text":"c")");
  const auto read = read_line(line.substr(0, line.size() - 1));
  ASSERT_TRUE(read);
  EXPECT_EQ(plain_text(read->message), "a\n\nc");
  EXPECT_EQ(read->message.model, "m");
}

TEST(ChatMark, IsFoundAtTheEnd) {
  const Trailer trailer{
      .seq = {7},
      .number = 2,
      .of = 2,
      .request = "req\"}}}",
      .operation = *OperationId::parse("op"),
      .state = state_to_json(
          {.usage = Usage{.input = {5}},
           .answering = PartialStart{*OperationId::parse("a"), Owner{"h", 1, 2}, "p", "m"}})};
  const Message one = message("user", {TextBlock{R"("log":{"seq":)", {}}});
  const std::string line = line_of(one, trailer);
  for (const std::size_t from : {std::size_t{0}, line.rfind(R"("log":)")}) {
    const auto found = find_trailer(std::string_view(line).substr(from));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->trailer->seq, Seq{7});
    EXPECT_EQ(found->trailer->line, 0);
    EXPECT_EQ(found->trailer->at, static_cast<std::int64_t>(from + found->position));
    EXPECT_EQ(found->trailer->created_at, one.created_at);
    EXPECT_EQ(found->trailer->of, 2);
    EXPECT_EQ(found->trailer->request, trailer.request);
    EXPECT_EQ(found->trailer->operation, trailer.operation);
    const State state = state_from_json(found->trailer->state);
    EXPECT_EQ(state.usage, Usage{.input = {5}});
    EXPECT_EQ(state.answering->answer.str(), "a");
  }
  for (std::size_t cut = 1; cut + 1 < line.size(); ++cut) {
    EXPECT_FALSE(find_trailer(std::string_view(line).substr(0, cut))) << cut;
  }
  EXPECT_FALSE(find_trailer(R"({"role":"user","content":{"a":{}}})"));
}

TEST(ChatLine, RefusesWhatItCouldNotReadBack) {
  const std::string deep = std::string(511, '[') + std::string(511, ']');
  std::string out;
  const auto refused =
      append_line(out, 0, message("assistant", {ToolUseBlock{"t", "n", raw(deep), {}}}), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::invalid_argument);

  const std::string longest(FileWindow::kLineBytesMax, 'x');
  out.clear();
  const auto too_long = append_line(out, 0, message("user", {TextBlock{longest, {}}}), {});
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().code, Code::unsupported);
}

}  // namespace
}  // namespace reprise::store::chatdir
