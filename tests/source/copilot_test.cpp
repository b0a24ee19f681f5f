#include "base/text.h"
#include "source/source_fixture.h"
#include "support/must.h"

namespace reprise::test::copilot {
namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view kId = "8a1b2c3d-0000-4000-8000-000000000001";
const std::string kFile = cat("session-state/", kId, "/events.jsonl");

std::string event(int number, std::string_view type, std::string_view data,
                  std::string_view agent = "") {
  return cat("{'type':'", type, "','data':{", data, "},'id':'e", number,
             "','timestamp':'2026-11-20T10:00:0", number % 10,
             ".000Z','parentId':", number == 0 ? "null" : cat("'e", number - 1, "'"),
             agent.empty() ? "" : cat(",'agentId':'", agent, "'"), "}");
}

std::string start() {
  return event(
      0, "session.start",
      cat("'sessionId':'", kId, "','version':1,'producer':'p','context':{'cwd':'/home/a/x'}"));
}

class CopilotTest : public SourceTest {};

TEST_F(CopilotTest, AConversationWithACall) {
  write(kFile, {start(), event(1, "system.message", "'content':'Rules'"),
                event(2, "user.message", "'content':'Why?','transformedContent':'<x>Why?</x>'"),
                event(3, "assistant.turn_start", ""),
                event(4, "assistant.message",
                      "'content':'','reasoningText':'hm','toolRequests':[{'toolCallId'"
                      ":'c1','name':'bash',"
                      "'arguments':{'a':1}}]"),
                event(5, "session.usage_record", "'usage':{'inputTokens':10,'outputTokens':3}"),
                event(6, "tool.execution_start", "'toolCallId':'c1'"),
                event(7, "tool.execution_complete",
                      "'toolCallId':'c1','success':false,'error':{'message':'no','"
                      "code':'x'}"),
                event(8, "assistant.message", "'content':'So.'"),
                event(9, "session.error", "'statusCode':500,'message':'It broke'")});
  append(cat("session-state/", kId, "/workspace.yaml"),
         "id: x\nname: \"My name\"\nuser_named: true\n");
  open("copilot");
  EXPECT_EQ(sessions(), Lines{cat(kId, " My name (6)")});
  EXPECT_EQ(
      transcript(kId),
      (Lines{"*system: Rules", "user: Why?", "assistant: (thinking) hm | call bash c1 {\"a\":1}",
             "tool: c1 failed: no", "assistant (cut): So.", "*system: It broke"}));
  EXPECT_EQ(session(kId).usage.input.value, 10);
  EXPECT_EQ(session(kId).info.working_dir, "/home/a/x");
}

// What `copilot sessions import` takes, and `reprise export --format copilot`
// writes.
TEST_F(CopilotTest, AFileToImportIsRead) {
  write("mine.jsonl", {"{'type':'session','version':1,'externalId':'e','createdAt':'2026-11-"
                       "20T10:00:00.000Z',"
                       "'title':'Mine','workingDirectory':'/home/a/x'}",
                       "{'type':'message','id':'m0','timestamp':'2026-11-20T10:00:01.000Z','"
                       "role':'user',"
                       "'content':[{'type':'text','text':'Why?'}]}",
                       "{'type':'message','id':'m1','timestamp':'2026-11-20T10:00:02.000Z','"
                       "role':'assistant',"
                       "'content':[{'type':'text','text':'Hm.'}],'model':'m'}",
                       "{'type':'tool-call','id':'1:c','timestamp':'2026-11-20T10:00:03.000Z'"
                       ",'name':'ls',"
                       "'arguments':{'a':1}}",
                       "{'type':'tool-call','id':'1:d','timestamp':'2026-11-20T10:00:03.000Z'"
                       ",'name':'cat',"
                       "'arguments':{}}",
                       "{'type':'tool-result','id':'r1:c','timestamp':'2026-11-20T10:00:04."
                       "000Z',"
                       "'toolCallId':'1:c','success':true,'content':'a.txt'}",
                       "{'type':'tool-result','id':'r1:d','timestamp':'2026-11-20T10:00:04."
                       "000Z',"
                       "'toolCallId':'1:d','success':false,'error':{'message':'no'}}"});
  EXPECT_EQ(must(source_kind_of((location() / "mine.jsonl").native()))->name, "copilot");
  open("copilot", "mine.jsonl");
  EXPECT_EQ(sessions(), Lines{"mine Mine (4)"});
  EXPECT_EQ(transcript("mine"),
            (Lines{"user: Why?", "assistant: Hm. | call ls 1:c {\"a\":1} | call cat 1:d {}",
                   "tool: 1:c = a.txt", "tool: 1:d failed: no"}));
  EXPECT_EQ(metadata("mine"), "Mine||m|/home/a/x|2026-11-20T10:00:00Z|2026-11-20T10:00:04Z");
}

TEST_F(CopilotTest, SubAgentsInTheSameFileAreSessionsOfTheirOwn) {
  write(kFile, {start(), event(1, "user.message", "'content':'Go'"),
                event(2, "user.message", "'content':'Do this'", "a1"),
                event(3, "assistant.message", "'content':'Did.'", "a1"),
                event(4, "assistant.message", "'content':'Done.'")});
  open("copilot");
  EXPECT_EQ(transcript(kId), (Lines{"user: Go", "assistant: Done."}));
  EXPECT_EQ(sessions(), Lines{cat(kId, " Go (2)")});
  EXPECT_EQ(sessions(true).size(), 2U);
  EXPECT_EQ(transcript(cat(kId, ":a1")), (Lines{"*user: Do this", "assistant: Did."}));
  EXPECT_EQ(session(cat(kId, ":a1")).info.title, "Do this");
}

TEST_F(CopilotTest, NamesOfSubAgentsMayContainTheSeparatorOfIds) {
  write(kFile, {start(), event(1, "user.message", "'content':'Look'"),
                event(2, "user.message", "'content':'in a'", "a:b:c"),
                event(3, "user.message", "'content':'in b'", ":"),
                event(4, "assistant.message", "'content':'Done'")});
  open("copilot");
  EXPECT_EQ(transcript(cat(kId, ":a:b:c")).size(), 1U);
  EXPECT_EQ(transcript(cat(kId, "::")).size(), 1U);
  EXPECT_EQ(session(cat(kId, ":a:b:c")).extra.at(0).value, RawJson::string(kId)) << "the parent";
  for (const std::string_view none : {":a:b", ":b:c", ":a", ":", ":::"}) {
    EXPECT_FALSE(must(source().find(must(SessionId::parse(cat(kId, none)))))) << none;
  }
}

TEST_F(CopilotTest, SubAgentsAtTheSameTimeHaveTheirOwnModelTimesAndUsage) {
  write(kFile, {start(), event(1, "user.message", "'content':'Go'"),
                event(2, "user.message", "'content':'One','attachments':[{'assetId':'abc'}]", "a1"),
                event(3, "user.message", "'content':'Two'", "a2"),
                event(4, "session.binary_asset", "'assetId':'abc','data':'iVBORw0KGgo='"),
                event(5, "assistant.message", "'content':'First.','model':'m1'", "a1"),
                event(6, "assistant.message", "'content':'Second.','model':'m2'", "a2"),
                event(7, "session.usage_record", "'usage':{'inputTokens':7}", "a1"),
                event(8, "session.usage_record", "'usage':{'inputTokens':8}", "a2")});
  open("copilot");
  EXPECT_EQ(transcript(kId), Lines{"user: Go"});
  EXPECT_EQ(
      transcript(cat(kId, ":a1")),
      (Lines{"*user: One | [image/png data:image/png;base64,iVBORw0KGgo=]", "assistant: First."}));
  EXPECT_EQ(transcript(cat(kId, ":a2")), (Lines{"*user: Two", "assistant: Second."}));
  EXPECT_EQ(metadata(cat(kId, ":a1")),
            "One|copilot|m1|/home/a/x|2026-11-20T10:00:02Z|2026-11-20T10:00:07Z");
  EXPECT_EQ(metadata(cat(kId, ":a2")),
            "Two|copilot|m2|/home/a/x|2026-11-20T10:00:03Z|2026-11-20T10:00:08Z");
  EXPECT_EQ(session(kId).usage.input.value, 0);
  EXPECT_EQ(session(cat(kId, ":a1")).usage.input.value, 7);
  EXPECT_EQ(session(cat(kId, ":a2")).usage.input.value, 8);
}

TEST_F(CopilotTest, KilledInMidAnswer) {
  write(kFile, {start(), event(1, "user.message", "'content':'Go'"),
                event(2, "assistant.turn_start", "")});
  open("copilot");
  EXPECT_EQ(transcript(kId), Lines{"user: Go"});
}

TEST_F(CopilotTest, AttachedImagesComeWithTheirQuestion) {
  write(kFile, {start(),
                event(1, "user.message",
                      "'content':'What?','attachments':[{'assetId':'abc','name':'a.png'},"
                      "{'assetId':'gone'},{'assetId':'text'}]"),
                event(2, "session.binary_asset", "'assetId':'abc','data':'iVBORw0KGgo='"),
                event(3, "session.binary_asset", "'assetId':'text','data':'aGVsbG8='"),
                event(4, "assistant.message", "'content':'A dot.'")});
  open("copilot");
  EXPECT_EQ(transcript(kId), (Lines{"user: What? | [image/png data:image/png;base64,iVBORw0KGgo=]",
                                    "assistant: A dot."}));
}

TEST_F(CopilotTest, IdsOfAssetsAreNotTakenForPositions) {
  const std::string image = "'data':'iVBORw0KGgo='";
  write(kFile,
        {start(),
         event(1, "user.message",
               "'content':'What?','attachments':[{'assetId':'x'},{'assetId':'y "
               "1'}]"),
         event(2, "session.binary_asset", cat("'assetId':'x 0 9999999999999999999',", image)),
         event(3, "session.binary_asset", cat("'assetId':'y 1',", image)),
         event(4, "assistant.message", "'content':'A dot.'")});
  write("session-state/other/events.jsonl",
        {start(), event(1, "user.message", "'content':'Why?'")});
  open("copilot");
  EXPECT_EQ(sessions(), (Lines{cat(kId, " What? (2)"), "other Why? (1)"}));
  EXPECT_EQ(transcript(kId), (Lines{"user: What? | [image/png data:image/png;base64,iVBORw0KGgo=]",
                                    "assistant: A dot."}));
  EXPECT_EQ(transcript("other"), Lines{"user: Why?"});
}

// "INPUT (MESSAGE'S TEXT)" of the messages with usage.
Lines usages(Source& source, std::string_view id) {
  Lines all;
  for (const Message& message : must(read_all(source, must(SessionId::parse(id))))) {
    if (const auto& usage = message.usage) {
      all.push_back(cat(usage->input.value, " (", plain_text(message), ")"));
    }
  }
  return all;
}

std::string usage(int number, std::string_view call, int input) {
  return event(number, "session.usage_record",
               cat("'usage':{'apiCallId':'", call, "','inputTokens':", input, "}"));
}

std::string answer(int number, std::string_view call, std::string_view text,
                   std::string_view more = "") {
  return event(number, "assistant.message",
               cat("'apiCallId':'", call, "','content':'", text, "'", more));
}

// The program writes it before the answer.
TEST_F(CopilotTest, EachAnswerHasTheUsageOfItsRequest) {
  write(kFile, {start(), event(1, "user.message", "'content':'Go'"),
                event(2, "assistant.turn_start", "'turnId':'0'"), usage(3, "r1", 1),
                answer(4, "r1", "First."), event(5, "assistant.turn_end", "'turnId':'0'"),
                event(6, "assistant.turn_start", "'turnId':'1'"), usage(7, "r2", 2),
                event(8, "assistant.turn_end", "'turnId':'1'"),
                event(9, "assistant.turn_start", "'turnId':'2'"), usage(10, "r3", 4),
                answer(11, "r3", "Third."), usage(12, "r4", 8),
                event(13, "assistant.turn_end", "'turnId':'2'")});
  open("copilot");
  EXPECT_EQ(usages(source(), kId), (Lines{"1 (First.)", "4 (Third.)"}));
  EXPECT_EQ(session(kId).usage.input.value, 15) << "with those of two requests without an answer";
}

// Some servers number all of their answers alike.
TEST_F(CopilotTest, EachRequestIsCountedOnceEvenIfItsIdIsNotItsOwn) {
  const Lines lines = {start(),          event(1, "user.message", "'content':'Go'"),
                       usage(2, "r", 1), answer(3, "r", "First."),
                       usage(4, "r", 2), answer(5, "r", "Second."),
                       usage(6, "", 4),  answer(7, "", "Third.")};
  write(kFile, lines);
  write(kFile, {lines[2], lines[4]});
  open("copilot");
  EXPECT_EQ(usages(source(), kId), (Lines{"1 (First.)", "2 (Second.)", "4 (Third.)"}));
  EXPECT_EQ(session(kId).usage.input.value, 7);
}

TEST_F(CopilotTest, AnAnswerInPartsIsOne) {
  const auto part = [](int number, std::string_view text, std::string_view more = "") {
    return answer(number, "r1", text, cat(",'chunkIndex':", number - 3, ",'chunkCount':2", more));
  };
  write(kFile, {start(), event(1, "user.message", "'content':'Go'"), usage(2, "r1", 1),
                part(3, "One", ",'reasoningText':'hm'"),
                part(4, "two",
                     ",'reasoningText':'so','toolRequests':[{'toolCallId':'c1',"
                     "'name':'ls'}]"),
                event(5, "tool.execution_complete", "'toolCallId':'c1','result':{'content':'a'}")});
  open("copilot");
  EXPECT_EQ(transcript(kId), (Lines{"user: Go",
                                    "assistant: (thinking) hm | One | "
                                    "(thinking) so | two | call ls c1 null",
                                    "tool: c1 = a"}));
  EXPECT_EQ(session(kId).usage.input.value, 1);
}

TEST_F(CopilotTest, WhatAProgramSaysForTheUserIsMarkedAndNoTitle) {
  write(kFile,
        {start(), event(1, "user.message", "'content':'Skill','source':'skill-pdf'"),
         event(2, "user.message", "'content':'<system_notification>Done</system_notification>'"),
         event(3, "user.message", "'content':'Go on','isAutopilotContinuation':true"),
         event(4, "user.message", "'content':'Mine','source':'user'"),
         event(5, "user.message", "'content':'Sub','source':'agent-1'", "a1"),
         event(6, "session.compaction_complete",
               "'success':true,'summaryContent':'In short',"
               "'compactionTokensUsed':{'inputTokens':9}"),
         event(7, "session.compaction_complete", "'success':false,'error':'no'")});
  open("copilot");
  EXPECT_EQ(transcript(kId),
            (Lines{"*user: Skill", "*user: <system_notification>Done</system_notification>",
                   "*user: Go on", "user: Mine", "*system: In short"}));
  EXPECT_EQ(session(kId).info.title, "Mine");
  EXPECT_EQ(session(kId).usage.input.value, 9);
  EXPECT_EQ(session(cat(kId, ":a1")).info.title, "Sub");
}

// Before they had names of their own, the call that started them was their
// name.
TEST_F(CopilotTest, SubAgentsOfOlderVersions) {
  write(kFile, {start(), event(1, "user.message", "'content':'Go'"),
                event(2, "user.message", "'content':'Sub','source':'agent-1'"),
                event(3, "assistant.message", "'content':'Did.','parentToolCallId':'c|1'"),
                event(4, "assistant.message", "'content':'Done.'")});
  open("copilot");
  EXPECT_EQ(transcript(kId), (Lines{"user: Go", "*user: Sub", "assistant: Done."}));
  EXPECT_EQ(sessions(true).size(), 2U);
}

TEST_F(CopilotTest, SessionsOfTheFirstVersionsAreFilesOfTheirOwn) {
  write(cat("session-state/", kId, ".jsonl"),
        {start(), event(1, "user.message", "'content':'Why?'")});
  write("session-state/other/events.jsonl", {start(), event(1, "user.message", "'content':'So?'")});
  write("session-state/other/files/more.jsonl",
        {start(), event(1, "user.message", "'content':'No'")});
  open("copilot");
  EXPECT_EQ(sessions().size(), 2U);
  EXPECT_EQ(transcript(kId), Lines{"user: Why?"});
}

// After a resumption, the results of interrupted calls name another one.
TEST_F(CopilotTest, TheModelIsTheOneThatAnswersOrWasChosen) {
  const auto model = [this] { return session(kId).info.model; };
  write(kFile, {event(0, "session.start", "'selectedModel':'m0'"),
                event(1, "user.message", "'content':'Go'")});
  open("copilot");
  EXPECT_EQ(model(), "m0");
  write(kFile, {event(2, "assistant.message", "'content':'Did.','model':'m1'"),
                event(3, "tool.execution_complete", "'toolCallId':'c1','model':'resumed'")});
  EXPECT_EQ(model(), "m1");
  write(kFile, {event(4, "session.model_change", "'newModel':'m2'")});
  EXPECT_EQ(model(), "m2");
}

TEST_F(CopilotTest, AResultHasItsImagesAndAllThatIsUnknown) {
  write(kFile, {start(), event(1, "user.message", "'content':'Go'"),
                event(2, "tool.execution_complete",
                      "'toolCallId':'c1','success':true,'result':{'content':'a','contents':["
                      "{'type':'text','text':'a'},{'type':'image','mimeType':'image/png','data':"
                      "'AAAA'},{'type':'resource','x':1}],'detailedContent':'+a'}")});
  open("copilot");
  EXPECT_EQ(
      transcript(kId),
      (Lines{"user: Go", "tool: c1 = a | [image/png data:image/png;base64,AAAA] | ?resource"}));
  const auto messages = must(read_all(source(), must(SessionId::parse(kId))));
  const Extra& extra = std::get<ToolResultBlock>(messages.at(1).blocks.at(0)).extra;
  ASSERT_EQ(extra.size(), 1U);
  EXPECT_EQ(extra[0].name, "detailedContent");
}

TEST_F(CopilotTest, NamesAreYaml) {
  const std::vector<std::pair<std::string_view, std::string_view>> names = {
      {"'it''s: \"a\" # b'", "it's: \"a\" # b"},
      {"\"a \\\"b\\\" \\u00fc\"", "a \"b\" \xC3\xBC"},
      {"|-\n  two\n  lines: here", "two lines: here"},
      {"plain words  # a comment", "plain words"},
      {"folded\n  words", "folded words"},
      {"12", "12"},
      {"'~'", "~"},
      {"~", "Why?"},
      {"", "Why?"}};
  for (std::size_t i = 0; i < names.size(); ++i) {
    write(cat("session-state/s", i, "/events.jsonl"),
          {start(), event(1, "user.message", "'content':'Why?'")});
    append(cat("session-state/s", i, "/workspace.yaml"),
           cat("id: x\nname: ", names[i].first, "\nuser_named: true\n"));
  }
  open("copilot");
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(session(cat("s", i)).info.title, names[i].second);
  }
  EXPECT_TRUE(must(source().list({})).damage.empty());
}

TEST_F(CopilotTest, AFileWithTheNameThatCannotBeReadIsDamage) {
  write(kFile, {start(), event(1, "user.message", "'content':'Why?'")});
  append(cat("session-state/", kId, "/workspace.yaml"), std::string((1 << 20) + 1, '\n'));
  write("session-state/other/events.jsonl", {start(), event(1, "user.message", "'content':'So?'")});
  append("names", "name: x\n");
  std::filesystem::create_symlink(location() / "names",
                                  location() / "session-state/other/workspace.yaml");
  open("copilot");
  EXPECT_EQ(sessions().size(), 2U);
  EXPECT_EQ(must(source().list({})).damage.size(), 2U);
  EXPECT_EQ(session(kId).info.title, "Why?");
  for (const std::string_view id : {kId, std::string_view("other")}) {
    EXPECT_EQ(transcript(id).size(), 1U);
    EXPECT_EQ(damage(id).size(), 1U);
  }
}

TEST_F(CopilotTest, AnAnswerOfATurnThatNeverEndedIsCut) {
  write(kFile, {start(), event(1, "user.message", "'content':'One'"),
                event(2, "assistant.turn_start", "'turnId':'0'"),
                event(3, "assistant.message", "'content':'Whole'"),
                event(4, "assistant.turn_end", "'turnId':'0'"),
                event(5, "assistant.turn_start", "'turnId':'1'"),
                event(6, "assistant.message", "'content':'Half'"),
                event(7, "assistant.turn_start", "'turnId':'0'"),
                event(8, "assistant.message", "'content':'Half, too'")});
  open("copilot");
  EXPECT_EQ(transcript(kId), (Lines{"user: One", "assistant: Whole", "assistant (cut): Half",
                                    "assistant (cut): Half, too"}));
}

}  // namespace
}  // namespace reprise::test::copilot
