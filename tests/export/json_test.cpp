#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/encode.h"
#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "export/exported.h"
#include "reprise/open_source.h"
#include "support/build.h"
#include "support/must.h"
#include "support/print.h"

namespace reprise {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct ReadBack {
  ExportedSession session;
  std::vector<Message> messages;
  std::vector<std::pair<std::string, std::string>> blobs;
};

Result<ReadBack> read_back(std::string_view text) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "a.json";
  std::ofstream(file, std::ios::binary) << text;
  std::vector<Message> messages;
  std::vector<std::pair<std::string, std::string>> blobs;
  REPRISE_ASSIGN(ExportedSession session,
                 read_export(file, {.on_message = [&](Message&& message) -> Result<> {
                                      messages.push_back(std::move(message));
                                      return {};
                                    },
                                    .on_blob = [&](ExportedBlob&& blob) -> Result<> {
                                      blobs.emplace_back(blob.hash.str(), blob.bytes);
                                      return {};
                                    }}));
  return ReadBack{std::move(session), std::move(messages), std::move(blobs)};
}

TEST(ExportJson, ReadsBackEqual) {
  const auto store = store_with(full_session(kExportedId), {full_message(), user("again")});
  const auto& id = session_id(kExportedId);
  const ExportedText out = exported_as("json", *store);
  EXPECT_THAT(out.exported.losses, IsEmpty());
  const ReadBack back = must(read_back(out.text));
  EXPECT_EQ(back.session.session, must(get(*store, id)));
  EXPECT_EQ(back.messages, must(read_all(*store, id)));
}

TEST(ExportJson, KeepsHardTexts) {
  std::vector<Message> hard;
  for (const std::string& text : hard_texts()) {
    hard.push_back(user(text));
  }
  const auto store = store_with(exported_session(), hard);
  const ExportedText out = exported_as("json", *store);
  EXPECT_TRUE(RawJson::parse(out.text.substr(0, out.text.size() - 1)));
  EXPECT_EQ(must(read_back(out.text)).messages, must(read_all(*store, session_id(kExportedId))));
}

// JSON preserved in its spelling may contain line ends, even ones that look like ours.
TEST(ExportJson, KeepsLineEndsWithinJson) {
  Message call = assistant("");
  call.blocks = {ToolUseBlock{"c", "f", raw("{\n\"a\":[\n],\n\"b\":\"]}\"\n}"), {}}};
  call.extra = {{"x", raw("[\n]")}};
  Session session = exported_session();
  session.config = raw("{\n\"a\":[\n]\n}");
  const auto store = store_with(session, {call, user("next")});
  const ReadBack back = must(read_back(exported_as("json", *store).text));
  EXPECT_EQ(back.messages, must(read_all(*store, session.info.id)));
  EXPECT_EQ(back.session.session.config, session.config);
}

TEST(ExportJson, KeepsTodosAndBlobs) {
  const auto store = store_with(exported_session(), {});
  const SessionId id = session_id(kExportedId);
  const std::string bytes(200'001, '\xff');
  const BlobHash hash = must(store->capabilities().blobs->put_blob(bytes));
  Message result{.role = "tool"};
  result.blocks.emplace_back(
      ToolResultBlock{.tool_use_id = "c", .text = "begin", .blob = hash, .extra = {}});
  must(store->append(id, {result, result}, {}));
  must(store->capabilities().todos->edit_todos(id, [](std::vector<Todo>& todos) -> Result<> {
    todos.push_back({.content = "write", .active_form = {}, .extra = {}});
    return {};
  }));
  const ReadBack back = must(read_back(exported_as("json", *store).text));
  EXPECT_THAT(back.blobs, ElementsAre(std::pair(hash.str(), bytes)));
  ASSERT_EQ(back.session.todos.size(), 1U);
  EXPECT_EQ(back.session.todos[0].content, "write");
}

TEST(ExportJson, ReportsMissingBlobs) {
  Message image{.role = "user"};
  image.blocks.emplace_back(ImageBlock{"image/png", must(sha256("x")), "", {}});
  const ExportedText out = exported_as("json", std::vector{image});
  ASSERT_EQ(out.exported.damage.size(), 1U);
  EXPECT_THAT(out.exported.damage[0].where, HasSubstr(must(sha256("x")).str()));
  EXPECT_THAT(must(read_back(out.text)).blobs, IsEmpty());
}

// As a source, it must not yield other bytes than those of the hash.
TEST(ExportJson, ReportsChangedBlobs) {
  const auto store = store_with(exported_session(), {});
  const BlobHash hash = must(store->capabilities().blobs->put_blob("pixels"));
  Message image{.role = "user"};
  image.blocks.emplace_back(ImageBlock{"image/png", hash, "", {}});
  must(store->append(session_id(kExportedId), {image}, {}));
  std::string text = exported_as("json", *store).text;
  const TemporaryFolder folder;
  for (const std::string_view bytes : {"pixels", "pixelz"}) {
    const std::string before = base64_encode("pixels");
    text.replace(text.rfind(before), before.size(), base64_encode(bytes));
    must(replace_file(folder.path() / "a.json", text));
    const auto source = must(open_source(folder.path().native()));
    std::string read;
    const auto done =
        source->capabilities().blob_reader->read_blob(hash, [&](std::string_view piece) {
          read += piece;
          return Flow::proceed;
        });
    EXPECT_EQ(read, bytes);
    EXPECT_EQ(done.has_value(), bytes == "pixels");
    EXPECT_TRUE(done || done.error().code == Code::corrupt);
  }
}

// The file is read once for all artefacts, and a damaged one does not hide those before it.
TEST(ExportJson, CachesArtefacts) {
  const auto store = store_with(exported_session(), {user("a")});
  const SessionId id = session_id(kExportedId);
  for (const char* name : {"one", "three", "two"}) {
    must(store->capabilities().artefacts->save_artefact(id, {0}, name, cat("this is ", name)));
  }
  std::string text = exported_as("json", *store).text;
  const auto damage = [&text](std::string_view name) {
    text[text.find(base64_encode(cat("this is ", name)))] = '!';
  };
  damage("two");
  const TemporaryFolder folder;
  const auto file = folder.path() / "a.json";
  must(replace_file(file, text));
  const auto source = must(open_source(folder.path().native()));
  ArtefactReader& artefacts = *source->capabilities().artefact_reader;
  EXPECT_EQ(must(artefacts.find_artefact(id, {0}, "one")), "this is one");
  EXPECT_TRUE(fails(artefacts.find_artefact(id, {0}, "two"), Code::corrupt));
  EXPECT_EQ(must(artefacts.find_artefact(id, {0}, "one")), "this is one");
  const auto changed_at = std::filesystem::last_write_time(file);
  damage("three");
  std::ofstream(file, std::ios::binary) << text;  // the same size and time: seen as unchanged
  std::filesystem::last_write_time(file, changed_at);
  EXPECT_EQ(must(artefacts.find_artefact(id, {0}, "three")), "this is three");
}

TEST(ExportJson, RejectsTruncatedFiles) {
  const std::string text = exported_as("json", std::vector{user("a"), assistant("b")}).text;
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    ASSERT_FALSE(read_back(text.substr(0, cut))) << "cut at byte " << cut;
  }
}

// However the bytes are changed, the result is a session or an error.
TEST(ExportJson, SurvivesChangedBytes) {
  const std::string document = exported_as("json", exchange_with_tools()).text;
  const TemporaryFolder folder;
  const auto file = folder.path() / "a.json";
  std::uint32_t random = 12'345;
  const auto next = [&random](std::size_t below) {
    random = random * 1'664'525U + 1'013'904'223U;
    return (random >> 8U) % below;
  };
  for (int round = 0; round < 300; ++round) {
    std::string text = document;
    for (std::size_t change = next(4) + 1; change > 0; --change) {
      constexpr std::string_view kBytes = "{}[]\",:\n\\0e\xff\x00";
      text[next(text.size())] = kBytes[next(kBytes.size())];
    }
    text.erase(next(text.size()), next(3));
    std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
    (void)read_export(file, {});  // either is fine
  }
}

TEST(ExportJson, RejectsOtherFilesAndLaterVersions) {
  EXPECT_TRUE(fails(read_back("{}\n"), Code::corrupt));
  EXPECT_TRUE(fails(read_back("\xff\xfe\n"), Code::corrupt));
  EXPECT_TRUE(fails(read_back("{\"format\":\"reprise\",\"version\":2,\n"), Code::unsupported));
}

TEST(ExportJson, ReturnsErrorsOfTheSink) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "a.json";
  std::ofstream(file) << exported_as("json", std::vector{user("a")}).text;
  EXPECT_TRUE(fails(read_export(file, {.on_message = [](Message&&) -> Result<> {
                                  return fail(Code::io, "full");
                                }}),
                    Code::io));
}

}  // namespace
}  // namespace reprise
