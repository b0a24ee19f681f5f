// fuzz_stores --kind=KIND: an arbitrary file of a store. Everything that can be read is still
// readable after a message was appended. For databases, the input is not the file itself, which
// SQLite would only reject, but changes of bytes in a valid one, in which nothing needs to be
// preserved.

#include <stdlib.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <ios>
#include <iterator>

#include "fuzzing.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "support/store_files.h"

using reprise::fuzz::require;

namespace {

namespace fs = std::filesystem;
using reprise::Store;
using reprise::test::kDatabaseFile;
using reprise::test::kStoreFiles;
using reprise::test::StoreFile;

// Each requires reading the whole file in some stores, and the first few are like the others.
constexpr std::size_t kSessionsMax = 4;

const fs::path& work_folder() {
  static const fs::path folder = [] {
    const bool has_memory = fs::exists("/dev/shm");
    std::string name =
        (has_memory ? fs::path("/dev/shm") : fs::temp_directory_path()) / "fuzz.XXXXXX";
    require(::mkdtemp(name.data()) != nullptr, "no folder to work in");
    static const std::string kept = name;
    require(std::atexit([] { fs::remove_all(kept); }) == 0, "the folder would stay");
    return fs::path(name);
  }();
  return folder;
}

const StoreFile& file_of(std::string_view name) {
  const auto* const found = std::ranges::find(kStoreFiles, name, &StoreFile::name);
  require(found != kStoreFiles.end(), "usage: fuzz_stores --kind=KIND");
  return *found;
}

const StoreFile* chosen = nullptr;

void clear_folder() {
  for (const auto& entry : fs::directory_iterator(work_folder())) {
    fs::remove_all(entry.path());
  }
}

reprise::Message message_with(std::string text) {
  reprise::Message message;
  message.role = reprise::role::kUser;
  message.blocks.emplace_back(reprise::TextBlock{std::move(text), {}});
  return message;
}

// A database with a session of two messages, all in one file.
std::string make_database() {
  const fs::path copy = work_folder() / "copy.db";
  {
    const auto store = reprise::open_sqlite_store(work_folder() / "made.db");
    require(store.has_value(), "no database");
    const auto id = *reprise::SessionId::parse(reprise::test::kStoreFilesId);
    require((*store)->create({.info = {.id = id, .title = "Leagues"}}) &&
                (*store)->append(
                    id, {message_with("How long is a league?"), message_with("And a mile?")}, {}) &&
                (*store)->capabilities().backup->backup(copy),
            "no database");
  }
  std::ifstream in(copy, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Every four bytes of the input change one byte of the database: three are the offset, the fourth
// is the value.
std::string changed_database(std::string_view changes) {
  static const std::string whole = make_database();
  std::string out = whole;
  for (; changes.size() >= 4; changes.remove_prefix(4)) {
    std::size_t at = 0;
    for (const char part : changes.substr(0, 3)) {
      at = at << 8U | static_cast<unsigned char>(part);
    }
    out[at % out.size()] = changes[3];
  }
  return out;
}

// The ids of the sessions with the texts of their messages.
std::vector<std::vector<std::string>> texts_in(Store& store,
                                               const std::vector<reprise::SessionInfo>& sessions) {
  std::vector<std::vector<std::string>> out;
  for (const auto& info : sessions) {
    auto& texts = out.emplace_back();
    (void)store.read(info.id, {}, [&texts](const reprise::Message& message) {
      texts.push_back(reprise::message_to_json(message));
      return reprise::Flow::proceed;
    });  // on an error, there is nothing to compare
  }
  return out;
}

void add_message(Store& store, const reprise::SessionInfo& info) {
  // If this is refused, nothing may change, which is checked below.
  (void)store.append(info.id, {message_with("one more")}, {});
}

void use(const StoreFile& file) {
  const auto store = reprise::open_store(reprise::test::store_url_of(file, work_folder()));
  if (!store) {
    return;
  }
  auto page =
      (*store)->list({.states = {reprise::SessionState::active, reprise::SessionState::closed,
                                 reprise::SessionState::archived}});
  if (!page) {
    return;
  }
  if ((*store)->capabilities().repair != nullptr) {
    (void)(*store)->capabilities().repair->verify();  // its result does not matter here
  }
  while (page->sessions.size() > kSessionsMax) {
    page->sessions.pop_back();
  }
  const auto before = texts_in(**store, page->sessions);
  for (const auto& info : page->sessions) {
    if (info.state == reprise::SessionState::archived) {
      (void)(*store)->capabilities().archives->unarchive(info.id);  // refused if it is unsafe
    }
    add_message(**store, info);
  }
  const auto after = texts_in(**store, page->sessions);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const bool is_unchanged = after[i].size() >= before[i].size() &&
                              std::equal(before[i].begin(), before[i].end(), after[i].begin());
    require(is_unchanged || file.name == kDatabaseFile, "a message that could be read is gone");
  }
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming, readability-non-const-parameter): libFuzzer's.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  constexpr std::string_view kFlag = "--kind=";
  for (const char* const word : std::span(*argv, static_cast<std::size_t>(*argc))) {
    if (std::string_view(word).starts_with(kFlag)) {
      chosen = &file_of(std::string_view(word).substr(kFlag.size()));
    }
  }
  require(chosen != nullptr, "usage: fuzz_stores --kind=KIND");
  return 0;
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = reprise::fuzz::text_of(data, size);
  const std::string content =
      chosen->name == kDatabaseFile ? changed_database(input) : std::string(input);
  clear_folder();
  const fs::path file = work_folder() / chosen->file;
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << content;
  use(*chosen);
  return 0;
}
// NOLINTEND(readability-identifier-naming, readability-non-const-parameter)
