#include <algorithm>

#include "base/text.h"
#include "chatdir/zip_bytes.h"
#include "source/source_fixture.h"
#include "support/must.h"

namespace reprise::test::llamacpp_history {
namespace {

using Lines = std::vector<std::string>;

std::string message(std::string_view id, std::string_view parent, std::string_view role,
                    std::string_view text, std::string_view more = "") {
  return cat("{'id':'", id, "','convId':'c1','type':'text','timestamp':1763600000123,'parent':'",
             parent, "','role':'", role, "','content':'", text, "','children':[]", more, "}");
}

std::string conversation(std::string_view id, std::string_view leaf, std::string_view messages) {
  return cat("{'conv':{'id':'", id, "','name':'Talk','lastModified':1763600099000,'currNode':'",
             leaf,
             "'},'messages':[{'id':'root','type':'root','timestamp':1763600000000,'role':"
             "'system','content':'','parent':null,'children':['u1']},",
             messages, "]}");
}

class LlamacppTest : public SourceTest {};

TEST_F(LlamacppTest, TheBranchOfTheCurrentNodeWhateverTheOrder) {
  write("a.json",
        {conversation("c1", "a2",
                      cat(message("a1", "u1", "assistant", "A"), ",",
                          message("a2", "u1", "assistant", "B",
                                  ",'reasoningContent':'hm','model':'qwen','timings':{'prompt_n':9,"
                                  "'predicted_n':4}"),
                          ",", message("u1", "root", "user", "Why?")))});
  open("llamacpp", "a.json");
  EXPECT_EQ(sessions(), Lines{"c1 Talk (2)"});
  EXPECT_EQ(transcript("c1"), (Lines{"user: Why?", "assistant: (thinking) hm | B"}));
  EXPECT_EQ(sessions(true).size(), 2U);
  EXPECT_EQ(session("c1").usage.output.value, 4);
  EXPECT_EQ(session("c1").info.model, "qwen");
}

// The times are those of the first and last message, whatever their order in the file.
TEST_F(LlamacppTest, MetadataOfASession) {
  write(
      "a.json",
      {"{'conv':{'id':'c1','name':'Talk','lastModified':1763600001000,'currNode':'a1'},'messages':"
       "[{'id':'a1','timestamp':1763600005000,'parent':'u1','role':'assistant','content':'A',"
       "'model':'qwen'},{'id':'u1','timestamp':1763600003000,'parent':null,'role':'user',"
       "'content':'Why?'}]}"});
  open("llamacpp", "a.json");
  EXPECT_EQ(metadata("c1"), "Talk|llamacpp|qwen||2025-11-20T00:53:23Z|2025-11-20T00:53:25Z");
}

TEST_F(LlamacppTest, CallsFilesAndOlderThoughts) {
  write(
      "a.json",
      {cat("[",
           conversation(
               "c1", "t1",
               cat(message("u1", "root", "user", "See",
                           ",'extra':[{'type':'imageFile','name':'a.png','base64Url':"
                           "'data:image/png;base64,AAAA'},{'type':'textFile','name':'b','content':"
                           "'In b'},{'type':'audioFile','name':'c'}]"),
                   ",",
                   message("a1", "u1", "assistant", "",
                           ",'thinking':'old','toolCalls':'[{\\'id\\':\\'k\\',\\'function\\':"
                           "{\\'name\\':\\'f\\',\\'arguments\\':\\'{}\\'}}]'"),
                   ",", message("t1", "a1", "tool", "done", ",'toolCallId':'k'"))),
           ",{'conv':{'id':'c2'},'messages':[]}]")});
  open("llamacpp", "a.json");
  EXPECT_EQ(sessions().size(), 2U);
  EXPECT_EQ(transcript("c1"),
            (Lines{"user: [image/png data:image/png;base64,AAAA] | In b | ?audioFile | See",
                   "assistant: (thinking) old | call f k {}", "tool: k = done"}));
  EXPECT_EQ(must(source_kind_of((location() / "a.json").native()))->name, "llamacpp");
}

std::string session_line(std::string_view id, std::string_view leaf, std::string_view more = "") {
  return cat("{'harness':'llama.app','type':'session','id':'", id,
             "','name':'Talk','lastModified':1763600099000,'currNode':'", leaf, "'", more, "}");
}

std::string message_line(std::string_view message) {
  return cat("{'message':", message, ",'type':'message'}");
}

TEST_F(LlamacppTest, SessionsOfLines) {
  write("a.jsonl",
        {session_line("c1", "a2", ",'pinned':true"),
         message_line("{'id':'root','type':'root','timestamp':1763600000000,'role':'system',"
                      "'content':'','parent':null,'children':['s']}"),
         message_line(message("s", "root", "system", "Be brief")),
         message_line(message("u1", "s", "user", "Why?")),
         message_line(message("a1", "u1", "assistant", "",
                              ",'toolCalls':[{'id':'k','type':'function','function':{'name':'f',"
                              "'arguments':'{}'}}]")),
         message_line(message("t1", "a1", "tool", "done", ",'toolCallId':'k'")),
         message_line(message("a2", "t1", "assistant", "So.")), "{'type':'of_tomorrow'}",
         session_line("c2", "", ",'forkedFromConversationId':'c1'"),
         message_line(message("v1", "", "user", "And?"))});
  open("llamacpp", "a.jsonl");
  EXPECT_EQ(sessions(), (Lines{"c1 Talk (5)", "~c2 Talk (1)"}));
  EXPECT_EQ(transcript("c1"), (Lines{"*system: Be brief", "user: Why?", "assistant: call f k {}",
                                     "tool: k = done", "assistant: So."}));
  EXPECT_EQ(transcript("c2"), Lines{"user: And?"});
  EXPECT_TRUE(session("c1").info.pinned);
  EXPECT_TRUE(must(source().list({})).damage.empty());
  EXPECT_EQ(must(source_kind_of((location() / "a.jsonl").native()))->name, "llamacpp");
}

TEST_F(LlamacppTest, AZipOfLinesIsRead) {
  std::string one =
      cat(session_line("c1", "u1"), "\n", message_line(message("u1", "", "user", "x")));
  std::string two = session_line("c2", "");
  std::ranges::replace(one, '\'', '"');
  std::ranges::replace(two, '\'', '"');
  append("all.zip", zip_of({{.name = "2026-11-20_conv_c1_talk.jsonl", .data = one},
                            {.name = "2026-11-20_conv_c2_talk.jsonl", .data = two}}));
  open("llamacpp", "all.zip");
  EXPECT_EQ(sessions(), (Lines{"c2 Talk (0)", "c1 Talk (1)"}));
  EXPECT_EQ(transcript("c1"), Lines{"user: x"});
  EXPECT_EQ(must(source_kind_of((location() / "all.zip").native()))->name, "llamacpp");
}

TEST_F(LlamacppTest, DamagedLinesAreNoEnd) {
  write("a.jsonl", {session_line("c1", "a1"), message_line(message("u1", "", "user", "Why?")),
                    "{'message':{'id':", message_line(message("a1", "u1", "assistant", "So.")),
                    session_line("c2", "")});
  write("b.json", {conversation("c3", "u1", message("u1", "root", "user", "Old"))});
  open("llamacpp");
  EXPECT_EQ(sessions(), (Lines{"c3 Talk (1)", "c2 Talk (0)", "c1 Talk (2)"}));
  EXPECT_EQ(must(source().list({})).damage.size(), 1U);
}

TEST_F(LlamacppTest, AttachedFilesByWhatTheyHold) {
  write("a.json",
        {conversation(
            "c1", "u1",
            message("u1", "root", "user", "See",
                    ",'extra':[{'type':'IMAGE','name':'a.png','base64Url':"
                    "'data:image/png;base64,AAAA'},{'type':'TEXT','name':'b','content':'In b'},"
                    "{'type':'PDF','name':'c','base64Data':'AAAA','content':'In c','images':[],"
                    "'processedAsImages':false},{'type':'AUDIO','name':'d','base64Data':'AA'}]"))});
  open("llamacpp", "a.json");
  EXPECT_EQ(transcript("c1"),
            (Lines{"user: [image/png data:image/png;base64,AAAA] | In b | [application/pdf "
                   "data:application/pdf;base64,AAAA] | In c | ?AUDIO | See"}));
}

TEST_F(LlamacppTest, SummariesAndSystemPromptsAreInjected) {
  const std::string summary =
      "{'id':'s','convId':'c1','type':'compaction','timestamp':1763600000124,'parent':'u1','role':"
      "'user','content':'They asked why','children':[]}";
  write("a.json",
        {conversation("c1", "s", cat(message("u1", "root", "user", "Why?"), ",", summary))});
  open("llamacpp", "a.json");
  EXPECT_EQ(transcript("c1"), (Lines{"user: Why?", "*user: They asked why"}));
  EXPECT_EQ(summaries("c1"), Lines{"They asked why"});
}

// A fork is a copy with other ids.
TEST_F(LlamacppTest, ARequestOfAForkIsTheSame) {
  const std::string timings = ",'timings':{'prompt_n':9,'prompt_ms':1.25,'predicted_n':4}";
  const auto talk = [&](std::string_view id, std::string_view answer) {
    return conversation(id, answer, message(answer, "root", "assistant", "A", timings));
  };
  write("a.json", {cat("[", talk("c1", "a1"), ",", talk("c2", "b1"), "]")});
  open("llamacpp", "a.json");
  const auto request_of = [this](std::string_view id) {
    std::string request;
    (void)must(source().read(must(SessionId::parse(id)), {}, [&](Message&& one) {
      request = one.usage.value_or(Usage{}).request_id;
      return Flow::proceed;
    }));
    return request;
  };
  EXPECT_NE(request_of("c1"), "");
  EXPECT_EQ(request_of("c1"), request_of("c2"));
}

}  // namespace
}  // namespace reprise::test::llamacpp_history
