#include <sys/resource.h>

#include <algorithm>

#include "base/text.h"
#include "chatdir/zip_bytes.h"
#include "source/source_fixture.h"
#include "support/must.h"

namespace reprise::test::chatgpt_history {
namespace {

using Lines = std::vector<std::string>;

// A node of a mapping.
std::string node(std::string_view id, std::string_view parent, std::string_view message) {
  return cat("'", id, "':{'id':'", id, "','parent':", parent.empty() ? "null" : "'", parent,
             parent.empty() ? "" : "'", ",'children':[],'message':", message, "}");
}

std::string message_node(std::string_view id, std::string_view role, std::string_view content,
                         std::string_view more = "") {
  return cat("{'id':'", id, "','author':{'role':'", role,
             "'},'create_time':1763600000.25,'content':", content, more, "}");
}

std::string text(std::string_view words) {
  return cat("{'content_type':'text','parts':['", words, "']}");
}

std::string say(std::string_view id, std::string_view parent, std::string_view role,
                std::string_view words, std::string_view more = "") {
  return node(id, parent, message_node(id, role, text(words), more));
}

std::string conversation(std::string_view id, std::string_view current, const Lines& nodes,
                         std::string_view more = "") {
  std::string all;
  for (const std::string& one : nodes) {
    all += cat(all.empty() ? "" : ",", one);
  }
  return cat("{'title':'Talk ", id, "','create_time':1763600000.0,'update_time':1763600100.5,",
             "'mapping':{", all, "},'conversation_id':'", id, "','current_node':'", current, "'",
             more, "}");
}

class ChatgptTest : public SourceTest {
 protected:
  void write_export(const Lines& conversations, const std::string& file = "conversations.json") {
    std::string all = "[";
    for (const std::string& one : conversations) {
      all += cat(all.size() > 1 ? "," : "", one);
    }
    write(file, {all + "]"});
  }
};

TEST_F(ChatgptTest, TheActiveBranchIsTheSessionAndSiblingsAreForks) {
  write_export(
      {conversation("c1", "a2",
                    {node("root", "", "null"), say("u1", "root", "user", "Why?"),
                     say("a1", "u1", "assistant", "A"),
                     say("a2", "u1", "assistant", "B", ",'metadata':{'model_slug':'gpt-x'}")})});
  open("chatgpt");
  EXPECT_EQ(transcript("c1"), (Lines{"user: Why?", "assistant: B"}));
  EXPECT_EQ(sessions(), Lines{"c1 Talk c1 (2)"});
  const Lines all = sessions(true);
  ASSERT_EQ(all.size(), 2U);
  const std::string fork = all[0].starts_with("~") ? all[0] : all[1];
  EXPECT_EQ(transcript(fork.substr(1, fork.find(' ') - 1)), (Lines{"user: Why?", "assistant: A"}));
  EXPECT_EQ(session("c1").info.model, "gpt-x");
  EXPECT_EQ(format_time(session("c1").info.updated_at), "2025-11-20T00:55:00.500Z");
}

TEST_F(ChatgptTest, ToolCallsArePaired) {
  write_export({conversation(
      "c1", "a1",
      {say("u1", "", "user", "Sum"),
       node("k1", "u1",
            message_node("k1", "assistant",
                         "{'content_type':'code','language':'python','text':'1+1'}",
                         ",'recipient':'python'")),
       node("r1", "k1",
            message_node("r1", "tool", "{'content_type':'execution_output','text':'2'}",
                         ",'recipient':'all'")),
       say("a1", "r1", "assistant", "Two.", ",'recipient':'all'")})});
  open("chatgpt");
  EXPECT_EQ(transcript("c1"), (Lines{"user: Sum", "assistant: call python k1 \"1+1\"",
                                     "tool: k1 = 2", "assistant: Two."}));
}

TEST_F(ChatgptTest, HiddenAndSystemMessagesAreInjectedAndEmptyOnesAreNone) {
  write_export({conversation(
      "c1", "a1",
      {node("s0", "", message_node("s0", "system", text(""))),
       node("s1", "s0",
            message_node("s1", "user",
                         "{'content_type':'user_editable_context','user_profile':'P','user_"
                         "instructions':'I'}",
                         ",'metadata':{'is_user_system_message':true}")),
       say("h1", "s1", "user", "hidden",
           ",'metadata':{'is_visually_hidden_from_conversation':true}"),
       say("u1", "h1", "user", "Hello"), say("a1", "u1", "assistant", "Hi")})});
  open("chatgpt");
  EXPECT_EQ(transcript("c1"),
            (Lines{"*user: P | I", "*user: hidden", "user: Hello", "assistant: Hi"}));
}

TEST_F(ChatgptTest, CitationMarksAreKeptBesideTheText) {
  const std::string cited =
      "See this\xEE\x88\x80"
      "cite\xEE\x88\x82turn0search3\xEE\x88\x81. \xEE\x88\x83"
      "Bold\xEE\x88\x84 "
      "\xEE\x88\x80"
      "entity\xEE\x88\x82[\\'city\\',\\'Paris\\']\xEE\x88\x81!";
  write_export({conversation("c1", "a1",
                             {say("u1", "", "user", "x"), say("a1", "u1", "assistant", cited)})});
  open("chatgpt");
  EXPECT_EQ(transcript("c1")[1], "assistant: See this. Bold Paris!");
  const auto messages = must(read_all(source(), must(SessionId::parse("c1"))));
  const auto& block = std::get<TextBlock>(messages[1].blocks[0]);
  ASSERT_EQ(block.extra.size(), 1U);
  EXPECT_NE(block.extra[0].value.text().find("turn0search3"), std::string::npos);
}

TEST_F(ChatgptTest, ThoughtsCutAnswersAndUnknownContent) {
  write_export({conversation(
      "c1", "a2",
      {say("u1", "", "user", "x"),
       node("t1", "u1",
            message_node("t1", "assistant",
                         "{'content_type':'thoughts','thoughts':[{'summary':'S','content':'C'}]}")),
       node("t2", "t1", message_node("t2", "assistant", "{'content_type':'of tomorrow','x':1}")),
       say("a1", "t2", "assistant", "to", ",'status':'in_progress'"),
       say("a2", "a1", "assistant", "stop",
           ",'metadata':{'finish_details':{'type':'interrupted'}}")})});
  open("chatgpt");
  EXPECT_EQ(transcript("c1"), (Lines{"user: x", "assistant: (thinking) S\nC", "assistant: ?unknown",
                                     "assistant (cut): to", "assistant (cut): stop"}));
}

TEST_F(ChatgptTest, ImagesThatAreThereAreImages) {
  const std::string parts =
      "{'content_type':'multimodal_text','parts':[{'content_type':'image_asset_pointer',"
      "'asset_pointer':'file-service://file-A1'},{'content_type':'image_asset_pointer',"
      "'asset_pointer':'sediment://file_gone'},'What is it?']}";
  write_export({conversation("c1", "u1", {node("u1", "", message_node("u1", "user", parts))})});
  append("file-A1-photo.png", "\x89PNGxx");
  open("chatgpt");
  EXPECT_EQ(transcript("c1"), (Lines{"user: [image/png data:image/png;base64,iVBOR3h4] | "
                                     "?unknown | What is it?"}));
}

TEST_F(ChatgptTest, DrawingsOfCodeAreImages) {
  const auto drawing = [](std::string_view id, std::string_view parent, std::string_view file) {
    return node(id, parent,
                message_node(id, "tool", "{'content_type':'execution_output','text':'done'}",
                             cat(",'metadata':{'aggregate_result':{'messages':[{'message_type':"
                                 "'stream','text':'done'},{'message_type':'image','image_url':"
                                 "'file-service://",
                                 file, "'}]}}")));
  };
  write_export(
      {conversation("c1", "t2",
                    {say("u1", "", "user", "Draw"),
                     node("k1", "u1",
                          message_node("k1", "assistant",
                                       "{'content_type':'code','language':'python','text':'1+1'}",
                                       ",'recipient':'python'")),
                     drawing("t1", "k1", "file-A1"), drawing("t2", "t1", "file-gone")})});
  append("file-A1.dat", "\x89PNGxx");
  open("chatgpt");
  EXPECT_EQ(transcript("c1"), (Lines{"user: Draw", "assistant: call python k1 \"1+1\"",
                                     "tool: k1 = done | [image/png data:image/png;base64,iVBOR3h4]",
                                     "tool: k1 = done"}));
}

TEST_F(ChatgptTest, FilesCanBeSentWithoutWords) {
  write_export({conversation(
      "c1", "u2",
      {say("u1", "", "user", "See",
           ",'metadata':{'attachments':[{'name':'a.pdf','mime_type':'application/pdf'},"
           "{'name':'a.png','mime_type':'image/png'}]}"),
       say("u2", "u1", "user", "", ",'metadata':{'attachments':[{'name':'b.csv'}]}")})});
  open("chatgpt");
  EXPECT_EQ(transcript("c1"), (Lines{"user: See | ?unknown", "user: ?unknown"}));
}

TEST_F(ChatgptTest, ResultsOfBrowsingHaveASummary) {
  write_export({conversation(
      "c1", "t1",
      {say("u1", "", "user", "Find"),
       node("t1", "u1",
            message_node(
                "t1", "tool",
                "{'content_type':'tether_browsing_display','result':'','summary':'Found'}"))})});
  open("chatgpt");
  EXPECT_EQ(transcript("c1"), (Lines{"user: Find", "tool:  = Found"}));
}

// A file that somebody sent must not read private files near it into a conversation, from where
// they would be sent to a model.
TEST_F(ChatgptTest, PointersReadNothingButImagesOfAnExport) {
  const auto pointing_at = [](std::string_view name) {
    return conversation(
        "c1", "u1",
        {node("u1", "",
              message_node("u1", "user",
                           cat("{'content_type':'multimodal_text','parts':[{'content_type':"
                               "'image_asset_pointer','asset_pointer':'file-service://",
                               name, "'}]}")))});
  };
  const Lines nothing{"user: ?unknown"};
  append("id_rsa", "\x89PNG private");
  append("file-A1.txt", "private");
  append("file-B2.png", "\x89PNGxx");
  for (const std::string_view name : {"id_rsa", "file-A1", "file-../id_rsa", "file-*", "file"}) {
    std::filesystem::remove(location() / "conversations.json");
    write_export({pointing_at(name)});
    open("chatgpt");
    EXPECT_EQ(transcript("c1"), nothing) << name;
  }
  std::filesystem::remove(location() / "conversations.json");
  write_export({pointing_at("file-B2")});
  open("chatgpt");
  EXPECT_NE(transcript("c1"), nothing);
  std::filesystem::rename(location() / "conversations.json", location() / "sent.json");
  open("chatgpt", "sent.json");
  EXPECT_EQ(transcript("c1"), nothing) << "a file alone has no images";
}

TEST_F(ChatgptTest, CirclesMissingParentsAndAMissingEndAreNoEnd) {
  write_export({conversation("c1", "nowhere",
                             {say("a", "b", "user", "one"), say("b", "a", "assistant", "two"),
                              say("c", "gone", "user", "alone")})});
  open("chatgpt");
  EXPECT_FALSE(transcript("c1").empty());
  EXPECT_FALSE(damage("c1").empty());
  EXPECT_EQ(sessions(true).size(), 2U);
}

TEST_F(ChatgptTest, ShardsAreOneExportAndTheNewestOfOneIdIsTheSession) {
  write_export({conversation("c1", "u1", {say("u1", "", "user", "old")})},
               "conversations-000.json");
  std::string newer = conversation("c1", "u1", {say("u1", "", "user", "new")});
  newer.replace(newer.find("1763600100.5"), 12, "1763600200.5");
  write_export({newer, conversation("c2", "u1", {say("u1", "", "user", "x")})},
               "conversations-001.json");
  open("chatgpt");
  EXPECT_EQ(sessions().size(), 2U);
  EXPECT_EQ(transcript("c1"), Lines{"user: new"});
}

TEST_F(ChatgptTest, ADamagedConversationCostsNothingButItself) {
  write("conversations.json",
        {cat("[", conversation("c1", "u1", {say("u1", "", "user", "x")}), ",",
             conversation("c2", "u1", {say("u1", "", "user", "y")}).substr(0, 150),
             conversation("c3", "u1", {say("u1", "", "user", "z")}), "]")});
  open("chatgpt", "conversations.json");
  EXPECT_EQ(sessions().size(), 2U);
  EXPECT_EQ(transcript("c3"), Lines{"user: z"});
  EXPECT_EQ(must(source().list({})).damage.size(), 1U);
}

TEST_F(ChatgptTest, AZipIsReadWithItsImages) {
  std::string json = cat(
      "[",
      conversation(
          "c1", "u1",
          {node("u1", "",
                message_node("u1", "user",
                             "{'content_type':'multimodal_text','parts':[{'content_type':"
                             "'image_asset_pointer','asset_pointer':'sediment://file_b2'}]}"))}),
      "]");
  std::ranges::replace(json, '\'', '"');
  append("export.zip",
         zip_of({{.name = "user.json", .data = "{}"},
                 {.name = "../evil.json", .data = "[]"},
                 {.name = "conversations.json", .data = json},
                 {.name = "dalle-generations/file_b2-x.webp", .data = "RIFF1234WEBP5"}}));
  open("chatgpt", "export.zip");
  EXPECT_EQ(sessions(), Lines{"c1 Talk c1 (1)"});
  EXPECT_EQ(transcript("c1"), Lines{"user: [image/webp data:image/webp;base64,UklGRjEyMzRXRUJQN]"});
  EXPECT_EQ(must(source_kind_of((location() / "export.zip").native()))->name, "chatgpt");
}

TEST_F(ChatgptTest, PartsOfAZipThatAreRefusedAreReported) {
  const auto json = [](std::string_view id) {
    std::string text = cat("[", conversation(id, "u1", {say("u1", "", "user", "x")}), "]");
    std::ranges::replace(text, '\'', '"');
    return text;
  };
  append("export.zip",
         zip_of({{.name = "conversations-1.json", .data = json("c1")},
                 {.name = "conversations-2.json", .data = json("c2"), .flags = 0x0801},
                 {.name = "conversations-3.json", .data = "[]", .claimed_size = 1'000'000},
                 {.name = "../conversations-4.json", .data = json("c4")},
                 {.name = "locked.webp", .data = "x", .flags = 0x0801}}));
  open("chatgpt", "export.zip");
  EXPECT_EQ(sessions(), Lines{"c1 Talk c1 (1)"});
  Lines refused;
  for (const Damage& damage : must(source().list({})).damage) {
    refused.push_back(damage.where.substr(damage.where.rfind("export.zip/")));
  }
  std::ranges::sort(refused);
  EXPECT_EQ(refused, (Lines{"export.zip/../conversations-4.json", "export.zip/conversations-2.json",
                            "export.zip/conversations-3.json"}));
}

// More than a process may have open.
TEST_F(ChatgptTest, ManyPartsNeedFewDescriptors) {
  constexpr int kParts = 150;
  constexpr rlim_t kOpenMax = 100;
  std::vector<ZipEntryBytes> parts;
  for (int i = 0; i < kParts; ++i) {
    std::string text =
        cat("[", conversation(cat("c", i), "u1", {say("u1", "", "user", cat("x", i))}), "]");
    std::ranges::replace(text, '\'', '"');
    parts.push_back({.name = cat("conversations-", i, ".json"), .data = text});
    append(cat("unpacked/", parts.back().name), text);
  }
  append("export.zip", zip_of(parts));
  struct rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const struct rlimit few = {.rlim_cur = kOpenMax, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  for (const std::string_view place : {"export.zip", "unpacked"}) {
    open("chatgpt", place);
    EXPECT_EQ(must(source().list({.limit = kPageMax})).sessions.size(), std::size_t{kParts});
    EXPECT_EQ(transcript("c0"), Lines{"user: x0"});
    EXPECT_EQ(transcript(cat("c", kParts - 1)), Lines{cat("user: x", kParts - 1)});
    EXPECT_TRUE(must(source().list({})).damage.empty());
  }
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_F(ChatgptTest, ItsFolderAndFileAreRecognised) {
  write_export({conversation("c1", "u1", {say("u1", "", "user", "x")})});
  EXPECT_EQ(must(source_kind_of(location().native()))->name, "chatgpt");
  EXPECT_EQ(must(source_kind_of((location() / "conversations.json").native()))->name, "chatgpt");
}

}  // namespace
}  // namespace reprise::test::chatgpt_history
