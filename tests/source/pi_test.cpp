#include "base/text.h"
#include "source/source_fixture.h"
#include "support/must.h"

namespace reprise::test::pi {
namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view kId = "019a0000-0000-7000-8000-0000000000b1";
const std::string kFile = cat("sessions/--home-a-x--/2026-11-20T10-00-00-000Z_", kId, ".jsonl");

std::string header(std::string_view more = "") {
  return cat("{'type':'session','version':3,'id':'", kId,
             "','timestamp':'2026-11-20T10:00:00.000Z','cwd':'/home/a/x'", more, "}");
}

std::string entry(std::string_view id, std::string_view parent, std::string_view rest,
                  std::string_view time = "2026-11-20T10:00:01.000Z") {
  const std::string ids =
      id.empty() ? ""
                 : cat("'id':'", id,
                       "','parentId':", parent.empty() ? "null" : cat("'", parent, "'"), ",");
  return cat("{", ids, "'timestamp':'", time, "',", rest, "}");
}

std::string message(std::string_view role, std::string_view text, std::string_view more = "") {
  return cat("'type':'message','message':{'role':'", role, "','content':[{'type':'text','text':'",
             text, "'}]", more, "}");
}

class PiTest : public SourceTest {};

TEST_F(PiTest, AFileMayHaveAnyName) {
  write("sessions/--x--/my project.jsonl", {header(), entry("1", "", message("user", "Why?"))});
  open("pi");
  const SessionPage page = must(source().list({}));
  EXPECT_TRUE(page.damage.empty());
  ASSERT_EQ(page.sessions.size(), 1U);
  EXPECT_EQ(transcript(page.sessions.front().id.str()), Lines{"user: Why?"});
}

TEST_F(PiTest, AConversationWithACallAndItsCost) {
  write(
      kFile,
      {header(), entry("1", "", "'type':'model_change','provider':'p','modelId':'m0'"),
       entry("2", "1", message("user", "Why?")),
       entry("3", "2",
             "'type':'message','message':{'role':'assistant','content':[{'type':'thinking',"
             "'thinking':'hm','thinkingSignature':'s'},{'type':'toolCall','id':'c1','name':'bash',"
             "'arguments':{'command':'ls'}}],'provider':'anthropic','model':'m1','usage':{'input':"
             "10,'output':3,'cacheRead':5,'cacheWrite':1,'cost':{'total':0.002}}}"),
       entry("4", "3",
             "'type':'message','message':{'role':'toolResult','toolCallId':'c1','toolName':'bash',"
             "'content':[{'type':'text','text':'a'}],'isError':true}"),
       entry("5", "4", message("assistant", "So.", ",'model':'m1'"))});
  open("pi");
  EXPECT_EQ(sessions(), Lines{cat(kId, " Why? (4)")});
  EXPECT_EQ(transcript(kId),
            (Lines{"user: Why?", "assistant: (thinking) hm | call bash c1 {\"command\":\"ls\"}",
                   "tool: c1 failed: a", "assistant: So."}));
  const Session found = session(kId);
  EXPECT_EQ(found.usage.input.value, 16);
  EXPECT_EQ(found.usage.cost->str(), "0.002");
  EXPECT_EQ(found.info.model, "m1");
  EXPECT_EQ(found.info.working_dir, "/home/a/x");
}

TEST_F(PiTest, AnAnswerWithoutAModelDoesNotHideTheKnownOne) {
  write(kFile, {header(), entry("1", "", message("user", "Why?")),
                entry("2", "1", message("assistant", "So.", ",'model':'m1'")),
                entry("3", "2", message("assistant", "And so."))});
  open("pi");
  EXPECT_EQ(session(kId).info.model, "m1");
}

TEST_F(PiTest, TheLastLineTellsTheBranch) {
  write(kFile, {header(), entry("1", "", message("user", "One")),
                entry("2", "1", message("assistant", "1")), entry("3", "2", message("user", "Two")),
                entry("4", "3", message("assistant", "2")),
                entry("5", "2", "'type':'branch_summary','fromId':'4','summary':'Went wrong'"),
                entry("6", "5", message("user", "Three"))});
  open("pi");
  EXPECT_EQ(transcript(kId),
            (Lines{"user: One", "assistant: 1", "*user: Went wrong", "user: Three"}));
  EXPECT_EQ(sessions(true).size(), 2U);
}

TEST_F(PiTest, GoingBackToTheBeginning) {
  write(kFile,
        {header(), entry("1", "", message("user", "One")),
         entry("2", "1", message("assistant", "1")), entry("3", "", message("user", "Two"))});
  open("pi");
  EXPECT_EQ(transcript(kId), Lines{"user: Two"});
}

TEST_F(PiTest, FilesWithoutIdsAreRead) {
  write(kFile, {header(), entry("", "", message("user", "One")),
                entry("", "", message("assistant", "1"))});
  open("pi");
  EXPECT_EQ(transcript(kId), (Lines{"user: One", "assistant: 1"}));
}

TEST_F(PiTest, ACommandOfTheUserIsTheirs) {
  write(kFile, {header(),
                entry("1", "",
                      "'type':'message','message':{'role':'bashExecution','command':'ls',"
                      "'output':'a','exitCode':0}"),
                entry("2", "1", message("user", "Why?"))});
  open("pi");
  EXPECT_EQ(transcript(kId), (Lines{"user: $ ls\na", "user: Why?"}));
  EXPECT_EQ(session(kId).info.title, "Why?");
}

TEST_F(PiTest, TheSessionHasTheLastModelWithItsProvider) {
  write(kFile, {header(), entry("1", "", "'type':'model_change','provider':'p','modelId':'m0'"),
                entry("2", "1", message("user", "Why?"))});
  open("pi");
  EXPECT_EQ(session(kId).info.provider, "p");
  write(kFile, {entry("3", "2", message("assistant", "So.", ",'provider':'q','model':'m1'"))});
  EXPECT_EQ(session(kId).info.provider, "q");
  EXPECT_EQ(session(kId).info.model, "m1");
}

TEST_F(PiTest, AnAnswerAtTheTokenLimitIsCut) {
  write(kFile, {header(), entry("1", "", message("user", "Why?")),
                entry("2", "1", message("assistant", "So", ",'stopReason':'length'")),
                entry("3", "2", message("assistant", "So.", ",'stopReason':'stop'"))});
  open("pi");
  EXPECT_EQ(transcript(kId), (Lines{"user: Why?", "assistant (cut): So", "assistant: So."}));
}

TEST_F(PiTest, WhatNoPersonAndNoModelWroteIsMarked) {
  write(kFile, {header(),
                entry("2", "", "'type':'custom_message','customType':'x','content':'from a hook'"),
                entry("3", "2", message("hookMessage", "older hook")),
                entry("4", "3", message("user", "Real")),
                entry("5", "4", "'type':'compaction','summary':'In short','firstKeptEntryId':'4'"),
                entry("6", "5", "'type':'session_info','name':'My name'"),
                entry("7", "6", message("assistant", "par", ",'stopReason':'aborted'"))});
  open("pi");
  EXPECT_EQ(transcript(kId), (Lines{"*user: from a hook", "*user: older hook", "user: Real",
                                    "*user: In short", "assistant (cut): par"}));
  EXPECT_EQ(summaries(kId), Lines{"In short"});
  EXPECT_EQ(session(kId).info.title, "My name");
}

TEST_F(PiTest, AForkKnowsWhatItHasOfItsParent) {
  write(kFile, {header(",'parentSession':'/home/a/s/2026-11-19T10-00-00-000Z_parent-id.jsonl'"),
                entry("1", "", message("user", "One"), "2026-11-19T10:00:00.000Z"),
                entry("2", "1", message("assistant", "1", ",'usage':{'input':9}"),
                      "2026-11-19T10:00:01.000Z"),
                entry("3", "2", message("user", "Two"))});
  open("pi");
  EXPECT_EQ(session(kId).info.forked_from,
            (ForkOrigin{must(SessionId::parse("parent-id")), Seq{2}}));
  EXPECT_EQ(session(kId).usage.input.value, 0);
}

// An imported copy has the same requests, which are counted once.
TEST_F(PiTest, RequestsOfTheFirstVersionsHaveIds) {
  write(kFile, {header(), entry("", "", message("user", "One")),
                entry("", "", message("assistant", "1", ",'usage':{'input':9}"),
                      "2026-11-20T10:00:02.000Z")});
  open("pi");
  const auto messages = must(read_all(source(), must(SessionId::parse(kId))));
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[1].usage->request_id, "2026-11-20T10:00:02.000Z");
}

TEST_F(PiTest, AnImageOfTheQuestionIsNoTitle) {
  write(kFile, {header(), entry("1", "", message("user", "<file name=/a.png></file>What is it?"))});
  open("pi");
  EXPECT_EQ(session(kId).info.title, "What is it?");
}

}  // namespace
}  // namespace reprise::test::pi
