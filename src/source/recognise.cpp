#include <algorithm>
#include <vector>

#include "base/file.h"
#include "source/records.h"
#include "source/transcript.h"

namespace reprise::source {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kHeadBytes = 64 << 10;
constexpr std::size_t kFilesMax = 64;

bool begins_with_lines_of(const fs::path& file, bool (*is_line)(JsonView)) {
  const auto fd = open_foreign(file);
  bool is_known = false;
  ReadReport ignored;
  // An unreadable file is not recognised.
  return fd &&
         for_each_record(
             fd->get(), {file, 0, kHeadBytes}, {}, ignored,
             [&](const Record& record) { is_known = is_known || is_line(record.json); }) &&
         is_known;
}

}  // namespace

Result<bool> has_lines_of(const fs::path& location, int depth, bool (*is_line)(JsonView line)) {
  REPRISE_ASSIGN(const FileKind kind, kind_of(location));
  if (kind == FileKind::file) {
    return begins_with_lines_of(location, is_line);
  }
  ReadReport ignored;
  const auto is_jsonl = [](const fs::path& file) { return file.extension() == ".jsonl"; };
  std::vector<fs::path> files = files_below(location, depth, is_jsonl, ignored);
  files.resize(std::min(files.size(), kFilesMax));
  return std::ranges::any_of(
      files, [&](const fs::path& file) { return begins_with_lines_of(file, is_line); });
}

}  // namespace reprise::source
