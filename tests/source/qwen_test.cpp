#include "base/text.h"
#include "source/source_fixture.h"
#include "support/must.h"

namespace reprise::test::qwen {
namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view kId = "7a1b2c3d-0000-4000-8000-000000000001";
const std::string kFile = cat("projects/-home-a-x/chats/", kId, ".jsonl");

std::string line(std::string_view uuid, std::string_view parent, std::string_view type,
                 std::string_view parts, std::string_view more = "") {
  return cat("{'uuid':'", uuid, "','parentUuid':", parent.empty() ? "null" : cat("'", parent, "'"),
             ",'sessionId':'", kId, "','timestamp':'2026-11-20T10:00:00.000Z','type':'", type,
             "','cwd':'/home/a/x','version':'0'", more, ",'message':{'parts':[", parts, "]}}");
}

std::string text(std::string_view words) {
  return cat("{'text':'", words, "'}");
}

class QwenTest : public SourceTest {};

TEST_F(QwenTest, AConversationWithACall) {
  write(kFile,
        {line("u1", "", "user", text("Why?"), ",'provenance':'real_user'"),
         line("a1", "u1", "assistant",
              "{'text':'hm','thought':true},{'functionCall':{'id':'c1','name':'ls','args':{}}}",
              ",'model':'qwen-x','usageMetadata':{'promptTokenCount':10,'candidatesTokenCount':5,"
              "'thoughtsTokenCount':2,'cachedContentTokenCount':1}"),
         line("t1", "a1", "tool_result",
              "{'functionResponse':{'id':'c1','name':'ls','response':{'output':'a'}}}"),
         "{'uuid':'s1','parentUuid':'t1','type':'system','subtype':'ui_telemetry'}",
         line("a2", "s1", "assistant", text("So."), ",'model':'qwen-x'")});
  open("qwen");
  EXPECT_EQ(sessions(), Lines{cat(kId, " Why? (4)")});
  EXPECT_EQ(transcript(kId), (Lines{"user: Why?", "assistant: (thinking) hm | call ls c1 {}",
                                    "tool: c1 = a", "assistant: So."}));
  EXPECT_EQ(session(kId).usage.output.value, 5);
  EXPECT_EQ(session(kId).info.working_dir, "/home/a/x");
}

// The tool shows the messages before a compaction, but goes on from the summary.
TEST_F(QwenTest, TheSummaryOfACompactionFollowsWhatItReplaced) {
  write(kFile,
        {line("u1", "", "user", text("Why?")), line("a1", "u1", "assistant", text("So.")),
         "{'uuid':'s1','parentUuid':'a1','type':'system','subtype':'chat_compression',"
         "'timestamp':'2026-11-20T10:00:01.000Z','systemPayload':{'info':{'newTokenCount':9},"
         "'compressedHistory':[{'role':'user','parts':[{'text':'A summary'}]},"
         "{'role':'model','parts':[{'text':'Got it.'}]}]}}",
         line("u2", "s1", "user", text("Go on")), line("a2", "u2", "assistant", text("Fine."))});
  open("qwen");
  EXPECT_EQ(sessions(), Lines{cat(kId, " Why? (5)")});
  EXPECT_EQ(transcript(kId), (Lines{"user: Why?", "assistant: So.", "*user: A summary",
                                    "user: Go on", "assistant: Fine."}));
  EXPECT_EQ(summaries(kId), Lines{"A summary"});
}

TEST_F(QwenTest, AnAnswerWithoutAModelDoesNotHideTheKnownOne) {
  write(kFile, {line("u1", "", "user", text("Why?"), ",'provenance':'real_user'"),
                line("a1", "u1", "assistant", text("So."), ",'model':'qwen-x'"),
                line("a2", "a1", "assistant", text("And so."))});
  open("qwen");
  EXPECT_EQ(session(kId).info.model, "qwen-x");
  EXPECT_EQ(session(kId).info.provider, "qwen");
}

std::string title_line(std::string_view uuid, std::string_view parent, std::string_view title) {
  return cat("{'uuid':'", uuid, "','parentUuid':'", parent, "','sessionId':'", kId,
             "','type':'system','subtype':'custom_title','systemPayload':{'customTitle':'", title,
             "','titleSource':'manual'}}");
}

TEST_F(QwenTest, TheTitleIsTheLastOneGivenElseTheQuestionAsItWasTyped) {
  write(
      kFile,
      {line("u1", "", "user", cat(text("Why?"), ",", text("From a hook")),
            ",'provenance':'real_user','systemPayload':{'displayText':'Why @x?','hookContext':''}"),
       line("a1", "u1", "assistant", text("So."))});
  open("qwen");
  EXPECT_EQ(session(kId).info.title, "Why @x?");
  write(kFile, {title_line("t1", "a1", "First"), title_line("t2", "t1", "Mine")});
  EXPECT_EQ(sessions(), Lines{cat(kId, " Mine (2)")});
}

TEST_F(QwenTest, WhatTheUserSaysDuringATurnIsTheirs) {
  write(kFile, {line("u1", "", "user", text("Go")),
                line("u2", "u1", "user", text("Wait"), ",'subtype':'mid_turn_user_message'"),
                line("u3", "u2", "user", text("Daily"), ",'subtype':'cron'")});
  open("qwen");
  EXPECT_EQ(transcript(kId), (Lines{"user: Go", "user: Wait", "*user: Daily"}));
}

TEST_F(QwenTest, ASubAgentIsNamedAfterItsTask) {
  write(kFile, {line("u1", "", "user", text("Go"))});
  write(cat("projects/-home-a-x/subagents/", kId, "/agent-x-2.jsonl"),
        {line("s1", "", "user", text("Sub"), ",'subtype':'agent_launch_prompt'"),
         line("s2", "s1", "assistant", text("Did."))});
  open("qwen");
  EXPECT_EQ(session(cat(kId, ":agent-x-2")).info.title, "Sub");
  EXPECT_EQ(transcript(cat(kId, ":agent-x-2")), (Lines{"*user: Sub", "assistant: Did."}));
}

TEST_F(QwenTest, WhatAProgramSaysIsMarkedAndNoTitle) {
  write(kFile, {line("n", "", "user", text("Task done"), ",'subtype':'notification'"),
                line("p", "n", "user", text("Reminder"), ",'provenance':'system'"),
                line("u", "p", "user", text("One\xE2\x80\xA8two"), ",'provenance':'real_user'")});
  open("qwen");
  EXPECT_EQ(transcript(kId),
            (Lines{"*user: Task done", "*user: Reminder", "user: One\xE2\x80\xA8two"}));
}

TEST_F(QwenTest, AForkKnowsWhatItHasOfItsParent) {
  constexpr std::string_view kCopied = ",'forkedFrom':{'sessionId':'parent','messageUuid':'x'}";
  write(kFile,
        {line("u1", "", "user", text("One"), kCopied),
         line("a1", "u1", "assistant", text("1"), kCopied), line("u2", "a1", "user", text("Two"))});
  open("qwen");
  EXPECT_EQ(session(kId).info.forked_from, (ForkOrigin{must(SessionId::parse("parent")), Seq{2}}));
}

TEST_F(QwenTest, ALeftBranchAndSubAgents) {
  write(kFile, {line("u1", "", "user", text("One")), line("a1", "u1", "assistant", text("1")),
                line("u2", "a1", "user", text("Two")), line("u3", "a1", "user", text("Three"))});
  write(cat("projects/-home-a-x/subagents/", kId, "/agent-x-2.jsonl"),
        {line("s", "", "user", text("Sub"))});
  open("qwen");
  EXPECT_EQ(transcript(kId), (Lines{"user: One", "assistant: 1", "user: Three"}));
  EXPECT_EQ(sessions().size(), 1U);
  EXPECT_EQ(sessions(true).size(), 3U);
}

TEST_F(QwenTest, ABarePathIsQwensAndNotClaudes) {
  write(kFile, {line("u1", "", "user", text("One"), ",'provenance':'real_user'")});
  EXPECT_EQ(must(source_kind_of((location() / kFile).native()))->name, "qwen");
  EXPECT_EQ(must(source_kind_of(location().native()))->name, "qwen");
}

// As in 2025, with the messages in one object.
TEST_F(QwenTest, ReadsTheFirstLayout) {
  const std::string file = "tmp/0f/chats/session-2025-11-07T00-51-7a1b2c3d.json";
  append(file, cat(R"({"sessionId": ")", kId, R"(", "projectHash": "h",)",
                   R"("startTime": "2025-11-07T00:51:00.000Z", "messages": [
  {"id": "1", "type": "user", "content": "Why?"},
  {"id": "2", "type": "qwen", "content": [{"text": "So."},
    {"functionCall": {"id": "c", "name": "f", "args": {}}, "name": "x"}], "model": "qwen-x",
   "tokens": {"input": 9, "output": 6}}]})"));
  open("qwen");
  EXPECT_EQ(sessions(), Lines{cat(kId, " Why? (2)")});
  EXPECT_EQ(transcript(kId), (Lines{"user: Why?", "assistant: So. | call f c {}"}));
  EXPECT_EQ(metadata(kId), "Why?|qwen|qwen-x||2025-11-07T00:51:00Z|2025-11-07T00:51:00Z");
  const auto messages = must(read_all(source(), must(SessionId::parse(kId))));
  EXPECT_TRUE(blocks_to_json(messages.at(1).blocks).contains(R"("qwen":{"name":"x"})"));
  EXPECT_EQ(must(source_kind_of(location().native()))->name, "qwen");
  EXPECT_EQ(must(source_kind_of((location() / file).native()))->name, "qwen");
}

}  // namespace
}  // namespace reprise::test::qwen
