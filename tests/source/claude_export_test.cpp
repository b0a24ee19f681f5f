#include "base/text.h"
#include "source/source_fixture.h"
#include "support/must.h"

namespace reprise::test::claude_export_history {
namespace {

using Lines = std::vector<std::string>;

std::string message(std::string_view uuid, std::string_view sender, std::string_view content,
                    std::string_view more = "") {
  return cat("{'uuid':'", uuid, "','sender':'", sender,
             "','created_at':'2026-01-02T03:04:05.678901Z','content':[", content, "]", more, "}");
}

std::string conversation(std::string_view uuid, std::string_view name, std::string_view messages) {
  return cat("{'uuid':'", uuid, "','name':'", name,
             "','created_at':'2026-01-02T03:04:05Z','updated_at':'2026-01-03T03:04:05Z',"
             "'account':{'uuid':'me'},'chat_messages':[",
             messages, "]}");
}

class ClaudeExportTest : public SourceTest {};

TEST_F(ClaudeExportTest, MessagesWithTheirBlocks) {
  write(
      "conversations.json",
      {cat(
          "[",
          conversation(
              "c1", "Named",
              cat(message("m1", "human", "{'type':'text','text':'Why?'}",
                          ",'text':'Why?','attachments':[{'file_name':'a.txt','extracted_content':"
                          "'In it'}]"),
                  ",",
                  message("m2", "assistant",
                          "{'type':'thinking','thinking':'hm'},{'type':'tool_use','id':'t1','name':"
                          "'web','input':{'q':1.0}},{'type':'tool_result','tool_use_id':'t1',"
                          "'content':[{'type':'text','text':'found'}],'is_error':false},"
                          "{'type':'token_budget','left':5},{'type':'text','text':'So.'}"))),
          ",", conversation("c2", "", message("m3", "human", "", ",'text':'Flat text'")), "]")});
  open("claude-export");
  EXPECT_EQ(sessions(), (Lines{"c2 Flat text (1)", "c1 Named (2)"}));
  EXPECT_EQ(transcript("c1"), (Lines{"user: In it | Why?",
                                     "assistant: (thinking) hm | call web t1 {\"q\":1.0} | t1 = "
                                     "found | ?token_budget | So."}));
  EXPECT_EQ(transcript("c2"), Lines{"user: Flat text"});
  EXPECT_EQ(session("c1").info.provider, "anthropic");
}

// A range of the file is not read together with what follows it.
TEST_F(ClaudeExportTest, ShortConversationsAreRead) {
  write("conversations.json", {"[{'chat_messages':[]},{'uuid':'c1','chat_messages':[]}]"});
  open("claude-export");
  EXPECT_EQ(sessions().size(), 2U);
  EXPECT_EQ(transcript("c1"), Lines{});
  EXPECT_EQ(transcript("x-cbf29ce4"), Lines{});
}

TEST_F(ClaudeExportTest, TitlesComeFromContentToo) {
  write("conversations.json",
        {cat("[", conversation("c1", "", message("m1", "human", "{'type':'text','text':'Why?'}")),
             "]")});
  open("claude-export");
  EXPECT_EQ(sessions(), Lines{"c1 Why? (1)"});
}

TEST_F(ClaudeExportTest, AttachedFilesWithoutTextAreNamed) {
  write("conversations.json",
        {cat("[",
             conversation("c1", "N",
                          message("m1", "human", "{'type':'text','text':'See'}",
                                  ",'attachments':[{'file_name':'a.bin','extracted_content':''}]")),
             "]")});
  open("claude-export");
  EXPECT_EQ(transcript("c1"), Lines{"user: ?unknown | See"});
}

TEST_F(ClaudeExportTest, MetadataOfASession) {
  write("conversations.json",
        {"[{'uuid':'c1','name':'Named','model':'claude-x','created_at':'2026-01-02T03:04:05Z',"
         "'updated_at':'2026-01-03T03:04:05Z','chat_messages':[",
         message("m1", "human", "{'type':'text','text':'Why?'}"), "]}]"});
  open("claude-export");
  EXPECT_EQ(metadata("c1"), "Named|anthropic|claude-x||2026-01-02T03:04:05Z|2026-01-03T03:04:05Z");
}

TEST_F(ClaudeExportTest, ParentsMakeBranches) {
  const std::string_view root = ",'parent_message_uuid':'00000000-0000-4000-8000-000000000000'";
  write("conversations.json",
        {cat("[",
             conversation(
                 "c1", "N",
                 cat(message("m1", "human", "{'type':'text','text':'One'}", root), ",",
                     message("m2", "assistant", "{'type':'text','text':'A'}",
                             ",'parent_message_uuid':'m1'"),
                     ",", message("m3", "human", "{'type':'text','text':'Other'}", root), ",",
                     message("m4", "assistant", "{'type':'text','text':'B'}",
                             ",'parent_message_uuid':'m3'"))),
             "]")});
  open("claude-export");
  EXPECT_EQ(transcript("c1"), (Lines{"user: Other", "assistant: B"}));
  EXPECT_EQ(sessions(true).size(), 2U);
}

TEST_F(ClaudeExportTest, ItIsToldFromChatgptsAndATornOneHasWhatIsWhole) {
  const std::string one = conversation("c1", "N", message("m1", "human", "", ",'text':'x'"));
  write("conversations.json", {cat("[", one, ",", one.substr(0, 90))});
  EXPECT_EQ(must(source_kind_of(location().native()))->name, "claude-export");
  open("claude-export");
  EXPECT_EQ(sessions(), Lines{"c1 N (1)"});
  EXPECT_FALSE(must(source().list({})).damage.empty());
}

}  // namespace
}  // namespace reprise::test::claude_export_history
