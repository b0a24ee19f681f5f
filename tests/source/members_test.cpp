// What is read from each tool is JSON in which no object has a member twice, also where the tool's
// own objects have members with names of ours.

#include <algorithm>
#include <set>

#include "base/json_view.h"
#include "base/text.h"
#include "reprise/open_source.h"
#include "source/histories.h"
#include "source/source_fixture.h"
#include "support/must.h"

namespace reprise::test {
namespace {

// The path to the first member that its object has twice; "" if there is none.
std::string repeated_in(JsonView value) {
  std::string found;
  std::set<std::string, std::less<>> names;
  if (value.is(json::Kind::object)) {
    value.each_member([&](std::string_view name, JsonView member) {
      const bool is_new = names.emplace(name).second;
      const std::string below = is_new ? repeated_in(member) : "!";
      found = found.empty() && !below.empty() ? cat(name, ".", below) : found;
    });
  }
  value.each([&](JsonView element) { found = found.empty() ? repeated_in(element) : found; });
  return found;
}

std::string repeated_in(const Message& message) {
  const std::string json = message_to_json(message);
  return repeated_in(JsonView(json));
}

class HistoryMembersTest : public testing::TestWithParam<History> {};

TEST_P(HistoryMembersTest, NoObjectHasAMemberTwice) {
  const TemporaryFolder folder;
  GetParam().write(folder.path(), 3);
  const auto source = must(open_source(cat(GetParam().source, ":", folder.path().native())));
  int messages = 0;
  for (const SessionInfo& info : must(source->list({.branches = true})).sessions) {
    for (const Message& message : must(read_all(*source, info.id))) {
      EXPECT_EQ(repeated_in(message), "");
      EXPECT_EQ(must(message_from_json(message_to_json(message))), message);
      ++messages;
    }
  }
  EXPECT_GT(messages, 0);
}

INSTANTIATE_TEST_SUITE_P(Tools, HistoryMembersTest, testing::ValuesIn(histories()),
                         [](const auto& tool) { return std::string(tool.param.name); });

class MembersTest : public SourceTest {
 protected:
  // The blocks of a session's messages as the program prints them, one message on each line.
  std::string blocks_of(std::string_view id) {
    std::string out;
    for (const Message& message : must(read_all(source(), must(SessionId::parse(id))))) {
      EXPECT_EQ(repeated_in(message), "");
      out += blocks_to_json(message.blocks) + "\n";
    }
    return out;
  }
};

// A call, in each tool, with members of its own that are named like ours.
constexpr std::string_view kOwn =
    "'type':'function','text':'t','signature':'s','url':'u','injected':true,'is_error':1,'own':2";
constexpr std::string_view kExpected =
    R"("text":"t","signature":"s","url":"u","injected":true,"is_error":1)";

TEST_F(MembersTest, OfCopilotDoNotReplaceOurs) {
  write("session-state/c1/events.jsonl",
        {"{'type':'session.start','data':{'sessionId':'c1'},'id':'e1','timestamp':"
         "'2026-03-01T10:00:25.000Z'}",
         cat("{'type':'assistant.message','data':{'toolRequests':[{'toolCallId':'c','name':'f',"
             "'arguments':{},'id':'x',",
             kOwn, "}]},'id':'e2','parentId':'e1'}"),
         "{'type':'tool.execution_complete','data':{'toolCallId':'c','result':{'content':'r',"
         "'text':'t','type':'y','tool_use_id':'z'}},'id':'e3','parentId':'e2'}"});
  open("copilot");
  EXPECT_EQ(
      blocks_of("c1"),
      cat(R"([{"type":"tool_use","id":"c","name":"f","input":{},"own":2,"copilot":{"id":"x",)",
          R"("type":"function",)", kExpected, "}}]\n",
          R"([{"type":"tool_result","text":"r","tool_use_id":"c","copilot":{"text":"t",)",
          R"("type":"y","tool_use_id":"z"}}])"
          "\n"));
}

TEST_F(MembersTest, OfCodexDoNotReplaceOurs) {
  const std::string id = "019a0000-0000-7000-8000-000000000001";
  write(cat("sessions/rollout-2026-11-20T10-00-00-", id, ".jsonl"),
        {cat("{'id':'", id, "','timestamp':'2025-08-28T12:05:24.389Z'}"),
         "{'type':'function_call','id':'fc','name':'f','arguments':'{}','call_id':'c','codex':1}",
         "{'type':'function_call_output','id':'fo','call_id':'c','output':'o','text':'t'}"});
  open("codex");
  EXPECT_EQ(
      blocks_of(id),
      R"([{"type":"tool_use","id":"c","name":"f","input":{},"codex":{"id":"fc","codex":1}}])"
      "\n"
      R"([{"type":"tool_result","text":"o","tool_use_id":"c","codex":{"id":"fo","text":"t"}}])"
      "\n");
}

TEST_F(MembersTest, OfOtherToolsDoNotReplaceOurs) {
  const std::string pi = "0a1b2c3d-0000-4000-8000-000000000001";
  write(cat("sessions/-x/2026-11-20T10-00-00-000Z_", pi, ".jsonl"),
        {cat("{'type':'session','version':3,'id':'", pi, "','cwd':'/x'}"),
         cat("{'type':'message','id':'m','message':{'role':'assistant','content':[{'type':"
             "'toolCall','id':'c','name':'f','arguments':{},'input':3,",
             kOwn.substr(kOwn.find("'text'")), "}]}}")});
  open("pi");
  EXPECT_EQ(blocks_of(pi),
            cat(R"([{"type":"tool_use","id":"c","name":"f","input":{},"own":2,"pi":{"input":3,)",
                kExpected, "}}]\n"));
  write("projects/-x/0a1b2c3d-0000-4000-8000-000000000002.jsonl",
        {"{'type':'user','uuid':'u','parentUuid':null,'message':{'role':'user','content':[{'type':"
         "'text','text':'hi','name':'n','citations':null}]}}"});
  open("claude");
  EXPECT_EQ(blocks_of("0a1b2c3d-0000-4000-8000-000000000002"),
            R"([{"type":"text","text":"hi","citations":null,"claude":{"name":"n"}}])"
            "\n");
}

}  // namespace
}  // namespace reprise::test
