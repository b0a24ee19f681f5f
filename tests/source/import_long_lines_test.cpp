// Sessions whose last line is longer than what a list reads of a file.

#include <filesystem>
#include <ostream>
#include <string>

#include "base/text.h"
#include "source/import_fixture.h"
#include "support/must.h"

namespace reprise::test::imports {
namespace {

// A turn of each tool, numbered from 1, whose last line is longer than the piece of a file that a
// list reads. `long_text` is in that line.
struct LongLines {
  std::string_view tool;
  std::string file;
  Lines first;
  Lines (*turn)(int number, const std::string& long_text);
};

void PrintTo(const LongLines& lines, std::ostream* out) {
  *out << lines.tool;
}

std::string turn_time(int number, int second) {
  return cat("'timestamp':'2026-11-20T1", number, ":00:0", second, ".000Z'");
}

const LongLines kLongLines[] = {
    {.tool = "claude",
     .file = "projects/-x/0a1b2c3d-0000-4000-8000-000000000001.jsonl",
     .first = {},
     .turn = [](int number, const std::string& long_text) -> Lines {
       const std::string parent = number == 1 ? "null" : cat("'s", number - 1, "'");
       return {
           cat("{'type':'user','uuid':'u", number, "','parentUuid':", parent, ",'sessionId':'s',",
               turn_time(number, 0), ",'message':{'content':'turn", number, "'}}"),
           cat("{'type':'attachment','uuid':'s", number, "','parentUuid':'u", number,
               "','sessionId':'s',", turn_time(number, 1),
               ",'attachment':{'type':'prompt_snapshot','content':'", long_text, "'}}"),
           "{'type':'last-prompt','sessionId':'s','lastPrompt':'turn'}"};
     }},
    {.tool = "codex",
     .file = "sessions/2026/11/20/"
             "rollout-2026-11-20T10-00-00-019a0000-0000-7000-8000-000000000001.jsonl",
     .first = {cat("{", turn_time(0, 0),
                   ",'type':'session_meta','payload':{'id':'019a0000-0000-7000-8000-000000000001',"
                   "'cwd':'/x'}}")},
     .turn = [](int number, const std::string& long_text) -> Lines {
       return {cat("{", turn_time(number, 0),
                   ",'type':'response_item','payload':{'type':'message','role':'user','content':["
                   "{'type':'input_text','text':'turn",
                   number,
                   "'}],'internal_chat_message_metadata_passthrough':{'content_item_kinds':["
                   "'user.text']}}}"),
               cat("{", turn_time(number, 1), ",'type':'world_state','payload':{'state':'",
                   long_text, "'}}")};
     }},
    {.tool = "gemini",
     .file = "tmp/x/chats/session-2026-11-20T10-00-6a1b2c3d.jsonl",
     .first = {"{'sessionId':'6a1b2c3d-0000-4000-8000-000000000001','projectHash':'h',"
               "'startTime':'2026-11-20T10:00:00.000Z'}"},
     .turn = [](int number, const std::string& long_text) -> Lines {
       const std::string message = cat("{'id':'u", number, "',", turn_time(number, 0),
                                       ",'type':'user','content':'turn", number, "'}");
       return {message, cat("{'$set':{'memory':'", long_text, "','messages':[", message, "]}}")};
     }},
    {.tool = "qwen",
     .file = "projects/-x/chats/7a1b2c3d-0000-4000-8000-000000000001.jsonl",
     .first = {},
     .turn = [](int number, const std::string& long_text) -> Lines {
       const std::string parent = number == 1 ? "null" : cat("'s", number - 1, "'");
       return {cat("{'uuid':'u", number, "','parentUuid':", parent, ",'sessionId':'s',",
                   turn_time(number, 0),
                   ",'type':'user','provenance':'real_user','message':{'parts':[{'text':'turn",
                   number, "'}]}}"),
               cat("{'uuid':'s", number, "','parentUuid':'u", number, "','sessionId':'s',",
                   turn_time(number, 1), ",'type':'system','subtype':'ui_telemetry','x':'",
                   long_text, "'}")};
     }},
    {.tool = "pi",
     .file = kFile,
     .first = {std::string(kHeader)},
     .turn = [](int number, const std::string& long_text) -> Lines {
       const std::string parent = number == 1 ? "null" : cat("'s", number - 1, "'");
       return {
           cat("{'type':'message','id':'u", number, "','parentId':", parent, ",",
               turn_time(number, 0), ",'message':{'role':'user','content':'turn", number, "'}}"),
           cat("{'type':'custom','id':'s", number, "','parentId':'u", number, "',",
               turn_time(number, 1), ",'data':'", long_text, "'}")};
     }},
    {.tool = "copilot",
     .file = "session-state/8a1b2c3d-0000-4000-8000-000000000001/events.jsonl",
     .first = {cat("{'type':'session.start','data':{'sessionId':'s'},'id':'e0',", turn_time(0, 0),
                   "}")},
     .turn = [](int number, const std::string& long_text) -> Lines {
       return {cat("{'type':'user.message','data':{'content':'turn", number, "'},'id':'u", number,
                   "',", turn_time(number, 0), "}"),
               cat("{'type':'x','data':{'x':'", long_text, "'},'id':'s", number, "',",
                   turn_time(number, 1), "}")};
     }},
};

class LongLinesTest : public ImportTest, public testing::WithParamInterface<LongLines> {
 protected:
  // Imports the only session; returns the outcome, and the number of new messages.
  std::string import_one() {
    const SessionInfo info = must(source().list({})).sessions.at(0);
    const ImportedSession done = must(import_session(source(), GetParam().tool, *store_, info));
    return cat(to_string(done.outcome), " ", done.messages);
  }
  static constexpr std::size_t kLongBytes = 110'000;
};

TEST_P(LongLinesTest, AreNoticed) {
  const LongLines& tool = GetParam();
  const std::string long_text(kLongBytes, 'x');
  write(tool.file, tool.first);
  write(tool.file, tool.turn(1, long_text));
  open(std::string(tool.tool));
  EXPECT_EQ(import_one(), "copied 1");
  for (int number = 2; number <= 4; ++number) {
    write(tool.file, tool.turn(number, long_text));
    const SessionInfo info = must(source().list({})).sessions.at(0);
    EXPECT_EQ(format_time(info.updated_at).substr(0, 13), cat("2026-11-20T1", number));
    EXPECT_EQ(import_one(), "continued 1") << "turn " << number;
  }
}

INSTANTIATE_TEST_SUITE_P(Tools, LongLinesTest, testing::ValuesIn(kLongLines),
                         [](const auto& one) { return std::string(one.param.tool); });

// The last lines are longer than any that is read, so the last time is that of the file.
TEST_F(ImportTest, ATimeThatCannotBeReadIsThatOfTheFile) {
  const std::string too_long = cat("{'type':'custom','id':'s','parentId':'1','data':'",
                                   std::string(std::size_t{25} << 20U, 'x'), "'}");
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One"), too_long, too_long});
  open("pi");
  EXPECT_GT(must(source().list({})).sessions.at(0).updated_at,
            parse_time("2026-11-20T10:11:00Z").value());
}

}  // namespace
}  // namespace reprise::test::imports
