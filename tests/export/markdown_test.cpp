#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/encode.h"
#include "export/exported.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(ExportMarkdown, ShowsAllMessages) {
  const ExportedText out = exported_as("md", exchange_with_tools());
  EXPECT_THAT(out.text, HasSubstr("# Release notes\n"));
  EXPECT_THAT(out.text, HasSubstr("Be brief."));
  EXPECT_THAT(out.text, HasSubstr("\n*tokens: 100 in, 20 out*\n"));
  EXPECT_THAT(out.text, HasSubstr("> (thinking) Which files?"));
  EXPECT_THAT(out.text, HasSubstr("tool call `read_file` (call_1)"));
  EXPECT_THAT(out.text, HasSubstr("tool error (call_2)\n```\nno such folder\n```"));
  EXPECT_THAT(out.exported.losses, ElementsAre("the signatures of thinking"));
}

// The members of every provider, each source once.
TEST(ExportedTexts, ListWhatAnAnswerCites) {
  Message answer{.role = "assistant"};
  answer.blocks.emplace_back(
      TextBlock{"one",
                {{"citations", raw(R"([{"type":"web_search_result_location","url":"https://a/1",)"
                                   R"("title":"First"},{"document_title":"A book"}])")}}});
  answer.blocks.emplace_back(TextBlock{
      "two",
      {{"annotations", raw(R"([{"type":"url_citation","url":"https://a/2","title":"<b>"},)"
                           R"({"type":"url_citation","url_citation":{"url":"https://a/1"}},)"
                           R"({"type":"file_citation","filename":"plan.pdf"}])")},
       {"citations", raw(R"(["https://a/3","javascript:x"])")},
       {"search_results", raw(R"([{"title":"Third","url":"https://a/3"},7,null])")}}});
  EXPECT_THAT(exported_as("md", std::vector{answer}).text,
              HasSubstr("Sources:\n\n1. First: https://a/1\n2. A book\n3. Third: https://a/3\n"
                        "4. javascript:x\n5. <b>: https://a/2\n6. plan.pdf\n"));
  const std::string page = exported_as("html", std::vector{answer}).text;
  EXPECT_THAT(page, HasSubstr("<a rel=\"noreferrer noopener\" href=\"https://a/1\">First</a>"));
  EXPECT_THAT(page, HasSubstr("href=\"https://a/2\">&lt;b&gt;</a>"));
  EXPECT_THAT(page, HasSubstr("<li>javascript:x</li>"));
  EXPECT_THAT(exported_as("md", std::vector{user("no sources")}).text, Not(HasSubstr("Sources")));
}

TEST(ExportMarkdown, RemovesControlCharacters) {
  const ExportedText out =
      exported_as("md", std::vector{user("\x1b[2J \xe2\x80\xae hidden \x07 `````")});
  EXPECT_THAT(out.text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(out.text, Not(HasSubstr("\xe2\x80\xae")));
}

// A fence in a result cannot end the block that it stands in.
TEST(ExportMarkdown, LengthensFences) {
  Message result{.role = "tool"};
  result.blocks.emplace_back(ToolResultBlock{
      .tool_use_id = "c", .text = "````\n# not a heading", .blob = {}, .extra = {}});
  EXPECT_THAT(exported_as("md", std::vector{result}).text,
              HasSubstr("`````\n````\n# not a heading\n`````\n"));
}

// A format that loses fields of messages reports it, at any position.
TEST(ExportLosses, ReportFieldsOfMessagesAndBlocks) {
  const Extra fields = {{"field", raw("1")}};
  Message with_fields = message(role::kAssistant, "text");
  with_fields.extra = fields;
  const std::vector<Block> blocks = {TextBlock{"text", fields}, ThinkingBlock{"hm", "", fields},
                                     ToolUseBlock{"c", "f", raw("{}"), fields}};
  const auto is_named = [](std::string_view format, const Message& candidate) {
    const auto losses = exported_as(format, std::vector{candidate}).exported.losses;
    return std::ranges::find(losses, "fields of messages from other programs") != losses.end();
  };
  int losing = 0;
  for (const ExportFormat& format : export_formats()) {
    const bool loses = is_named(format.name, with_fields);
    losing += loses ? 1 : 0;
    for (const Block& block : blocks) {
      Message candidate = message(role::kAssistant, "text");
      candidate.blocks.push_back(block);
      EXPECT_EQ(is_named(format.name, candidate), loses) << format.name << " " << block.index();
    }
  }
  EXPECT_GT(losing, 0);
}

TEST(ExportMarkdown, WritesBlobsToFiles) {
  const auto store = store_with(exported_session(), {});
  Blobs& blobs = *store->capabilities().blobs;
  const std::string png = "\x89PNG\r\n\x1a\n";
  const BlobHash image = must(blobs.put_blob(png));
  const BlobHash large = must(blobs.put_blob("all of it"));
  Message message{.role = "user"};
  message.blocks.emplace_back(ImageBlock{"image/png", image, "", {}});
  message.blocks.emplace_back(
      ToolResultBlock{.tool_use_id = "c", .text = "all…", .blob = large, .extra = {}});
  must(store->append(session_id(kExportedId), {message}, {}));

  MemoryOutput output;
  output.has_files = true;
  must(export_session(*store, session_id(kExportedId), *find_export_format("md"), output));
  const std::string image_name = image.str().substr(0, 16) + ".png";
  const std::string text_name = large.str().substr(0, 16) + ".txt";
  EXPECT_THAT(output.files,
              ElementsAre(std::pair(image_name, png), std::pair(text_name, "all of it")));
  EXPECT_THAT(output.text, HasSubstr("![image](files/" + image_name + ")"));
  EXPECT_THAT(output.text, HasSubstr("[the whole result](files/" + text_name + ")"));

  const ExportedText alone = exported_as("md", *store);
  EXPECT_THAT(alone.text, HasSubstr("all of it"));
  EXPECT_THAT(alone.exported.losses, ElementsAre(HasSubstr("images; export into a folder")));
}

// It is damage, and the message has the beginning of the result.
TEST(ExportMarkdown, DoesNotLinkResultsThatCannotBeRead) {
  Message message{.role = "tool"};
  message.blocks.emplace_back(ToolResultBlock{
      .tool_use_id = "c", .text = "all…", .blob = must(sha256("gone")), .extra = {}});
  const auto store = store_with(exported_session(), {message});
  MemoryOutput output;
  output.has_files = true;
  const ExportResult exported =
      must(export_session(*store, session_id(kExportedId), *find_export_format("md"), output));
  EXPECT_EQ(exported.damage.size(), 1U);
  EXPECT_THAT(output.files, IsEmpty());
  EXPECT_THAT(output.text, HasSubstr("all…"));
  EXPECT_THAT(output.text, Not(HasSubstr("whole result")));
}

// An image's type is foreign text, too.
TEST(ExportMarkdown, DoesNotNameFilesAfterForeignText) {
  const auto store = store_with(exported_session(), {});
  const BlobHash hash = must(store->capabilities().blobs->put_blob("x"));
  Message message{.role = "user"};
  message.blocks.emplace_back(ImageBlock{"image/../../../x", hash, "", {}});
  must(store->append(session_id(kExportedId), {message}, {}));
  MemoryOutput output;
  output.has_files = true;
  must(export_session(*store, session_id(kExportedId), *find_export_format("md"), output));
  ASSERT_EQ(output.files.size(), 1U);
  EXPECT_EQ(output.files[0].first, hash.str().substr(0, 16) + ".bin");
}

}  // namespace
}  // namespace reprise
