#include "cli/program/open_sessions.h"

#include <cstdint>
#include <system_error>

#include "base/encode.h"
#include "base/json_view.h"
#include "base/json_write.h"
#include "base/text.h"

namespace reprise::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOpenFolder = "open";
constexpr std::int64_t kMarkBytesMax = 64 << 10;

std::optional<OpenSession> read_mark(const std::string& text) {
  if (!RawJson::parse(text)) {
    return std::nullopt;  // it is being written
  }
  const JsonView json(text);
  const auto [store, session, folder] = json.members({"store", "session", "folder"});
  auto id = SessionId::parse(session.text());
  if (!id) {
    return std::nullopt;
  }
  return OpenSession{.store_url = store.text(), .id = *std::move(id), .folder = folder.text()};
}

}  // namespace

Result<TemporaryFile> mark_open(const fs::path& state_folder, const OpenSession& session) {
  const std::string text = json::object_of("store", session.store_url, "session", session.id.str(),
                                           "folder", session.folder);
  const fs::path path = state_folder / kOpenFolder / hex_encode(hash_of_words(text));
  REPRISE_TRY(make_private_folders(path.parent_path()));
  REPRISE_ASSIGN(TemporaryFile file, TemporaryFile::create(path));
  REPRISE_TRY(write_all(file.fd(), text, file.name()));
  return file;
}

Result<std::vector<OpenSession>> find_open_sessions(const fs::path& state_folder,
                                                    std::string_view store_url) {
  const fs::path folder = state_folder / kOpenFolder;
  sweep_temporary_files(folder, [](std::string_view /*name*/) { return true; });
  std::vector<OpenSession> out;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    REPRISE_ASSIGN(const auto text, if_exists(read_file(entry->path(), kMarkBytesMax)));
    if (auto mark = read_mark(text.value_or("")); mark && mark->store_url == store_url) {
      out.push_back(*std::move(mark));
    }
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return std::unexpected(os_error("read the folder", folder, error.value()));
  }
  return out;
}

}  // namespace reprise::cli
