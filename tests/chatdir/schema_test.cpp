// The validation of each line by the original before it sends a chat to a model. It refuses the
// whole chat if a line is invalid.

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/text.h"
#include "chatdir/chatdir_fixture.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

using json::Kind;
using Lines = std::vector<std::string>;

Kind kind_of(std::string_view object, std::string_view name) {
  return json::Scanner(json::find_member(object, name)).kind();
}

bool is_text(std::string_view object, std::string_view name) {
  return kind_of(object, name) == Kind::string;
}

std::string text_of(std::string_view object, std::string_view name) {
  std::string text;
  json::Scanner(json::find_member(object, name)).string(text);
  return text;
}

bool is_output(std::string_view output) {
  const std::string type = text_of(output, "type");
  const Kind value = kind_of(output, "value");
  return type == "text" || type == "error-text"   ? value == Kind::string
         : type == "json" || type == "error-json" ? value != Kind::none
                                                  : type == "content" && value == Kind::array;
}

bool is_part(std::string_view role, std::string_view part) {
  const std::string type = text_of(part, "type");
  const bool user = role == "user";
  const bool assistant = role == "assistant";
  if (type == "text") {
    return (user || assistant) && is_text(part, "text");
  }
  if (type == "image") {
    return user && is_text(part, "image");
  }
  if (type == "file") {
    return (user || assistant) && is_text(part, "data") && is_text(part, "mediaType");
  }
  if (type == "reasoning") {
    return assistant && is_text(part, "text");
  }
  if (type == "tool-call") {
    return assistant && is_text(part, "toolCallId") && is_text(part, "toolName");
  }
  return type == "tool-result" && (assistant || role == "tool") && is_text(part, "toolCallId") &&
         is_text(part, "toolName") && is_output(json::find_member(part, "output"));
}

bool is_accepted_line(std::string_view line) {
  const std::string role = text_of(line, "role");
  const std::string_view content = json::find_member(line, "content");
  json::Scanner scanner(content);
  if (scanner.kind() == Kind::string) {
    return role == "system" || role == "user" || role == "assistant";
  }
  if (role == "system" || scanner.kind() != Kind::array) {
    return false;
  }
  return scanner.array([&] {
    std::string_view part;
    return scanner.raw(part) && is_part(role, part);
  });
}

Lines lines_of(std::string_view bytes) {
  Lines lines;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
    lines.emplace_back(bytes.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

Lines lines_of(const ChatDirectory& directory, const SessionId& id) {
  return lines_of(directory.read(directory.messages(id)));
}

Block result_of(std::string_view id, std::string_view text, Extra extra = {}) {
  return ToolResultBlock{std::string(id), std::string(text), false, {}, std::move(extra)};
}

Message of(std::string_view role, std::vector<Block> blocks) {
  Message message = user("");
  message.role = role;
  message.blocks = std::move(blocks);
  return message;
}

RawJson raw(std::string_view json) {
  return must(RawJson::parse(std::string(json)));
}

TEST(OriginalsSchema, RefusesWhatTheOriginalRefuses) {
  EXPECT_TRUE(
      is_accepted_line(R"({"role":"tool","content":[{"type":"tool-result","toolCallId":"a",)"
                       R"("toolName":"n","output":{"type":"text","value":"x"}}]})"));
  for (const char* const line :
       {R"({"role":"tool","content":[{"type":"tool-result","toolCallId":"a",)"
        R"("output":{"type":"text","value":"x"}}]})",
        R"({"role":"tool","content":"x"})", R"({"role":"","content":"x"})",
        R"({"role":"system","content":[{"type":"text","text":"x"}]})",
        R"({"role":"user","content":[{"type":"tool-result","toolCallId":"a","toolName":"n",)"
        R"("output":{"type":"text","value":"x"}}]})",
        R"({"role":"user","content":[17]})", R"({"role":"user"})"}) {
    EXPECT_FALSE(is_accepted_line(line)) << line;
  }
}

// Every kind of block in every role, alone and with others.
std::vector<Message> all_kinds_of_messages() {
  const std::vector<Block> blocks = {
      TextBlock{"text", {}},
      TextBlock{"extra", {{"cache", raw("1")}}},
      ThinkingBlock{"hm", "sig", {}},
      ToolUseBlock{"c1", "read", raw(R"({"path":"a"})"), {}},
      result_of("c1", "output"),
      result_of("c1", "named", {{"toolName", raw(R"("other")")}}),
      result_of("c1", "named badly", {{"toolName", raw("7")}}),
      result_of("c1", "[1]", {{"output", raw(R"({"type":"json","value":[1]})")}}),
      result_of("c1", "[1]", {{"output", raw("[1]")}}),
      result_of("c1", "{}", {{"result", raw("{}")}}),
      result_of("unknown call", "output"),
      ToolResultBlock{"c1", "wrong", true, {}, {}},
      ImageBlock{"image/png", {}, "https://example.org/a.png", {}},
      ImageBlock{"image/png", must(BlobHash::parse(std::string(64, 'a'))), "", {}},
      UnknownBlock{"file", raw(R"({"type":"file","data":"aGk=","mediaType":"text/plain"})")},
      UnknownBlock{"file", raw(R"({"type":"file","data":7})")},
      UnknownBlock{"news", raw(R"({"type":"news","of":"tomorrow"})")},
      UnknownBlock{"", raw("17")},
      UnknownBlock{"", raw("{\n\"type\": 5}")},
  };
  std::vector<Message> all;
  for (const char* const role : {"system", "user", "assistant", "tool", "developer", "x"}) {
    all.push_back(of(role, {}));
    for (const Block& block : blocks) {
      all.push_back(of(role, {block}));
      all.push_back(of(role, {TextBlock{"before", {}}, block}));
      all.push_back(of(role, {result_of("c1", "output"), block, TextBlock{"after", {}}}));
    }
    all.push_back(of(role, blocks));
  }
  return all;
}

TEST(OriginalsSchema, AcceptsEverythingWritten) {
  const ChatDirectory directory;
  const SessionId id = chat_id(1);
  std::vector<Message> all = all_kinds_of_messages();
  {
    const auto store = directory.open();
    must(store->create(chat_session(1)));
    for (const Message& message : all) {
      must(store->append(id, {message}, {}));
    }
  }
  const Lines lines = lines_of(directory, id);
  ASSERT_EQ(lines.size(), all.size());
  for (const std::string& line : lines) {
    EXPECT_TRUE(is_accepted_line(line)) << line;
  }
  const auto store = directory.open();
  const std::vector<Message> read = must(read_all(*store, id));
  ASSERT_EQ(read.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].seq = read[i].seq;
    EXPECT_EQ(read[i], all[i]) << "nothing is lost: " << lines[i];
  }
}

TEST(OriginalsSchema, ToolResultsNameTheirTool) {
  const ChatDirectory directory;
  const SessionId id = chat_id(1);
  const auto call = [](const char* call_id, const char* name) {
    return ToolUseBlock{call_id, name, raw("{}"), {}};
  };
  {
    const auto store = directory.open();
    must(store->create(chat_session(1)));
    must(store->append(id, {user("go"), of("assistant", {call("c1", "read"), call("c2", "list")})},
                       {}));
  }
  const auto store = directory.open();
  must(store->append(
      id, {of("tool", {result_of("c1", "one"), result_of("c2", "two"), result_of("c3", "three")})},
      {}));
  must(store->append(
      id, {of("assistant", {call("c4", "write")}), of("tool", {result_of("c4", "")})}, {}));
  const auto names = [](const Lines& lines) {
    std::string all;
    for (const std::string& line : lines) {
      EXPECT_TRUE(is_accepted_line(line)) << line;
      json::Scanner scanner(json::find_member(line, "content"));
      if (scanner.kind() == Kind::array) {
        scanner.array([&] {
          std::string_view part;
          const bool is_whole = scanner.raw(part);
          all += text_of(part, "type") == "tool-result" ? cat(text_of(part, "toolName"), " ") : "";
          return is_whole;
        });
      }
    }
    return all;
  };
  EXPECT_EQ(names(lines_of(directory, id)), "read list unknown write ");
  // Truncating within a batch rewrites its last line.
  must(store->append(id,
                     {of("assistant", {call("c5", "move")}), of("tool", {result_of("c5", "5")}),
                      user("more"), user("and more")},
                     {}));
  must(store->capabilities().rewriting->replace_suffix(id, Seq{7}, {}, {}));
  EXPECT_EQ(names(lines_of(directory, id)), "read list unknown write move ");
  const std::vector<Message> read = must(read_all(*store, id));
  EXPECT_EQ(read[2].blocks.front(), result_of("c1", "one")) << "a name is not the message's own";
  const auto target = directory.root().parent_path() / "repaired";
  must(store->capabilities().repair->repair_into(target));
  EXPECT_EQ(names(lines_of(must(read_file(target / "chat" / id.str() / "messages.jsonl")))),
            "read list unknown write move ");
}

}  // namespace
}  // namespace reprise::test
