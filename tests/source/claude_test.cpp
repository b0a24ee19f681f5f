#include <algorithm>
#include <limits>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "source/source_fixture.h"
#include "support/must.h"

namespace reprise::test::claude {
namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view kId = "0a1b2c3d-0000-4000-8000-000000000001";
const std::string kFile = cat("projects/-home-a-x/", kId, ".jsonl");

std::string user(std::string_view uuid, std::string_view parent, std::string_view text,
                 std::string_view more = "") {
  return cat("{'type':'user','uuid':'", uuid, "','parentUuid':", parent.empty() ? "null" : "'",
             parent, parent.empty() ? "" : "'", ",'sessionId':'", kId,
             "','timestamp':'2026-11-20T10:00:00.000Z','cwd':'/home/a/x'", more,
             ",'message':{'role':'user','content':'", text, "'}}");
}

// `block` is a content block, `id` the message's.
std::string assistant(std::string_view uuid, std::string_view parent, std::string_view id,
                      std::string_view block, int output = 5) {
  return cat("{'type':'assistant','uuid':'", uuid, "','parentUuid':'", parent, "','sessionId':'",
             kId, "','timestamp':'2026-11-20T10:00:05.000Z','requestId':'req','message':{'id':'",
             id, "','role':'assistant','model':'claude-x','content':[", block,
             "],'usage':{'input_tokens':10,'cache_read_input_tokens':4,'output_tokens':", output,
             "}}}");
}

std::string text(std::string_view words) {
  return cat("{'type':'text','text':'", words, "'}");
}

std::string call(std::string_view id) {
  return cat("{'type':'tool_use','id':'", id, "','name':'Bash','input':{}}");
}

std::string result(std::string_view uuid, std::string_view parent, std::string_view id) {
  return cat("{'type':'user','uuid':'", uuid, "','parentUuid':'", parent,
             "','message':{'role':'user','content':[{'type':'tool_result','tool_use_id':'", id,
             "','content':'done'}]}}");
}

class ClaudeTest : public SourceTest {};

TEST_F(ClaudeTest, LinkedImagesAndResultsThatAreObjects) {
  write(kFile, {"{'type':'user','uuid':'u1','parentUuid':null,'message':{'role':'user','content':["
                "{'type':'image','source':{'type':'url','url':'https://a.example/b.png'}}]}}",
                "{'type':'user','uuid':'u2','parentUuid':'u1','message':{'role':'user','content':["
                "{'type':'tool_result','tool_use_id':'t','content':{'a':1}}]}}"});
  open("claude");
  EXPECT_EQ(transcript(kId), (Lines{"user: [ https://a.example/b.png]", "tool: t = {\"a\":1}"}));
}

TEST_F(ClaudeTest, UsageThatIsTooLargeSaturates) {
  write(kFile, {user("u1", "", "Why?"),
                "{'type':'assistant','uuid':'a1','parentUuid':'u1','requestId':'r','message':{'id':"
                "'m','role':'assistant','content':[{'type':'text','text':'So.'}],'usage':{"
                "'input_tokens':9223372036854775807,'cache_read_input_tokens':1}}}"});
  open("claude");
  EXPECT_EQ(session(kId).usage.input.value, std::numeric_limits<std::int64_t>::max());
}

TEST_F(ClaudeTest, EveryBlockHasAType) {
  write(kFile, {"{'type':'user','uuid':'u1','parentUuid':null,'message':{'role':'user','content':["
                "null,5,'Why?',{'a':1}]}}"});
  open("claude");
  EXPECT_EQ(transcript(kId), Lines{"user: ?unknown | ?unknown | Why? | ?unknown"});
  const std::vector<Message> messages = must(read_all(source(), must(SessionId::parse(kId))));
  const auto* const block = std::get_if<UnknownBlock>(&messages.at(0).blocks.at(3));
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block->json.text(), R"({"type":"unknown","value":{"a":1}})");
}

TEST_F(ClaudeTest, OneAnswerInSeveralLinesIsOneMessageAndCountedOnce) {
  write(kFile,
        {user("u1", "", "Why?"),
         assistant("a1", "u1", "m1", "{'type':'thinking','thinking':'hm','signature':'s'}", 1),
         assistant("a2", "a1", "m1", call("t1"), 20), result("r1", "a2", "t1"),
         assistant("a3", "r1", "m2", text("So."))});
  open("claude");
  EXPECT_EQ(sessions(), Lines{cat(kId, " Why? (4)")});
  EXPECT_EQ(transcript(kId), (Lines{"user: Why?", "assistant: (thinking) hm | call Bash t1 {}",
                                    "tool: t1 = done", "assistant: So."}));
  const Session found = session(kId);
  EXPECT_EQ(found.usage.output.value, 25);
  EXPECT_EQ(found.usage.input.value, 28);
  EXPECT_EQ(found.usage.cached.value, 8);
  EXPECT_EQ(found.info.working_dir, "/home/a/x");
  EXPECT_EQ(found.info.model, "claude-x");
}

TEST_F(ClaudeTest, ALeftBranchIsAFork) {
  write(kFile, {user("u1", "", "One"), assistant("a1", "u1", "m1", text("1")),
                user("u2", "a1", "Two"), assistant("a2", "u2", "m2", text("2")),
                user("u3", "a1", "Three"), assistant("a3", "u3", "m3", text("3"))});
  open("claude");
  EXPECT_EQ(transcript(kId), (Lines{"user: One", "assistant: 1", "user: Three", "assistant: 3"}));
  EXPECT_EQ(sessions(), Lines{cat(kId, " One (4)")});
  const Lines all = sessions(true);
  ASSERT_EQ(all.size(), 2U);
  ASSERT_TRUE(all[0].starts_with("~"));
  const std::string branch = all[0].substr(1, all[0].find(' ') - 1);
  EXPECT_EQ(transcript(branch), (Lines{"user: One", "assistant: 1", "user: Two", "assistant: 2"}));
  EXPECT_EQ(session(branch).info.forked_from, (ForkOrigin{must(SessionId::parse(kId)), Seq{2}}));
}

TEST_F(ClaudeTest, GoingBackToTheBeginningLeavesABranch) {
  write(kFile, {user("u1", "", "One"), assistant("a1", "u1", "m1", text("1")),
                user("u2", "a1", "Two"), assistant("a2", "u2", "m2", text("2")),
                user("u3", "", "Again"), assistant("a3", "u3", "m3", text("3"))});
  open("claude");
  EXPECT_EQ(transcript(kId), (Lines{"user: Again", "assistant: 3"}));
}

TEST_F(ClaudeTest, EscapesInIdsAndTextsMakeNoDifference) {
  write(kFile, {user("u1", "", "One"), user("u2", "\\u00751", "Two"),
                user("\\u0075\\u0033", "\\u00751", "Three"), user("u9", "u3", "Nine"),
                user("u4", "u3", "\\u003ccommand-name>/compact</command-name>"),
                user("u5", "u4", " \\n<bash-stdout>ok</bash-stdout>")});
  open("claude");
  EXPECT_EQ(transcript(kId),
            (Lines{"user: One", "user: Three", "*user: <command-name>/compact</command-name>",
                   "*user:  \n<bash-stdout>ok</bash-stdout>"}));
}

TEST_F(ClaudeTest, LinesThatNameNoParentsFollowEachOther) {
  write(kFile, {user("u1", "", "One"), user("u2", "", "Two"), user("u3", "", "Three")});
  open("claude");
  EXPECT_EQ(transcript(kId), (Lines{"user: One", "user: Two", "user: Three"}));
}

TEST_F(ClaudeTest, AParentThatIsGoneIsTheLineBefore) {
  write(kFile, {user("u1", "", "One"), assistant("a1", "u1", "m1", text("1"))});
  append(kFile, "{\"type\":\"user\",\"uuid\":\"lost\",\"parentUu\n");
  write(kFile, {assistant("a2", "lost", "m2", text("2")), user("u4", "u4", "its own parent")});
  open("claude");
  EXPECT_EQ(transcript(kId),
            (Lines{"user: One", "assistant: 1", "assistant: 2", "user: its own parent"}));
  ASSERT_EQ(damage(kId).size(), 1U);
  EXPECT_TRUE(damage(kId)[0].where.ends_with(": line 3"));
}

TEST_F(ClaudeTest, ResultsOfCallsSideBySideAreAllThere) {
  write(kFile, {user("u1", "", "Go"), assistant("a1", "u1", "m1", call("t1")),
                assistant("a2", "a1", "m1", call("t2")), result("r1", "a1", "t1"),
                result("r2", "a2", "t2"), assistant("a3", "r2", "m2", text("ok"))});
  open("claude");
  EXPECT_EQ(transcript(kId), (Lines{"user: Go", "assistant: call Bash t1 {} | call Bash t2 {}",
                                    "tool: t1 = done", "tool: t2 = done", "assistant: ok"}));
  EXPECT_EQ(sessions(true).size(), 1U);
}

// A line at a second after 10:00.
std::string at_second(std::string line, int second) {
  const std::size_t at = line.find("'timestamp':'");
  const std::string time = cat("2026-11-20T10:00:", second < 10 ? "0" : "", second, ".000Z");
  if (at == std::string::npos) {
    return line.replace(1, 0, cat("'timestamp':'", time, "',"));
  }
  return line.replace(at + 13, time.size(), time);
}

// Since 2.0.28, each result follows its own call, and the next answer the result written last.
TEST_F(ClaudeTest, ChainedParallelCallsAreOneAnswer) {
  write(kFile,
        {user("u1", "", "Go"), assistant("a1", "u1", "m1", text("I look."), 1),
         assistant("a2", "a1", "m1", call("t1"), 2), assistant("a3", "a2", "m1", call("t2"), 9),
         assistant("a4", "a3", "m1", call("t3"), 7), result("r3", "a4", "t3"),
         result("r2", "a3", "t2"), result("r1", "a2", "t1"),
         assistant("a5", "r1", "m2", text("ok"))});
  open("claude");
  EXPECT_EQ(
      transcript(kId),
      (Lines{"user: Go", "assistant: I look. | call Bash t1 {} | call Bash t2 {} | call Bash t3 {}",
             "tool: t3 = done", "tool: t2 = done", "tool: t1 = done", "assistant: ok"}));
  EXPECT_EQ(sessions(true), Lines{cat(kId, " Go (6)")});
  EXPECT_EQ(session(kId).usage.output.value, 7 + 5) << "that of the last piece";
}

TEST_F(ClaudeTest, PiecesOfAnAnswerAreInTheOrderOfTheirTimes) {
  write(kFile,
        {at_second(user("u1", "", "Go"), 1), at_second(assistant("a1", "u1", "m1", call("t1")), 2),
         at_second(assistant("a3", "a1", "m1", call("t3"), 8), 6),
         at_second(assistant("a2", "a1", "m1", call("t2"), 3), 3),
         at_second(result("r3", "a3", "t3"), 8), at_second(result("r2", "a2", "t2"), 7),
         at_second(result("r1", "a1", "t1"), 7),
         at_second(assistant("a4", "r1", "m2", text("ok")), 9)});
  open("claude");
  EXPECT_EQ(transcript(kId),
            (Lines{"user: Go", "assistant: call Bash t1 {} | call Bash t2 {} | call Bash t3 {}",
                   "tool: t2 = done", "tool: t1 = done", "tool: t3 = done", "assistant: ok"}))
      << "equal times: in the order of the file";
  EXPECT_EQ(sessions(true), Lines{cat(kId, " Go (6)")});
  EXPECT_EQ(session(kId).usage.output.value, 8 + 5);
}

TEST_F(ClaudeTest, OfTwoResultsOfACallTheOneOnTheBranchCounts) {
  const auto saying = [](std::string line, std::string_view words) {
    return line.replace(line.find("done"), 4, words);
  };
  write(kFile, {user("u1", "", "Go"), assistant("a1", "u1", "m1", call("t1")),
                saying(result("r0", "a1", "t1"), "interrupted"),
                saying(result("r1", "a1", "t1"), "4"), saying(result("r2", "r1", "t1"), "again"),
                assistant("a2", "r2", "m2", text("Four")), result("r3", "a1", "t1")});
  open("claude");
  EXPECT_EQ(transcript(kId),
            (Lines{"user: Go", "assistant: call Bash t1 {}", "tool: t1 = 4", "assistant: Four"}));
  EXPECT_EQ(sessions(true).size(), 1U);
}

TEST_F(ClaudeTest, OfTwoResultsAtTheEndTheLastOneCounts) {
  const auto saying = [](std::string line, std::string_view words) {
    return line.replace(line.find("done"), 4, words);
  };
  write(kFile,
        {user("u1", "", "Go"), assistant("a1", "u1", "m1", call("t1")),
         saying(result("r0", "a1", "t1"), "interrupted"), saying(result("r1", "a1", "t1"), "4")});
  open("claude");
  EXPECT_EQ(transcript(kId), (Lines{"user: Go", "assistant: call Bash t1 {}", "tool: t1 = 4"}));
  EXPECT_EQ(sessions(true).size(), 1U);
}

TEST_F(ClaudeTest, ABranchAfterAnotherResultHasThatOne) {
  const auto saying = [](std::string line, std::string_view words) {
    return line.replace(line.find("done"), 4, words);
  };
  write(kFile, {user("u1", "", "Go"), assistant("a1", "u1", "m1", call("t1")),
                saying(result("r0", "a1", "t1"), "interrupted"), user("u2", "r0", "Left"),
                saying(result("r1", "a1", "t1"), "4"), user("u3", "r1", "On")});
  open("claude");
  EXPECT_EQ(transcript(kId),
            (Lines{"user: Go", "assistant: call Bash t1 {}", "tool: t1 = 4", "user: On"}));
  const Lines all = sessions(true);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(
      transcript(all[0].substr(1, all[0].find(' ') - 1)),
      (Lines{"user: Go", "assistant: call Bash t1 {}", "tool: t1 = interrupted", "user: Left"}));
}

// Some servers give each call the same id.
TEST_F(ClaudeTest, CallsOfTwoAnswersMayHaveOneId) {
  write(kFile,
        {user("u1", "", "Go"), assistant("a1", "u1", "m1", call("t")), result("r1", "a1", "t"),
         assistant("a2", "r1", "m2", call("t")), result("r2", "a2", "t"), user("u2", "r2", "On")});
  open("claude");
  const Lines expected = {"user: Go",       "assistant: call Bash t {}",
                          "tool: t = done", "assistant: call Bash t {}",
                          "tool: t = done", "user: On"};
  EXPECT_EQ(transcript(kId), expected);
  write(kFile, {user("u3", "u1", "Another")});
  const Lines all = sessions(true);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(transcript(all[0].substr(1, all[0].find(' ') - 1)), expected);
}

TEST_F(ClaudeTest, ABranchFromWithinAnAnswerHasAllOfIt) {
  write(kFile, {user("u1", "", "Go"), assistant("a1", "u1", "m1", call("t1")),
                assistant("a2", "a1", "m1", call("t2")), result("r1", "a1", "t1"),
                result("r2", "a2", "t2"), user("u2", "r1", "One"), user("u3", "r2", "Two")});
  open("claude");
  const Lines before = {"user: Go", "assistant: call Bash t1 {} | call Bash t2 {}",
                        "tool: t1 = done", "tool: t2 = done"};
  const auto with = [&before](std::string_view last) {
    Lines lines = before;
    lines.emplace_back(last);
    return lines;
  };
  EXPECT_EQ(transcript(kId), with("user: Two"));
  const Lines all = sessions(true);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(transcript(all[0].substr(1, all[0].find(' ') - 1)), with("user: One"));
}

TEST_F(ClaudeTest, ALateLineThatIsNoMessageDecidesNoBranch) {
  const auto progress = [](std::string_view uuid, std::string_view parent) {
    return cat("{'type':'progress','uuid':'", uuid, "','parentUuid':'", parent, "','data':{}}");
  };
  write(kFile,
        {user("u1", "", "One"), assistant("a1", "u1", "m1", call("t1")), result("r1", "a1", "t1"),
         assistant("a2", "r1", "m2", text("1")), progress("p1", "a1"), user("u2", "p1", "Two"),
         assistant("a3", "u2", "m3", text("2")), progress("p2", "r1")});
  open("claude");
  const Lines expected = {"user: One",       "assistant: call Bash t1 {}",
                          "tool: t1 = done", "assistant: 1",
                          "user: Two",       "assistant: 2"};
  EXPECT_EQ(transcript(kId), expected);
  EXPECT_EQ(sessions(true).size(), 1U);
}

// As in 1.0; the first versions did not mark it.
TEST_F(ClaudeTest, ASummaryWithoutAParentKeepsWhatItReplaced) {
  for (const std::string_view mark : {",'isCompactSummary':true", ""}) {
    const std::string file = mark.empty() ? cat("projects/-home-a-y/", kId, "2.jsonl") : kFile;
    write(file,
          {user("u1", "", "Long"), assistant("a1", "u1", "m1", text("talk")),
           user("s", "", "This session is being continued from a previous conversation that", mark),
           assistant("a2", "s", "m2", text("more")), user("u2", "a2", "On")});
  }
  open("claude");
  for (const std::string& id : {std::string(kId), cat(kId, "2")}) {
    EXPECT_EQ(transcript(id),
              (Lines{"user: Long", "assistant: talk",
                     "*user: This session is being continued from a previous conversation that",
                     "assistant: more", "user: On"}));
  }
  EXPECT_EQ(sessions(true).size(), 2U);
}

TEST_F(ClaudeTest, WhatAResumedFileRepeatsCountsOnce) {
  const std::string line = user("u1", "", "One");
  std::string later = at_second(line, 30);
  later.replace(later.find("'cwd'"), 0, "'version':'1.0.9',");
  write(kFile, {line, assistant("a1", "u1", "m1", call("t1")), result("r1", "a1", "t1"), later,
                at_second(assistant("a1", "u1", "m1", call("t1")), 31),
                assistant("b1", "a1", "m1", call("t1")), at_second(result("r1", "a1", "t1"), 32),
                user("u2", "r1", "Two")});
  open("claude");
  EXPECT_EQ(transcript(kId),
            (Lines{"user: One", "assistant: call Bash t1 {}", "tool: t1 = done", "user: Two"}));
  EXPECT_EQ(sessions(true), Lines{cat(kId, " One (4)")});
}

TEST_F(ClaudeTest, WhatAProgramSaysIsMarked) {
  write(kFile, {user("u0", "", "Caveat: the messages below", ",'isMeta':true"),
                user("u1", "u0", "<command-name>/compact</command-name>"),
                user("u2", "u1", "<local-command-stdout>ok</local-command-stdout>"),
                user("u3", "u2", "A real one"),
                "{'type':'assistant','uuid':'a1','parentUuid':'u3','message':{'id':'x','model':"
                "'<synthetic>','role':'assistant','content':[" +
                    text("No response requested.") + "]}}",
                user("u4", "a1", "<task-notification>done</task-notification>")});
  open("claude");
  EXPECT_EQ(transcript(kId), (Lines{"*user: Caveat: the messages below",
                                    "*user: <command-name>/compact</command-name>",
                                    "*user: <local-command-stdout>ok</local-command-stdout>",
                                    "user: A real one", "*assistant: No response requested.",
                                    "*user: <task-notification>done</task-notification>"}));
  EXPECT_EQ(session(kId).info.title, "A real one");
  EXPECT_EQ(session(kId).info.model, "");
}

TEST_F(ClaudeTest, ACompactionKeepsWhatItReplaced) {
  write(kFile, {user("u1", "", "Long"), assistant("a1", "u1", "m1", text("talk")),
                "{'type':'system','subtype':'compact_boundary','uuid':'c','parentUuid':null,"
                "'logicalParentUuid':'a1'}",
                user("s", "c", "This session is continued", ",'isCompactSummary':true"),
                user("u2", "s", "Go on")});
  open("claude");
  EXPECT_EQ(transcript(kId), (Lines{"user: Long", "assistant: talk",
                                    "*user: This session is continued", "user: Go on"}));
  EXPECT_EQ(summaries(kId), Lines{"This session is continued"});
}

TEST_F(ClaudeTest, LinesThatAreNoConversationAreNone) {
  write(kFile, {"{'type':'queue-operation','operation':'enqueue','content':'Why?','sessionId':'x'}",
                "{'type':'api-request-blob','hash':'h','message':{'role':'user','content':'Why?'}}",
                user("u1", "", "Why?"), assistant("a1", "u1", "m1", text("So.")),
                "{'type':'attachment','uuid':'p','parentUuid':'a1','attachment':{'type':"
                "'prompt_snapshot'}}",
                "{'type':'last-prompt','leafUuid':'p','lastPrompt':'Why?'}",
                "{'type':'of the next version','uuid':'z','parentUuid':'p'}"});
  open("claude");
  EXPECT_EQ(transcript(kId), (Lines{"user: Why?", "assistant: So."}));
  EXPECT_TRUE(damage(kId).empty());
}

TEST_F(ClaudeTest, RepeatedLinesAreOneAndOthersOfTheSameIdAreKept) {
  write(kFile, {user("u1", "", "One"), user("u1", "", "One"), user("u1", "", "Other")});
  open("claude");
  EXPECT_EQ(transcript(kId), (Lines{"user: One", "user: Other"}));
}

TEST_F(ClaudeTest, TheTitleIsTheLastSummaryOfThisSession) {
  write(kFile, {user("u1", "", "First words"), "{'type':'summary','summary':'Sum','leafUuid':'u1'}",
                "{'type':'summary','summary':'Of another one','leafUuid':'u9'}"});
  open("claude");
  EXPECT_EQ(session(kId).info.title, "Sum");
}

TEST_F(ClaudeTest, AnAnswerWithoutAModelDoesNotHideTheKnownOne) {
  write(kFile, {user("u1", "", "One"), assistant("a1", "u1", "m1", text("Two")),
                cat("{'type':'assistant','uuid':'a2','parentUuid':'a1','sessionId':'", kId,
                    "','message':{'role':'assistant','content':[", text("Three"), "]}}")});
  open("claude");
  EXPECT_EQ(session(kId).info.model, "claude-x");
}

TEST_F(ClaudeTest, TitlesInTheirOrder) {
  write(kFile,
        {user("u1", "", "First words"), "{'type':'summary','summary':'Sum','leafUuid':'u1'}"});
  Source& found = open("claude");
  EXPECT_EQ(session(kId).info.title, "Sum");
  write(kFile, {"{'type':'ai-title','aiTitle':'Ai','sessionId':'x'}"});
  EXPECT_EQ(must(get(found, must(SessionId::parse(kId)))).info.title, "Ai");
  write(kFile, {"{'type':'custom-title','customTitle':'Mine','sessionId':'x'}",
                "{'type':'ai-title','aiTitle':'Ai 2','sessionId':'x'}"});
  EXPECT_EQ(session(kId).info.title, "Mine");
}

TEST_F(ClaudeTest, SubAgentsAreListedWithTheBranchesOnly) {
  write(kFile, {user("u1", "", "Go")});
  write(cat("projects/-home-a-x/", kId, "/subagents/agent-7.jsonl"),
        {user("s1", "", "Do this", ",'isSidechain':true,'agentId':'7'"),
         assistant("s2", "s1", "m9", text("Did."))});
  open("claude");
  EXPECT_EQ(sessions().size(), 1U);
  EXPECT_EQ(sessions(true).size(), 2U);
  EXPECT_EQ(transcript(cat(kId, ":agent-7")), (Lines{"*user: Do this", "assistant: Did."}));
}

// Older versions do not say so in the answer, and some never record why an answer ended.
TEST_F(ClaudeTest, AnInterruptedAnswerIsCut) {
  const auto ended = [](std::string line, std::string_view reason) {
    return line.replace(line.find("'role':"), 0, cat("'stop_reason':", reason, ","));
  };
  constexpr std::string_view kMark = "[Request interrupted by user]";
  write(kFile,
        {user("u1", "", "One"), ended(assistant("a1", "u1", "m1", text("Whole")), "null"),
         user("u2", "a1", "Two"), ended(assistant("a2", "u2", "m2", text("Half")), "null"),
         ended(assistant("a3", "a2", "m2", text("an answer")), "null"), user("u3", "a3", kMark),
         ended(assistant("a4", "u3", "m4", call("t1")), "'tool_use'"),
         user("u4", "a4", "[Request interrupted by user for tool use]"),
         ended(assistant("a5", "u4", "m5", text("Said")), "'end_turn'"), user("u5", "a5", kMark),
         ended(assistant("a6", "u5", "m6", text("Too long")), "'max_tokens'")});
  open("claude");
  EXPECT_EQ(
      transcript(kId),
      (Lines{"user: One", "assistant: Whole", "user: Two", "assistant (cut): Half | an answer",
             cat("*user: ", kMark), "assistant: call Bash t1 {}",
             "*user: [Request interrupted by user for tool use]", "assistant: Said",
             cat("*user: ", kMark), "assistant (cut): Too long"}));
}

// They are in no other line but those of the queue.
TEST_F(ClaudeTest, WordsOfTheUserDuringATurnAreTheirs) {
  const auto queued = [](std::string_view uuid, std::string_view parent, std::string_view rest) {
    return cat("{'type':'attachment','uuid':'", uuid, "','parentUuid':'", parent,
               "','attachment':{'type':'queued_command',", rest, "}}");
  };
  write(kFile,
        {user("u1", "", "Go"), assistant("a1", "u1", "m1", call("t1")), result("r1", "a1", "t1"),
         queued("q1", "r1", cat("'commandMode':'prompt','prompt':[", text("Wait"), "]")),
         queued("q2", "q1", "'prompt':'Stop','origin':{'kind':'human'}"),
         queued("q3", "q2", "'prompt':'<task-notification>done</task-notification>'"),
         queued("q4", "q3", "'commandMode':'task-notification','prompt':'done'"),
         queued("q5", "q4", "'prompt':'From elsewhere','origin':{'kind':'peer'}"),
         assistant("a2", "q5", "m2", text("Well."))});
  open("claude");
  EXPECT_EQ(transcript(kId),
            (Lines{"user: Go", "assistant: call Bash t1 {}", "tool: t1 = done", "user: Wait",
                   "user: Stop", "*user: <task-notification>done</task-notification>",
                   "assistant: Well."}));
}

TEST_F(ClaudeTest, OlderSubAgentsNameTheirSession) {
  write(kFile, {user("u1", "", "Go")});
  write("projects/-home-a-x/agent-7.jsonl",
        {user("s1", "", "Do this", ",'isSidechain':true,'agentId':'7'"),
         assistant("s2", "s1", "m9", text("Did."))});
  open("claude");
  EXPECT_EQ(sessions().size(), 1U);
  EXPECT_EQ(sessions(true).size(), 2U);
  const Session agent = session("agent-7");
  ASSERT_EQ(agent.extra.size(), 1U);
  EXPECT_EQ(agent.extra[0].name, "parent");
  EXPECT_EQ(agent.extra[0].value, RawJson::string(kId));
}

// They wrote parallel sub-agents into the file of their session, without names.
TEST_F(ClaudeTest, TheOldestSubAgentsAreAmongTheLinesOfTheirSession) {
  constexpr std::string_view kAside = ",'isSidechain':true";
  const auto aside = [&](std::string line) {
    return line.insert(line.find(",'sessionId'"), kAside);
  };
  write(kFile, {user("u1", "", "Go"), assistant("a1", "u1", "m1", call("t1")),
                user("s1", "", "One task", kAside), user("x1", "", "Another", kAside),
                aside(assistant("s2", "s1", "m2", text("Done."))),
                aside(assistant("x2", "x1", "m3", text("Done, too."))), result("r1", "a1", "t1"),
                assistant("a2", "r1", "m4", text("ok"))});
  open("claude");
  EXPECT_EQ(transcript(kId),
            (Lines{"user: Go", "assistant: call Bash t1 {}", "tool: t1 = done", "assistant: ok"}));
  EXPECT_EQ(sessions().size(), 1U);
  const Lines all = sessions(true);
  ASSERT_EQ(all.size(), 3U);
  std::set<Lines> agents;
  for (const std::string& session_line : all) {
    const std::string id = session_line.substr(0, session_line.find(' '));
    if (id != kId) {
      EXPECT_TRUE(id.starts_with(cat(kId, ":sidechain-"))) << id;
      EXPECT_EQ(session(id).usage.output, TokenCount{5});
      agents.insert(transcript(id));
    }
  }
  EXPECT_EQ(agents, (std::set<Lines>{{"*user: One task", "assistant: Done."},
                                     {"*user: Another", "assistant: Done, too."}}));
  EXPECT_EQ(session(kId).usage.output, TokenCount{10});
}

TEST_F(ClaudeTest, ASubAgentInAFileWithoutParentsIsOneSession) {
  write(kFile, {user("u1", "", "Go"), user("s1", "", "A task", ",'isSidechain':true"),
                "{'type':'assistant','uuid':'s2','parentUuid':null,'isSidechain':true,"
                "'message':{'id':'m1','content':'Done.'}}",
                "{'type':'assistant','uuid':'a1','parentUuid':null,"
                "'message':{'id':'m2','content':'ok'}}"});
  open("claude");
  EXPECT_EQ(transcript(kId), (Lines{"user: Go", "assistant: ok"}));
  const Lines all = sessions(true);
  ASSERT_EQ(all.size(), 2U);
  const bool is_first = all[0].starts_with(cat(kId, ":"));
  const std::string& agent = all[is_first ? 0 : 1];
  EXPECT_EQ(transcript(agent.substr(0, agent.find(' '))),
            (Lines{"*user: A task", "assistant: Done."}));
}

TEST_F(ClaudeTest, ALargeFileIsListedByItsEnds) {
  write(kFile, {user("u1", "", "Begin")});
  const std::string filler(20'000, 'x');
  for (int i = 0; i < 10; ++i) {
    write(kFile, {user(cat("f", i), i == 0 ? "u1" : cat("f", i - 1), filler)});
  }
  write(kFile, {user("last", "f9", "End", ",'isMeta':false")});
  open("claude");
  const Lines listed = sessions();
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_TRUE(listed[0].ends_with("+)")) << listed[0];
  EXPECT_EQ(session(kId).info.head, Seq{12});
  EXPECT_TRUE(session(kId).info.is_head_known);
}

TEST_F(ClaudeTest, ATitleFarFromTheEndsOfALargeFileIsFound) {
  write(kFile, {user("u1", "", "Begin")});
  const std::string filler(20'000, 'x');
  for (int i = 0; i < 10; ++i) {
    write(kFile, {user(cat("f", i), i == 0 ? "u1" : cat("f", i - 1), filler)});
    if (i == 7) {
      write(kFile, {"{'type':'custom-title','customTitle':'Named','sessionId':'s'}"});
    }
  }
  write(kFile, {user("last", "f9", "End")});
  open("claude");
  EXPECT_EQ(must(source().list({})).sessions.at(0).title, "Named");
}

TEST_F(ClaudeTest, ItIsReadWhileItGrows) {
  write(kFile, {user("u1", "", "One")});
  open("claude");
  EXPECT_EQ(transcript(kId), Lines{"user: One"});
  append(kFile, "{\"type\":\"assistant\",\"uuid\":\"a1\",\"par");
  EXPECT_EQ(transcript(kId), Lines{"user: One"});
  EXPECT_TRUE(damage(kId).empty());
  append(kFile, "entUuid\":\"u1\",\"message\":{\"id\":\"m\",\"content\":\"Yes\"}}\n");
  EXPECT_EQ(transcript(kId), (Lines{"user: One", "assistant: Yes"}));
}

// A small file is read once, and a large one again for its messages.
TEST(ClaudeFile, ASmallOneIsDeliveredAsItWasIndexed) {
  const std::string words(20'000, 'x');
  for (const int lines : {40, 500}) {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / kFile;
    std::filesystem::create_directories(file.parent_path());
    std::string all;
    for (int i = 0; i < lines; ++i) {
      all += cat(user(cat("u", i), i == 0 ? "" : cat("u", i - 1), words), "\n");
    }
    std::ranges::replace(all, '\'', '"');
    must(replace_file(file, all));
    const auto source = must(open_source(cat("claude:", folder.path().native()), {}));
    int count = 0;
    const auto take = [&](Message&& message) {
      EXPECT_EQ(plain_text(message), words);
      if (++count == 1) {
        std::filesystem::resize_file(file, 10);
      }
      return Flow::proceed;
    };
    const auto report = source->read(must(SessionId::parse(kId)), {}, take);
    const bool is_small = lines == 40;
    EXPECT_EQ(count == lines, is_small) << count;
    if (is_small) {
      EXPECT_EQ(must(report).damaged, 0);
    } else {
      EXPECT_TRUE(fails(report, Code::conflict)) << "it has changed while it was read";
    }
  }
}

TEST_F(ClaudeTest, ManyFilesAreListedOnceEach) {
  constexpr int kFiles = 300;
  std::set<std::string> expected;
  for (int i = 0; i < kFiles; ++i) {
    const std::string id = cat("0a1b2c3d-0000-4000-8000-", 100'000'000'000 + i);
    write(cat("projects/-home-a-x/", id, ".jsonl"), {user(cat("u", i), "", cat("Title ", i))});
    expected.insert(cat(id, " Title ", i));
  }
  std::vector<std::string> listed;
  for (const SessionInfo& info : must(open("claude").list({.limit = kPageMax})).sessions) {
    listed.push_back(cat(info.id.str(), " ", info.title));
  }
  EXPECT_EQ(listed.size(), expected.size());
  EXPECT_EQ(std::set(listed.begin(), listed.end()), expected);
}

TEST_F(ClaudeTest, ImagesAndUnknownBlocksAreThere) {
  write(kFile,
        {"{'type':'user','uuid':'u1','parentUuid':null,'message':{'role':'user','content':["
         "{'type':'image','source':{'type':'base64','media_type':'image/png','data':'AAAA'}},"
         "{'type':'text','text':'See'},{'type':'of tomorrow','x':1}]}}"});
  open("claude");
  EXPECT_EQ(transcript(kId),
            Lines{"user: [image/png data:image/png;base64,AAAA] | See | ?of tomorrow"});
}

TEST_F(ClaudeTest, ABarePathIsRecognised) {
  write(kFile, {user("u1", "", "Hi")});
  const SourceKind* const kind = must(source_kind_of(location().native()));
  ASSERT_NE(kind, nullptr);
  EXPECT_EQ(kind->name, "claude");
  EXPECT_EQ(must(source_kind_of((location() / kFile).native())), kind);
}

// `--fork-session` and older resumptions copy the lines into a file of their own, without a
// reference.
TEST_F(ClaudeTest, ACopiedBeginningBelongsToTheSessionThatWasForked) {
  const auto file = [](std::string_view number) {
    return cat("projects/-home-a-x/0a1b2c3d-0000-4000-8000-00000000000", number, ".jsonl");
  };
  const auto id = [](std::string_view number) {
    return cat("0a1b2c3d-0000-4000-8000-00000000000", number);
  };
  const Lines shared = {user("u1", "", "One"), assistant("a1", "u1", "m1", text("1"))};
  const auto later = [](std::string line, std::string_view time) {
    return line.replace(line.find("10:00:00"), 8, time);
  };
  for (const std::string_view number : {"1", "2", "3"}) {
    write(file(number), shared);
  }
  write(file("1"), {later(user("u4", "a1", "The first went on"), "13:00:00")});
  write(file("2"), {later(user("u2", "a1", "Two"), "11:00:00")});
  write(file("3"),
        {later(user("u2", "a1", "Two"), "11:00:00"), later(user("u3", "u2", "Three"), "12:00:00")});
  write(file("4"), {user("x1", "", "Another")});
  open("claude");
  const ForkOrigin of_first{must(SessionId::parse(id("1"))), Seq{2}};
  const ForkOrigin of_second{must(SessionId::parse(id("2"))), Seq{3}};
  for (int round = 0; round < 2; ++round) {
    for (const SessionInfo& info : must(source().list({})).sessions) {
      const std::string_view number = std::string_view(info.id.str()).substr(35);
      EXPECT_EQ(info.forked_from, number == "3"   ? std::optional(of_second)
                                  : number == "2" ? std::optional(of_first)
                                                  : std::nullopt)
          << number;
    }
  }
  EXPECT_EQ(session(id("3")).info.forked_from, of_second);
  EXPECT_EQ(session(id("2")).usage.output.value, 0) << "counted for the first";
  EXPECT_EQ(session(id("1")).usage.output.value, 5);
  EXPECT_EQ(transcript(id("3")), (Lines{"user: One", "assistant: 1", "user: Two", "user: Three"}));
}

// A program's words beside a person's are those of the program only.
TEST_F(ClaudeTest, EachPartOfAQuestionHasItsAuthor) {
  const auto parts = [](std::string_view uuid, std::string_view parent, std::string_view blocks) {
    return cat("{'type':'user','uuid':'", uuid, "','parentUuid':", parent,
               ",'message':{'role':'user',", "'content':[", blocks, "]}}");
  };
  const std::string opened = text("<ide_opened_file>The user opened a.rs</ide_opened_file>");
  write(kFile,
        {parts("u1", "null", cat(opened, ",", text("Paint it"))),
         parts("u2", "'u1'",
               text("<system-reminder>Be brief</system-reminder>\\nNow\\n"
                    "<ide_selection>x</ide_selection>")),
         parts("u3", "'u2'", cat(text("[Request interrupted by user]"), ",", text("Stop that"))),
         parts("u4", "'u3'", opened),
         parts("u5", "'u4'", text("Why is <system-reminder>x</system-reminder> in it?"))});
  open("claude");
  EXPECT_EQ(session(kId).info.title, "Paint it");
  std::string marks;
  for (const Message& message : must(read_all(source(), must(SessionId::parse(kId))))) {
    marks += is_injected(message) ? "*" : "";
    for (const Block& block : message.blocks) {
      const bool is_marked = !std::get<TextBlock>(block).extra.empty();
      marks += cat(is_marked ? "program " : "person ");
    }
    marks += "|";
  }
  EXPECT_EQ(marks, "program person |program person program |program person |*person |person |");
}

TEST_F(ClaudeTest, WithoutAQuestionTheFirstWordsAreTheTitle) {
  const std::string command = user("u1", "", "<command-name>/init</command-name>");
  write(kFile, {command, assistant("a1", "u1", "m1", call("t1")),
                assistant("a2", "a1", "m2", text("Here it is."))});
  open("claude");
  EXPECT_EQ(session(kId).info.title, "Here it is.");
  EXPECT_EQ(sessions(), Lines{cat(kId, " Here it is. (3)")});
}

}  // namespace
}  // namespace reprise::test::claude
