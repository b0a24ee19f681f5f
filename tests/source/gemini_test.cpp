#include "base/text.h"
#include "source/source_fixture.h"
#include "support/must.h"

namespace reprise::test::gemini {
namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view kId = "6a1b2c3d-0000-4000-8000-000000000001";
const std::string kFile = "tmp/x/chats/session-2026-11-20T10-00-6a1b2c3d.jsonl";
const std::string kStub = "tmp/x/chats/session-2026-11-20T11-00-6a1b2c3d.jsonl";

std::string start(std::string_view more = "") {
  return cat("{'sessionId':'", kId, "','projectHash':'h','startTime':'2026-11-20T10:00:00.000Z'",
             more, "}");
}

std::string message(std::string_view id, std::string_view type, std::string_view text,
                    std::string_view more = "") {
  return cat("{'id':'", id, "','timestamp':'2026-11-20T10:00:01.000Z','type':'", type,
             "','content':'", text, "'", more, "}");
}

std::string set(std::string_view messages) {
  return cat("{'$set':{'messages':[", messages, "]}}");
}

const std::string kContext = message("ctx", "user", "<session_context>here</session_context>");

class GeminiTest : public SourceTest {
 protected:
  // Of the only session.
  std::string only_id() {
    const std::vector<SessionInfo> all = must(source().list({})).sessions;
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? "" : all.front().id.str();
  }
};

TEST_F(GeminiTest, ACallAndItsResultAreThereOnce) {
  write(kFile,
        {start(), set(kContext), message("u1", "user", "List"),
         message("g1", "gemini", "", ",'thoughts':[{'subject':'Hm','description':'well'}]"),
         message("g1", "gemini", "",
                 ",'model':'gemini-x','thoughts':[{'subject':'Hm','description':'well'}],"
                 "'tokens':{'input':10,'output':3,'cached':2,'thoughts':4,'total':17},"
                 "'toolCalls':[{'id':'c1','name':'ls','args':{'d':1},'status':'success',"
                 "'result':[{'functionResponse':{'id':'c1','name':'ls','response':{'output':'a'}}}]"
                 "}]"),
         "{'id':'u2','timestamp':'2026-11-20T10:00:02.000Z','type':'user','content':[{"
         "'functionResponse':{'id':'c1','name':'ls','response':{'output':'a'}}}]}",
         message("g2", "gemini", "Done.")});
  open("gemini");
  EXPECT_EQ(sessions(), Lines{cat(kId, " List (5)")});
  EXPECT_EQ(transcript(kId), (Lines{"*user: <session_context>here</session_context>", "user: List",
                                    "assistant: (thinking) Hm\nwell | call ls c1 {\"d\":1}",
                                    "tool: c1 = a", "assistant: Done."}));
  const Session found = session(kId);
  EXPECT_EQ(found.usage.output.value, 7);
  EXPECT_EQ(found.usage.reasoning.value, 4);
  EXPECT_EQ(found.info.model, "gemini-x");
  EXPECT_EQ(found.info.provider, "google");
  const std::vector<Message> messages = must(read_all(source(), found.info.id));
  ASSERT_TRUE(messages.at(2).usage);
  EXPECT_EQ(messages[2].usage->request_id, "g1");
}

TEST_F(GeminiTest, TheUsageOfAnAnswerMayComeLaterAndStays) {
  constexpr std::string_view kTokens = ",'tokens':{'input':10,'output':3}";
  constexpr std::string_view kCalls = ",'toolCalls':[{'id':'c1','name':'ls','args':{}}]";
  write(kFile, {start(), message("u1", "user", "One"), message("g1", "gemini", "1"),
                message("g1", "gemini", "1", kTokens), message("u2", "user", "Two"),
                message("g2", "gemini", "2", kTokens), message("g2", "gemini", "2", kCalls)});
  open("gemini");
  EXPECT_EQ(transcript(kId),
            (Lines{"user: One", "assistant: 1", "user: Two", "assistant: 2 | call ls c1 {}"}));
  EXPECT_EQ(session(kId).usage.input.value, 20);
  const auto messages = must(read_all(source(), must(SessionId::parse(kId))));
  for (const std::size_t at : {1U, 3U}) {
    ASSERT_TRUE(messages.at(at).usage);
    EXPECT_EQ(messages[at].usage->output.value, 3);
  }
}

TEST_F(GeminiTest, ACallInThePartsAndInTheRecordsIsOne) {
  constexpr std::string_view kResults =
      ",'toolCalls':[{'id':'c1','name':'ls','args':{'d':1},'result':[{'functionResponse':{'id':'c1'"
      ",'name':'ls','response':{'output':'a'}}}]},{'id':'c2','name':'ls','args':{'d':2},'result':[{"
      "'functionResponse':{'id':'c2','name':'ls','response':{'output':'b'}}}]}]";
  const auto answer = [&](std::string_view id, std::string_view parts) {
    return cat("{'id':'", id, "','type':'gemini','content':[", parts, "]", kResults, "}");
  };
  constexpr std::string_view kParts =
      "{'functionCall':{'id':'c1','name':'ls','args':{'d':1}},'thoughtSignature':'s'},"
      "{'functionCall':{'name':'ls','args':{'d':2}}}";
  write(kFile, {start(), message("u1", "user", "List"),
                "{'id':'r','type':'user','content':[{'functionResponse':{'id':'c1','name':'ls',"
                "'response':{'output':'a'}}},{'functionResponse':{'id':'c3','name':'ls','response':"
                "{'output':'c'}}}]}",
                answer("g1", kParts), answer("g2", cat("{'text':'Again.'},", kParts)),
                "{'id':'q','type':'user','content':[{'functionResponse':{'id':'c2','name':'ls',"
                "'response':{'output':'b'}}},{'functionResponse':{'id':'c4','name':'ls','response':"
                "{'output':'d'}}}]}"});
  open("gemini");
  EXPECT_EQ(
      transcript(kId),
      (Lines{"user: List", "tool: c1 = a | c3 = c",
             "assistant: call ls c1 {\"d\":1} | call ls c2 {\"d\":2}", "tool: c2 = b",
             "assistant: Again. | call ls c1 {\"d\":1} | call ls c2 {\"d\":2}", "tool: c4 = d"}));
  const auto messages = must(read_all(source(), must(SessionId::parse(kId))));
  EXPECT_TRUE(blocks_to_json(messages.at(2).blocks).contains(R"("thoughtSignature":"s")"));
}

TEST_F(GeminiTest, SubAgentsKnowTheirSession) {
  write(kFile, {start(), message("u1", "user", "One")});
  write(cat("tmp/x/chats/", kId, "/sub.jsonl"),
        {"{'sessionId':'sub','projectHash':'h','kind':'subagent'}", message("s1", "user", "Look")});
  open("gemini");
  EXPECT_EQ(sessions(), Lines{cat(kId, " One (1)")});
  const Session agent = session("sub");
  ASSERT_EQ(agent.extra.size(), 1U);
  EXPECT_EQ(agent.extra[0].name, "parent");
  EXPECT_EQ(agent.extra[0].value, RawJson::string(kId));
}

TEST_F(GeminiTest, AFileOfAResumptionIsTheSameSession) {
  write(kFile, {start(), message("u1", "user", "One"), message("g1", "gemini", "1")});
  write(kStub, {start(),
                set(cat(kContext, ",", "{'id':'u1','type':'user','content':[{'text':'One'}]},",
                        "{'id':'g1','type':'gemini','content':[{'text':'1'}]}")),
                message("u2", "user", "Two")});
  open("gemini");
  EXPECT_EQ(sessions(), Lines{cat(kId, " One (4)")});
  EXPECT_EQ(transcript(kId),
            (Lines{"user: One", "assistant: 1", "*user: <session_context>here</session_context>",
                   "user: Two"}));
}

TEST_F(GeminiTest, ASessionInWhichNobodySaidAnythingIsNotListed) {
  write(kFile, {start(), set(kContext)});
  open("gemini");
  EXPECT_TRUE(sessions().empty());
}

TEST_F(GeminiTest, ARewindLeavesABranch) {
  write(kFile, {start(), message("u1", "user", "One"), message("g1", "gemini", "1"),
                message("u2", "user", "Two"), message("g2", "gemini", "2"), "{'$rewindTo':'u2'}",
                set(cat(message("u1", "user", "One"), ",", message("g1", "gemini", "1"))),
                message("u3", "user", "Three")});
  open("gemini");
  EXPECT_EQ(transcript(kId), (Lines{"user: One", "assistant: 1", "user: Three"}));
  const Lines all = sessions(true);
  ASSERT_EQ(all.size(), 2U);
  const std::string left = all[0].starts_with("~") ? all[0] : all[1];
  EXPECT_EQ(transcript(left.substr(1, left.find(' ') - 1)),
            (Lines{"user: One", "assistant: 1", "user: Two", "assistant: 2"}));
}

TEST_F(GeminiTest, GoingBackToWhatIsUnknownBeginsAnew) {
  write(kFile, {start(), message("u1", "user", "One"), "{'$rewindTo':'nobody'}",
                message("u2", "user", "Two")});
  open("gemini");
  EXPECT_EQ(transcript(kId), Lines{"user: Two"});
}

TEST_F(GeminiTest, ACompressionLosesNothing) {
  write(kFile,
        {start(), message("u1", "user", "Long"), message("g1", "gemini", "talk"),
         set(cat(kContext, ",", message("s", "user", "<state_snapshot>short</state_snapshot>"), ",",
                 message("t", "gemini", "Got it. Thanks for the additional context!"))),
         message("u2", "user", "On")});
  open("gemini");
  EXPECT_EQ(
      transcript(kId),
      (Lines{"user: Long", "assistant: talk", "*user: <session_context>here</session_context>",
             "*user: <state_snapshot>short</state_snapshot>",
             "*assistant: Got it. Thanks for the additional context!", "user: On"}));
}

TEST_F(GeminiTest, AQuestionWithALineSeparatorIsThere) {
  write(kFile, {start(), message("u1", "user", "One\xE2\x80\xA8two")});
  open("gemini");
  EXPECT_EQ(transcript(kId), Lines{"user: One\xE2\x80\xA8two"});
}

TEST_F(GeminiTest, OldFilesAreOneObject) {
  append("tmp/0f/chats/session-2025-10-01T10-00-6a1b2c3d.json",
         cat("{\n  \"sessionId\": \"", kId, "\",\n  \"projectHash\": \"h\",\n",
             "  \"messages\": [\n    {\n      \"id\": \"1\",\n      \"type\": \"user\",\n",
             "      \"content\": \"Hi\"\n    },\n    {\"id\": \"2\", \"type\": \"model\",\n",
             "     \"parts\": [{\"text\": \"Ho\"}],\n     \"toolCalls\": [{\"id\": \"c\",",
             "\"name\": \"n\", \"args\": {}, \"result\": [{\"functionResponse\":",
             "{\"id\": \"c\", \"response\": {\"error\": \"no\"}}}]}]}\n  ]\n}\n"));
  open("gemini");
  EXPECT_EQ(transcript(kId),
            (Lines{"user: Hi", "assistant: Ho | call n c {}", "tool: c failed: no"}));
}

TEST_F(GeminiTest, TheProjectStandsBesideTheSummaryInIt) {
  append("tmp/x/.project_root", "/home/a/x\n");
  write(kFile, {start(), message("u1", "user", "Hi"), message("i", "info", "Update available"),
                "{'$set':{'summary':'Greetings'}}"});
  open("gemini");
  EXPECT_EQ(sessions(), Lines{cat(kId, " Greetings (2)")});
  EXPECT_EQ(session(kId).info.working_dir, "/home/a/x");
  EXPECT_EQ(transcript(kId), (Lines{"user: Hi", "*system: Update available"}));
}

// `/chat save grün`, in a project's folder beside its chats.
TEST_F(GeminiTest, ReadsCheckpoints) {
  write("tmp/x/.project_root", {"/home/a/x"});
  write("tmp/x/checkpoint-gr%C3%BCn.json",
        {"{'history':[{'role':'user','parts':[{'text':'Why?'}]},",
         "{'role':'model','parts':[{'text':'So.'}]}],'authType':'gemini-api-key'}"});
  open("gemini");
  const std::string id = only_id();
  EXPECT_TRUE(id.starts_with("checkpoint-gr_C3_BCn@")) << id;
  EXPECT_EQ(transcript(id), (Lines{"user: Why?", "assistant: So."}));
  EXPECT_EQ(session(id).info.title, "Why?");
  EXPECT_EQ(session(id).info.working_dir, "/home/a/x");
  EXPECT_NE(session(id).info.updated_at, Time{});
}

// An empty content beside parts, and a byte order mark before the first line.
TEST_F(GeminiTest, ReadsPartsBesideAnEmptyContent) {
  write("tmp/x/chats/session-2026-11-20T10-00-6a1b2c3d.jsonl",
        {cat("\xEF\xBB\xBF{'sessionId':'", kId, "','startTime':'2026-11-20T10:00:00.000Z'}"),
         "{'id':'1','type':'user','content':'','parts':[{'text':'Why?'}]}"});
  open("gemini");
  EXPECT_EQ(transcript(kId), (Lines{"user: Why?"}));
  EXPECT_TRUE(damage(kId).empty());
}

TEST_F(GeminiTest, ReadsEveryResultWithoutAnId) {
  const auto result = [](std::string_view text) {
    return cat("{'role':'user','parts':[{'functionResponse':{'name':'f','response':{'output':'",
               text, "'}}}]}");
  };
  write("tmp/x/checkpoint-one.json", {cat("[", result("first"), ",", result("second"), "]")});
  open("gemini");
  EXPECT_EQ(transcript(only_id()), (Lines{"tool:  = first", "tool:  = second"}));
}

TEST_F(GeminiTest, ReadsCheckpointsWithAnyName) {
  write("tmp/x/checkpoint-my größe.json", {"[{'role':'user','parts':[{'text':'Why?'}]}]"});
  open("gemini");
  EXPECT_EQ(transcript(only_id()), Lines{"user: Why?"});
}

TEST_F(GeminiTest, ACheckpointWithTheSameTagInAnotherFolderLeavesIdsUnchanged) {
  write("tmp/b/checkpoint-save.json",
        {"{'history':[{'role':'user','parts':[{'text':'Why?'}]}],'authType':'x'}"});
  open("gemini");
  const std::string id = only_id();
  write("tmp/a/checkpoint-save.json",
        {"{'history':[{'role':'user','parts':[{'text':'Else?'}]}],'authType':'x'}"});
  EXPECT_EQ(sessions().size(), 2U);
  EXPECT_EQ(transcript(id), Lines{"user: Why?"});
}

// Those of older versions have only the messages.
TEST_F(GeminiTest, ReadsOlderCheckpoints) {
  write("tmp/x/checkpoint-one.json", {"[{'role':'user','parts':[{'text':'Why?'}]},",
                                      "{'role':'model','parts':[{'text':'So.'}]}]"});
  open("gemini");
  const std::string id = only_id();
  EXPECT_EQ(sessions(), Lines{cat(id, " Why? (2)")});
  EXPECT_EQ(transcript(id), (Lines{"user: Why?", "assistant: So."}));
  EXPECT_TRUE(damage(id).empty());
}

TEST_F(GeminiTest, ATornFileHasItsWholeMessages) {
  const std::string file = "tmp/x/chats/session-2025-10-30T23-49-6a1b2c3d.json";
  append(file,
         cat("{\n \"sessionId\": \"", kId, "\",\n \"projectHash\": \"h\",\n \"messages\": [",
             "{\"id\": \"1\", \"type\": \"user\", \"content\": \"Hi\"},\n",
             "{\"id\": \"2\", \"type\": \"gemini\", \"content\": \"Ho\"}, {\"id\": \"3\", \"ty"));
  append(
      "tmp/x/chats/session-2025-10-30T23-50-6a1b2c3e.json",
      R"({"sessionId": "b", "projectHash": "h", "lastUpdated": "2025-10-30T23:52:00.000Z", "mess)");
  open("gemini");
  EXPECT_EQ(transcript(kId), (Lines{"user: Hi", "assistant: Ho"}));
  ASSERT_EQ(damage(kId).size(), 1U);
  EXPECT_TRUE(damage(kId)[0].where.ends_with("6a1b2c3d.json"));
  EXPECT_EQ(must(source().list({})).damage.size(), 2U);
  EXPECT_EQ(must(source_kind_of(location().native()))->name, "gemini");
}

TEST_F(GeminiTest, ContentFromFilesIsNotThePersons) {
  write(
      kFile,
      {start(),
       "{'id':'u1','type':'user','content':[{'text':'Explain @a'},{'text':'\\n--- Content from "
       "referenced files ---'},{'text':'\\nContent from @a:\\n'},{'text':'words'},{'text':'\\n--- "
       "End of content ---'},{'text':'please'}]}",
       message("u2", "user", "Again\\n--- Content from referenced files ---\\nwords")});
  open("gemini");
  EXPECT_EQ(session(kId).info.title, "Explain @a");
  std::string marks;
  for (const Message& message : must(read_all(source(), must(SessionId::parse(kId))))) {
    for (const Block& block : message.blocks) {
      marks += std::get<TextBlock>(block).extra.empty() ? "person " : "program ";
    }
  }
  EXPECT_EQ(marks, "person program program program program person person program ");
}

}  // namespace
}  // namespace reprise::test::gemini
