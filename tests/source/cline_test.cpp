#include "base/text.h"
#include "source/source_fixture.h"
#include "support/must.h"

namespace reprise::test::cline_history {
namespace {

using Lines = std::vector<std::string>;

class ClineTest : public SourceTest {
 protected:
  static constexpr std::string_view kFolder = "data/sessions/1763600000000_s1/";
};

TEST_F(ClineTest, MessagesWithWhatTheProgramPutAroundThem) {
  write(cat(kFolder, "s1.json"), {"{'cwd':'/home/a/x','prompt':'<user_input>other</"
                                  "user_input>','metadata':{'title':'Named'}}"});
  write(
      cat(kFolder, "s1.messages.json"),
      {"{'system_prompt':'Be brief','messages':["
       "{'id':'m1','role':'user','ts':1763600000000,'content':[{'type':'text','text':"
       "'<user_input mode=\\'act\\'>Why?</user_input>'}]},"
       "{'id':'m2','role':'assistant','ts':1763600001000,'content':[{'type':'thinking','thinking':"
       "'hm'},{'type':'tool_use','id':'c1','name':'run','input':{'x':1.0}}],'modelInfo':{'id':'c-1'"
       ","
       "'provider':'anthropic'},'metrics':{'inputTokens':9,'outputTokens':4,'cost':0.25}},"
       "{'id':'m3','role':'user','content':[{'type':'tool_result','tool_use_id':'c1','content':[{"
       "'query':'q','result':'done','success':true},{'query':'r','error':'no','success':false}]}]},"
       "{'id':'m4','role':'user','content':'Your previous response was cut off. Go on.'},"
       "{'id':'m5','role':'assistant','content':[{'type':'text','text':'API error'}],'metadata':{"
       "'displayOnly':true}},"
       "{'id':'m6','role':'user','content':'more','metadata':{'userRunSpan':0}},"
       "{'id':'m7','role':'assistant','content':[{'type':'of_tomorrow'}]}]}"});
  open("cline");
  EXPECT_EQ(sessions(), Lines{"s1 Named (7)"});
  EXPECT_EQ(transcript("s1"),
            (Lines{"user: Why?", "assistant: (thinking) hm | call run c1 {\"x\":1.0}",
                   "tool: c1 failed: done\nno", "*user: Your previous response was cut off. Go on.",
                   "*assistant: API error", "*user: more", "assistant: ?of_tomorrow"}));
  const Session found = session("s1");
  EXPECT_EQ(found.system_prompt, "Be brief");
  EXPECT_EQ(found.usage.output.value, 4);
  EXPECT_EQ(found.info.working_dir, "/home/a/x");
  EXPECT_EQ(format_time(found.info.created_at), "2025-11-20T00:53:20Z");
}

TEST_F(ClineTest, TheSessionHasTheLastKnownModelInEitherForm) {
  write(cat(kFolder, "s1.messages.json"),
        {"{'messages':[{'id':'m1','role':'user','content':'Why?'},"
         "{'id':'m2','role':'assistant','content':'So.',"
         "'modelInfo':{'modelId':'c-1','providerId':'anthropic'}},"
         "{'id':'m3','role':'assistant','content':'And so.','modelInfo':{}}]}"});
  open("cline");
  EXPECT_EQ(session("s1").info.model, "c-1");
  EXPECT_EQ(session("s1").info.provider, "anthropic");
}

TEST_F(ClineTest, ARenameIsNoticed) {
  write(cat(kFolder, "s1.json"), {"{'metadata':{'title':'Old'}}"});
  write(cat(kFolder, "s1.messages.json"),
        {"{'messages':[{'id':'m1','role':'user','content':'Why?'}]}"});
  open("cline");
  EXPECT_EQ(sessions(), Lines{"s1 Old (1)"});
  EXPECT_EQ(session("s1").info.title, "Old");
  std::filesystem::remove(location() / cat(kFolder, "s1.json"));
  write(cat(kFolder, "s1.json"), {"{'metadata':{'title':'Newer'}}"});
  EXPECT_EQ(session("s1").info.title, "Newer");
}

TEST_F(ClineTest, SubAgentsAreListedWithTheBranchesOnly) {
  write(cat(kFolder, "1763600000000_s1.messages.json"),
        {"{'messages':[{'id':'m1','role':'user','content':'Why?'}]}"});
  write(cat(kFolder, "agent_1763600000001_x.messages.json"),
        {"{'agent':'subagent','origin':{'mode':'subagent','parentThreadId':'1763600000000_s1'},"
         "'messages':[{'id':'m2','role':'user','content':'Look'},"
         "{'id':'m3','role':'assistant','content':'Done.'}]}"});
  open("cline");
  EXPECT_EQ(sessions(), Lines{"1763600000000_s1 Why? (1)"});
  EXPECT_EQ(sessions(true).size(), 2U);
  EXPECT_EQ(transcript("agent_1763600000001_x"), (Lines{"*user: Look", "assistant: Done."}));
  const Session agent = session("agent_1763600000001_x");
  ASSERT_EQ(agent.extra.size(), 1U);
  EXPECT_EQ(agent.extra[0].name, "parent");
  EXPECT_EQ(agent.extra[0].value, RawJson::string("1763600000000_s1"));
}

TEST_F(ClineTest, ResultsHaveAllTheirParts) {
  write(cat(kFolder, "s1.messages.json"),
        {"{'messages':[{'id':'m1','role':'user','content':'Why?'},"
         "{'id':'m2','role':'user','content':[{'type':'tool_result','tool_use_id':'c1','content':["
         "{'type':'text','text':'seen'},{'type':'image','source':{'type':'base64','media_type':"
         "'image/png','data':'AAAA'}},{'type':'of_tomorrow'}]}]}]}"});
  open("cline");
  EXPECT_EQ(transcript("s1"),
            (Lines{"user: Why?",
                   "tool: c1 = seen | [image/png data:image/png;base64,AAAA] | ?of_tomorrow"}));
}

TEST_F(ClineTest, WithoutItsOtherFileTheFirstQuestionIsTheTitle) {
  write(cat(kFolder, "s1.messages.json"),
        {"{'messages':[{'id':'m1','role':'user','content':'Why?'}]}"});
  write("data/sessions/2_t/t.messages.json", {"{'messages':[{"});
  open("cline");
  EXPECT_EQ(sessions(), Lines{"s1 Why? (1)"});
  EXPECT_EQ(must(source().list({})).damage.size(), 1U);
  EXPECT_EQ(must(source_kind_of(location().native()))->name, "cline");
}

TEST_F(ClineTest, AnOtherFileThatCannotBeReadIsDamage) {
  write(cat(kFolder, "s1.messages.json"),
        {"{'messages':[{'id':'m1','role':'user','content':'Why?'}]}"});
  append("meta.json", "{}");
  std::filesystem::create_symlink(location() / "meta.json", location() / kFolder / "s1.json");
  write("data/sessions/2_t/t.messages.json",
        {"{'messages':[{'id':'m1','role':'user','content':'So?'}]}"});
  write("data/sessions/2_t/t.json", {"{'cwd':'/home"});
  open("cline");
  EXPECT_EQ(sessions().size(), 2U);
  EXPECT_EQ(must(source().list({})).damage.size(), 2U);
  EXPECT_EQ(session("s1").info.title, "Why?");
  EXPECT_EQ(transcript("s1"), Lines{"user: Why?"});
  EXPECT_EQ(damage("s1").size(), 1U);
  EXPECT_EQ(damage("t").size(), 1U);
}

TEST_F(ClineTest, AResultWithAnErrorHasItsWords) {
  write(cat(kFolder, "s1.messages.json"),
        {"{'messages':[{'id':'m1','role':'user','content':'Why?'},"
         "{'id':'m2','role':'user','content':[{'type':'tool_result','tool_use_id':'c1','content':["
         "{'query':'ls','result':'','success':false,'error':'no such folder'},"
         "{'query':'cat','result':'half','success':false,'error':'killed'}]}]}]}"});
  open("cline");
  EXPECT_EQ(transcript("s1").at(1), "tool: c1 failed: no such folder\nhalf\nkilled");
}

// Those of the extensions for editors, Cline and Roo.
TEST_F(ClineTest, ReadsTasks) {
  const std::string task = "tasks/1763600000000/api_conversation_history.json";
  write(task, {"[{'role':'user','content':[{'type':'text','text':'<task>\\nPaint "
               "it\\n</task>'},{'type':'text',"
               "'text':'<environment_details>\\nfiles\\n</environment_details>'}]},",
               "{'role':'assistant','content':[{'type':'text','text':'<read_file/>'}]},",
               "{'role':'user','content':[{'type':'text','text':'[read_file for a] "
               "Result:'},{'type':'text',"
               "'text':'words'}]}]"});
  write("tasks/b-2/api_conversation_history.json", {"[{'role':'user','content':'Torn?'},{'role'"});
  write("tasks/b-2/history_item.json", {"{'id':'b-2','task':'Mend it','workspace':'/home/a/x'}"});
  open("cline");
  EXPECT_EQ(transcript("1763600000000"),
            (Lines{"user: Paint it | <environment_details>\nfiles\n</environment_details>",
                   "assistant: <read_file/>", "*user: [read_file for a] Result: words"}));
  EXPECT_EQ(session("1763600000000").info.title, "Paint it");
  EXPECT_EQ(format_time(session("1763600000000").info.created_at), "2025-11-20T00:53:20Z");
  EXPECT_EQ(transcript("b-2"), Lines{"user: Torn?"});
  EXPECT_EQ(session("b-2").info.title, "Mend it");
  EXPECT_EQ(session("b-2").info.working_dir, "/home/a/x");
  EXPECT_EQ(must(source().list({})).damage.size(), 1U);
  for (const std::string_view place : {"", "tasks", "tasks/1763600000000"}) {
    const SourceKind* const kind = must(source_kind_of((location() / place).native()));
    ASSERT_NE(kind, nullptr) << place;
    EXPECT_EQ(kind->name, "cline") << place;
  }
}

}  // namespace
}  // namespace reprise::test::cline_history
