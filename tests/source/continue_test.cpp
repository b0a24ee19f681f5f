#include "base/text.h"
#include "source/source_fixture.h"
#include "support/must.h"

namespace reprise::test::continue_history {
namespace {

using Lines = std::vector<std::string>;

class ContinueTest : public SourceTest {};

TEST_F(ContinueTest, MessagesWithTheirCallsAndResults) {
  write("sessions/s1.json",
        {"{'sessionId':'s1','title':'Untitled Session','workspaceDirectory':'/home/a/x','history':["
         "{'message':{'role':'system','content':'Be brief'},'contextItems':[]},"
         "{'message':{'role':'user','content':[{'type':'text','text':'Why?'},{'type':'imageUrl',"
         "'imageUrl':{'url':'data:image/"
         "png;base64,AAAA'}}]},'contextItems':[{'name':'a','content':'b'}]},"
         "{'message':{'role':'thinking','content':'hm'},'contextItems':[]},"
         "{'message':{'role':'assistant','content':'','toolCalls':[{'id':'c1','type':'function',"
         "'function':{'name':'ls','arguments':'{}'}}],'usage':{'promptTokens':9,'completionTokens':"
         "4}},"
         "'contextItems':[],'toolCallStates':[{'toolCallId':'c1','status':'done','output':[{'name':"
         "'o',"
         "'content':'a.txt'}]}]},"
         "{'message':{'role':'assistant','content':'So.'},'contextItems':[]},17],"
         "'usage':{'promptTokens':100,'completionTokens':50,'totalCost':0.5}}"});
  write("sessions/sessions.json", {"[{'sessionId':'s1','title':'x'}]"});
  write("sessions/torn.json", {"{'sessionId':'torn','history':[{'message'"});
  open("continue");
  EXPECT_EQ(sessions(), Lines{"s1 Why? (6)"});
  EXPECT_EQ(transcript("s1"),
            (Lines{"*system: Be brief", "user: Why? | [image/png data:image/png;base64,AAAA]",
                   "assistant: (thinking) hm", "assistant: call ls c1 {}", "tool: c1 = a.txt",
                   "assistant: So."}));
  EXPECT_EQ(damage("s1").size(), 1U);
  EXPECT_EQ(must(source().list({})).damage.size(), 2U);
  EXPECT_EQ(session("s1").usage.output.value, 50) << "some requests have no message";
  EXPECT_FALSE(session("s1").usage.cost) << "the messages are priced";
  EXPECT_EQ(session("s1").info.working_dir, "/home/a/x");
}

TEST_F(ContinueTest, AResultWithAMessageOfItsOwnIsThereOnce) {
  write(
      "s1.json",
      {"{'sessionId':'s1','title':'T','history':[{'message':{'role':'assistant','content':'',"
       "'toolCalls':[{'id':'c1','function':{'name':'ls','arguments':'{}'}}]},'toolCallStates':[{"
       "'toolCallId':'c1','output':[{'content':'a'}]}]},{'message':{'role':'tool','content':'a',"
       "'toolCallId':'c1'}}],'usage':{'promptTokens':100,'completionTokens':50,'totalCost':0.5}}"});
  open("continue", "s1.json");
  EXPECT_EQ(transcript("s1"), (Lines{"assistant: call ls c1 {}", "tool: c1 = a"}));
  EXPECT_EQ(session("s1").usage.cost->str(), "0.5");
}

TEST_F(ContinueTest, CallsThatFailedOrWereCancelledAreErrors) {
  std::string calls;
  std::string states;
  for (const std::string status : {"done", "errored", "canceled", "generating"}) {
    const std::string_view comma = calls.empty() ? "" : ",";
    calls += cat(comma, "{'id':'", status, "','function':{'name':'ls','arguments':'{}'}}");
    states += cat(comma, "{'toolCallId':'", status, "','status':'", status,
                  "','output':[{'content':'x'}]}");
  }
  write("s1.json",
        {cat("{'sessionId':'s1','title':'T','history':[{'message':{'role':'assistant',",
             "'content':'','toolCalls':[", calls, "]},'toolCallStates':[", states, "]}]}")});
  open("continue", "s1.json");
  EXPECT_EQ(transcript("s1").at(1),
            "tool: done = x | errored failed: x | canceled failed: x | generating = x");
}

// The program `cn` writes it as the server sent it.
TEST_F(ContinueTest, MessagesHaveTheUsageAndTheModelOfTheirRequests) {
  write("s1.json",
        {"{'sessionId':'s1','title':'T','history':["
         "{'message':{'role':'assistant','content':'A','usage':{'prompt_tokens':100,"
         "'completion_tokens':20,'total_tokens':120,'prompt_tokens_details':{'cached_tokens':40},"
         "'completion_tokens_details':{'reasoning_tokens':5},'model':'m','cost_cents':0}}},"
         "{'message':{'role':'assistant','content':'B','usage':{'prompt_tokens':3,"
         "'completion_tokens':1,'prompt_tokens_details':{'cached_tokens':50,'cache_read_tokens':50,"
         "'cache_write_tokens':7},'model':'n'}}}],"
         "'usage':{'promptTokens':113,'completionTokens':21,'totalCost':0.5}}"});
  open("continue", "s1.json");
  const auto messages = must(read_all(source(), must(SessionId::parse("s1"))));
  Usage first{.input = {100}, .output = {20}, .reasoning = {5}, .cached = {40}};
  first.request_id = messages.at(0).usage->request_id;
  EXPECT_EQ(messages.at(0).usage, first);
  EXPECT_EQ(messages.at(0).model, "m");
  EXPECT_EQ(messages.at(1).usage->input.value, 60) << "not included by this provider";
  EXPECT_EQ(messages.at(1).usage->cache_written.value, 7);
  EXPECT_EQ(session("s1").info.model, "n");
  EXPECT_EQ(session("s1").usage.input.value, 160);
}

TEST_F(ContinueTest, ASummaryThatReplacedMessagesIsInjected) {
  write("s1.json",
        {"{'sessionId':'s1','title':'New Session','chatModelTitle':'Model','history':["
         "{'message':{'role':'assistant','content':'They met.'},'conversationSummary':'They met.'},"
         "{'message':{'role':'user','content':'And?'}},"
         "{'message':{'role':'assistant','content':'So.'},'conversationSummary':'They met again.'}"
         "]}"});
  open("continue", "s1.json");
  EXPECT_EQ(transcript("s1"), (Lines{"*assistant: They met.", "user: And?", "assistant: So."}));
  EXPECT_EQ(session("s1").info.title, "And?");
  EXPECT_EQ(session("s1").info.model, "Model");
}

TEST_F(ContinueTest, ReasoningBesideAnAnswerIsItsThinking) {
  write("s1.json", {"{'sessionId':'s1','title':'T','history':[{'message':{'role':'assistant',"
                    "'content':'So.'},'reasoning':{'active':false,'text':'hm','startAt':1}}]}"});
  open("continue", "s1.json");
  EXPECT_EQ(transcript("s1"), Lines{"assistant: (thinking) hm | So."});
}

TEST_F(ContinueTest, ACutFileHasWhatIsWhole) {
  write("s1.json", {"{'sessionId':'s1','title':'T','history':[{'message':{'role':'user','content':"
                    "'Hi'}},{'message':{'role':'assistant','conte"});
  open("continue", "s1.json");
  EXPECT_EQ(sessions(), Lines{"s1 T (1)"});
  EXPECT_EQ(transcript("s1"), Lines{"user: Hi"});
  EXPECT_EQ(damage("s1").size(), 1U);
}

TEST_F(ContinueTest, ItGrowsAndIsRecognised) {
  write("sessions/s1.json",
        {"{'title':'T','history':[{'message':{'role':'user','content':'Hi'}}]}"});
  EXPECT_EQ(must(source_kind_of(location().native()))->name, "continue");
  open("continue");
  EXPECT_EQ(transcript("s1"), Lines{"user: Hi"});
  std::filesystem::remove(location() / "sessions/s1.json");
  write("sessions/s1.json", {"{'title':'T','history':[{'message':{'role':'user','content':'Hi'}},"
                             "{'message':{'role':'assistant','content':'Yes'}}]}"});
  EXPECT_EQ(transcript("s1"), (Lines{"user: Hi", "assistant: Yes"}));
}

TEST_F(ContinueTest, TheFolderMayBeAUri) {
  write("sessions/s1.json",
        {"{'sessionId':'s1','workspaceDirectory':'file:///home/a/x%20y%2','history':["
         "{'message':{'role':'user','content':'Why?'}}]}"});
  open("continue");
  EXPECT_EQ(session("s1").info.working_dir, "/home/a/x y%2");
}

TEST_F(ContinueTest, ASessionBeganWhenTheListSaysSo) {
  write("sessions/s1.json",
        {"{'sessionId':'s1','history':[{'message':{'role':'user','content':'Why?'}}]}"});
  write("sessions/s2.json",
        {"{'sessionId':'s2','history':[{'message':{'role':'user','content':'How?'}}]}"});
  write("sessions/sessions.json", {"[{'sessionId':'s1','dateCreated':'1739118023126'},",
                                   "{'session_id':'s2','date_created':'1739118024'}]"});
  open("continue");
  EXPECT_EQ(format_time(session("s1").info.created_at), "2025-02-09T16:20:23.126Z");
  EXPECT_EQ(format_time(session("s2").info.created_at), "2025-02-09T16:20:24Z");
}

// Until the end of 2023, a session was a list of steps.
TEST_F(ContinueTest, ReadsTheFirstLayout) {
  const auto step = [](std::string_view members, std::string_view more = "") {
    return cat("{'step':{", members, "},'depth':0,'active':true", more, "}");
  };
  const std::string question =
      "'name':'User Input','class_name':'UserInputStep','user_input':'Why?','description':'Why?'";
  write(
      "sessions/s1.json",
      {cat("{'session_info':{'session_id':'s1','title':'New Session','date_created':'1700000000',",
           "'workspace_directory':'/home/a/x'},'history':{'timeline':[", step(question), ",",
           step("'name':'Answer','class_name':'SimpleChatStep','description':'Wrong'",
                ",'deleted':true"),
           ",", step("'name':'Wait','hide':true,'description':'hidden'"), ",",
           step("'name':'Answer','class_name':'SimpleChatStep','description':'So.'"),
           "],'current_index':2}}")});
  open("continue");
  EXPECT_EQ(transcript("s1"), (Lines{"user: Why?", "assistant: So."}));
  EXPECT_EQ(session("s1").info.title, "Why?");
  EXPECT_EQ(session("s1").info.working_dir, "/home/a/x");
  EXPECT_EQ(format_time(session("s1").info.created_at), "2023-11-14T22:13:20Z");
  EXPECT_EQ(sessions(true).size(), 2U) << "the answer that another one replaced";
}

TEST_F(ContinueTest, WithoutAQuestionTheFirstWordsAreTheTitle) {
  write("sessions/s1.json",
        {"{'sessionId':'s1','title':'New Session','history':[{'message':{'role':"
         "'system','content':'Rules'}}]}"});
  open("continue");
  EXPECT_EQ(sessions(), Lines{"s1 Rules (1)"});
  EXPECT_EQ(session("s1").info.title, "Rules");
}

}  // namespace
}  // namespace reprise::test::continue_history
