#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "base/testing/temporary_folder.h"
#include "export/exported.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename());
  }
  return names;
}

class ExportToFile : public testing::Test {
 protected:
  Result<> write(const fs::path& file, ExistingFile existing = ExistingFile::refused,
                 const std::stop_token& stop = {}) {
    const SessionId id = session_id(kExportedId);
    return export_to_file(*store_, std::span(&id, 1), *find_export_format("json"), file,
                          {.existing = existing, .stop = stop});
  }

  TemporaryFolder folder_;
  std::unique_ptr<Store> store_ = store_with(exported_session(), exchange_with_tools());
};

TEST_F(ExportToFile, CreatesAPrivateFile) {
  const fs::path file = folder_.path() / "a.json";
  ASSERT_TRUE(works(write(file)));
  EXPECT_EQ(content(file), exported_as("json", *store_).text);
  struct stat status{};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_THAT(names_in(folder_.path()), ElementsAre("a.json"));
}

TEST_F(ExportToFile, ReplacesOnlyOnRequest) {
  const fs::path file = folder_.path() / "a.json";
  std::ofstream(file) << "mine";
  EXPECT_TRUE(fails(write(file), Code::conflict));
  EXPECT_EQ(content(file), "mine");
  EXPECT_TRUE(works(write(file, ExistingFile::replaced)));
  EXPECT_THAT(content(file), HasSubstr("Release notes"));
  EXPECT_THAT(names_in(folder_.path()), ElementsAre("a.json"));
}

TEST_F(ExportToFile, DoesNotFollowLinks) {
  const fs::path victim = folder_.path() / "victim";
  std::ofstream(victim) << "mine";
  const fs::path link = folder_.path() / "a.json";
  fs::create_symlink(victim, link);
  EXPECT_TRUE(fails(write(link), Code::invalid_argument));
  EXPECT_TRUE(fails(write(link, ExistingFile::replaced), Code::invalid_argument));
  EXPECT_EQ(content(victim), "mine");
}

TEST_F(ExportToFile, DoesNotFollowLinksInAFolder) {
  const auto hash = must(store_->capabilities().blobs->put_blob("x"));
  Message image{.role = "user"};
  image.blocks.emplace_back(ImageBlock{"image/png", hash, "", {}});
  const SessionId id = session_id(kExportedId);
  must(store_->append(id, {image}, {}));
  const fs::path elsewhere = folder_.path() / "elsewhere";
  const fs::path out = folder_.path() / "out";
  fs::create_directories(elsewhere);
  fs::create_directories(out);
  fs::create_symlink(elsewhere, out / "2026-01-18-release-notes-067a33fd.files");
  EXPECT_FALSE(export_to_folder(*store_, id, *find_export_format("md"), out,
                                {.existing = ExistingFile::replaced}));
  EXPECT_TRUE(fs::is_empty(elsewhere));
}

// The files beside a document may be there from an export that was interrupted.
TEST_F(ExportToFile, AcceptsItsOwnFilesBesideADocument) {
  const auto hash = must(store_->capabilities().blobs->put_blob("pixels"));
  Message image{.role = "user"};
  image.blocks.emplace_back(ImageBlock{"image/png", hash, "", {}});
  const SessionId id = session_id(kExportedId);
  must(store_->append(id, {image}, {}));
  const ExportFormat& format = *find_export_format("md");
  const fs::path document = must(export_to_folder(*store_, id, format, folder_.path(), {}));
  fs::remove(document);
  EXPECT_EQ(must(export_to_folder(*store_, id, format, folder_.path(), {})), document);
  const fs::path file =
      fs::path(document).replace_extension(".files") / (hash.str().substr(0, 16) + ".png");
  for (const char* other : {"mine", "pixels and more", "pixel"}) {
    fs::remove(document);
    std::ofstream(file) << other;
    const auto repeated = export_to_folder(*store_, id, format, folder_.path(), {});
    ASSERT_FALSE(repeated) << other;
    EXPECT_EQ(repeated.error().code, Code::conflict);
    EXPECT_EQ(content(file), other);
  }
}

TEST_F(ExportToFile, LeavesNothingWhenStopped) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(fails(write(folder_.path() / "a.json", ExistingFile::refused, stop.get_token()),
                    Code::cancelled));
  EXPECT_THAT(names_in(folder_.path()), IsEmpty());
}

TEST_F(ExportToFile, OneFileHoldsOneSession) {
  const std::vector<SessionId> two(2, session_id(kExportedId));
  EXPECT_TRUE(fails(
      export_to_file(*store_, two, *find_export_format("json"), folder_.path() / "a.json", {}),
      Code::invalid_argument));
}

TEST_F(ExportToFile, SanitizesTitlesInFileNames) {
  Session hostile = exported_session();
  hostile.info.title = "../../x\n\x1b[2J/\x7f *";
  const auto store = store_with(hostile, {});
  const fs::path file = must(
      export_to_folder(*store, hostile.info.id, *find_export_format("md"), folder_.path(), {}));
  EXPECT_EQ(file.parent_path(), folder_.path());
  EXPECT_EQ(file.filename(), "2026-01-18-x-2j-067a33fd.md");
}

// Names have only a part of the id.
TEST_F(ExportToFile, LengthensDuplicateNames) {
  const auto store = open_memory_store();
  std::vector<fs::path> files;
  for (const std::string_view id :
       {"01a208dc-0000-7000-8000-000000000001", "01a208dc-0000-7000-8000-000000000002"}) {
    must(store->create(session(id)));
    files.push_back(must(export_to_folder(*store, session_id(id), *find_export_format("gemini"),
                                          folder_.path(), {.taken = files})));
  }
  EXPECT_EQ(names_in(folder_.path()).size(), 2U);
  EXPECT_TRUE(files.back().stem().native().ends_with("01a208dc-0000-7000-8000-000000000002"));
  EXPECT_TRUE(files.back().filename().native().starts_with(files.front().stem().native()));
}

TEST_F(ExportToFile, ReportsUnknownSessions) {
  const SessionId id = session_id("nobody");
  MemoryOutput output;
  EXPECT_TRUE(
      fails(export_session(*store_, id, *find_export_format("md"), output), Code::not_found));
}

}  // namespace
}  // namespace reprise
