#include "base/text.h"
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
  EXPECT_EQ(must(source_kind_of((place() / "a.json").native()))->name, "llamacpp");
}

}  // namespace
}  // namespace reprise::test::llamacpp_history
