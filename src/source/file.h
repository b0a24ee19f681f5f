#pragma once

// Reading other programs' files while those write them. Nothing here writes, locks or creates
// files; where the system allows it, not even access times change.

#include <filesystem>

#include "base/file.h"
#include "reprise/session.h"  // IWYU pragma: export
#include "reprise/source.h"   // IWYU pragma: export
#include "reprise/types.h"    // IWYU pragma: export

namespace reprise::source {

bool is_compressed(const std::filesystem::path& file);  // by its name, ".zst"
// Like open_foreign(), but unpacks a compressed file into an unlinked private file. What cannot be
// unpacked is reported as damage.
Result<Fd> open_unpacked(const std::filesystem::path& file, ReadReport& report);

// The bytes [at, at + count) of an open file, or fewer at its end.
Result<std::string> read_range(int fd, std::int64_t at, std::size_t count,
                               const std::filesystem::path& file);
// The first bytes of a file, at most `bytes_max`.
Result<std::string> read_beginning(const std::filesystem::path& file, std::size_t bytes_max);

// Identifies a version of a file.
// The beginning of a file, without the mark that some programs write before UTF-8.
inline std::string_view without_byte_order_mark(std::string_view beginning) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return beginning.starts_with(kMark) ? beginning.substr(kMark.size()) : beginning;
}

struct FileState {
  std::int64_t bytes = 0;
  Time changed_at = {};
  std::uint64_t inode = 0;
  friend bool operator==(const FileState&, const FileState&) = default;
};
// not_found unless it is a regular file.
Result<FileState> state_of_file(const std::filesystem::path& file);
Result<FileState> state_of_open_file(int fd, const std::filesystem::path& file);

// A FileState as text; "" unless it is a regular file.
std::string state_text(const std::filesystem::path& file);

// not_found unless a file, folder or symbolic link has this name.
Result<> check_exists(const std::filesystem::path& location);

// Whether a folder, or a link to one, has this name. If that cannot be determined: false, and
// damage.
bool has_folder(const std::filesystem::path& folder, ReadReport& report);

// The bytes of a file that a session may have beside its messages: "" if it is missing. One that is
// larger, a link or not readable for this user is damage (see report_damage()).
Result<std::string> read_sibling(const std::filesystem::path& file, std::int64_t bytes_max,
                                 ReadReport& report);

// The regular files in a folder and at most `depth` levels of subfolders whose path `is_match`
// accepts, sorted. Does not follow links. What cannot be listed is damage; a missing folder is
// empty. `is_match` is called in several threads.
std::vector<std::filesystem::path> files_below(
    const std::filesystem::path& folder, int depth,
    const std::function<bool(const std::filesystem::path&)>& is_match, ReadReport& report);

// All of them, or an error.
Result<std::vector<std::filesystem::path>> all_files_below(
    const std::filesystem::path& folder, int depth,
    const std::function<bool(const std::filesystem::path&)>& is_match);

// Adds to a report, which stores the first 1,000 and counts all.
void add_damage(ReadReport& report, Damage damage);
// Adds the error as damage, unless it may be gone with the next attempt: then it is returned.
Result<> report_damage(ReadReport& report, std::string_view where, Error error);

}  // namespace reprise::source
