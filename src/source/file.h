#pragma once

// Reading other programs' files while these write them. Nothing here writes, locks or creates
// anything, and where the system allows it not even the time of the last access changes.

#include <filesystem>

#include "base/fd.h"
#include "reprise/source.h"

namespace reprise::source {

// Open for reading.
Result<Fd> open_foreign(const std::filesystem::path& file);

// The same; a file that is compressed (".zst") is unpacked into a private one without a name, which
// goes with this. What cannot be unpacked of it is damage.
Result<Fd> open_unpacked(const std::filesystem::path& file, ReadReport& report);

// The first bytes of a file, at most so many.
Result<std::string> read_beginning(const std::filesystem::path& file, std::size_t bytes_max);

// What tells a file from what it was before.
struct FileState {
  std::int64_t bytes = 0;
  Time changed_at = {};
  std::uint64_t inode = 0;
  friend bool operator==(const FileState&, const FileState&) = default;
};
// not_found for what is no regular file.
Result<FileState> state_of_file(const std::filesystem::path& file);

// The same as text, which differs when the file has changed; "" for what is no regular file.
std::string state_text(const std::filesystem::path& file);

// not_found when nothing has that name, nor a link to something.
Result<> check_is_there(const std::filesystem::path& place);

// The regular files below a folder, at most `depth` folders down, that `is_wanted` knows by their
// path; sorted. Links are not followed. What cannot be listed is damage; no folder is no file.
std::vector<std::filesystem::path> files_below(
    const std::filesystem::path& folder, int depth,
    const std::function<bool(const std::filesystem::path&)>& is_match, ReadReport& report);

// Adds to a report, which keeps the first 1,000 and counts all.
void add_damage(ReadReport& report, Damage damage);

}  // namespace reprise::source
