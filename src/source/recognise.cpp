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

// A JSON file is one object on any number of lines.
bool begins_with_lines_of(const fs::path& file, bool (*is_line)(JsonView)) {
  if (file.extension() == ".json") {
    const std::string bytes = read_beginning(file, kHeadBytes).value_or("");
    const std::size_t begin = bytes.find('{');
    const std::string object =
        begin == std::string::npos ? "" : intact_beginning(std::string_view(bytes).substr(begin));
    return !object.empty() && is_line(JsonView(object));
  }
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
  const auto has_any = [&](bool (*is_file)(const fs::path& file)) {
    std::vector<fs::path> files = files_below(location, depth, is_file, ignored);
    files.resize(std::min(files.size(), kFilesMax));
    return std::ranges::any_of(
        files, [&](const fs::path& file) { return begins_with_lines_of(file, is_line); });
  };
  return has_any([](const fs::path& file) { return file.extension() == ".jsonl"; }) ||
         has_any([](const fs::path& file) { return file.extension() == ".json"; });
}

}  // namespace reprise::source
