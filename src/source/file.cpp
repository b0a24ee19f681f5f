#include "source/file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <span>

#include "base/file.h"
#include "base/text.h"
#include "base/transient.h"
#include "base/zstd_library.h"
#include "source/parallel_for.h"
#include "store/paths.h"
#include "store/rules.h"
#include "store/sqlite/private_folder.h"

namespace reprise::source {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCompressedSuffix = ".zst";
constexpr std::int64_t kUnpackedBytesMax = std::int64_t{16} << 30;

// The files that match in a folder and its subfolders, in the order of paths.
class FileWalk {
 public:
  using IsMatch = std::function<bool(const fs::path&)>;
  explicit FileWalk(const IsMatch& is_match) : is_match_(is_match) {}

  // Walks through subfolders in several threads.
  void walk_in_threads(const fs::path& folder, int depth) {
    const std::vector<fs::directory_entry> entries = list(folder);
    std::vector<FileWalk> walks(entries.size(), FileWalk(is_match_));
    parallel_for(entries.size(), kEntriesPerThread,
                 [&](std::size_t i) { walks[i].visit(entries[i], depth); });
    for (FileWalk& walk : walks) {
      std::ranges::move(walk.found_, std::back_inserter(found_));
      std::ranges::move(walk.damage_, std::back_inserter(damage_));
    }
  }

  // Adds the damage to the report.
  std::vector<fs::path> take(ReadReport& report) {
    for (Damage& damage : damage_) {
      add_damage(report, std::move(damage));
    }
    return std::move(found_);
  }

 private:
  static constexpr std::size_t kEntriesPerThread = 8;

  // In the order of their bytes.
  std::vector<fs::directory_entry> list(const fs::path& folder) {
    auto entries = store::list_if_exists(folder);
    if (!entries) {
      damage_.push_back({folder.native(), entries.error().message, ""});
      return {};
    }
    std::ranges::sort(*entries, {}, [](const fs::directory_entry& entry) -> const std::string& {
      return entry.path().native();
    });
    return *std::move(entries);
  }

  void visit(const fs::directory_entry& entry, int depth) {
    const auto kind = store::kind_of_entry(entry);
    if (!kind) {
      damage_.push_back({entry.path().native(), kind.error().message, ""});
    } else if (*kind == FileKind::folder && depth > 0) {
      for (const fs::directory_entry& below : list(entry.path())) {
        visit(below, depth - 1);
      }
    } else if (*kind == FileKind::file && is_match_(entry.path())) {
      found_.push_back(entry.path());
    }
  }

  const IsMatch& is_match_;
  std::vector<fs::path> found_;
  std::vector<Damage> damage_;
};

Result<FileState> state_from(const struct stat& status, const fs::path& file) {
  if (!S_ISREG(status.st_mode)) {
    return fail(Code::not_found, file.native() + " is not a file");
  }
  const auto changed = std::chrono::seconds(status.st_mtim.tv_sec) +
                       std::chrono::microseconds(status.st_mtim.tv_nsec / 1000);
  return FileState{status.st_size, Time(changed), status.st_ino};
}

}  // namespace

bool is_compressed(const fs::path& file) {
  return file.native().ends_with(kCompressedSuffix);
}

Result<Fd> open_unpacked(const fs::path& file, ReadReport& report) {
  REPRISE_ASSIGN(Fd fd, open_foreign(file));
  if (!is_compressed(file)) {
    return fd;
  }
  REPRISE_ASSIGN(const auto folder, sqlite::PrivateFolder::make());
  const fs::path copy = folder.path() / "unpacked";
  REPRISE_ASSIGN(Fd unpacked, open_file(copy, O_RDWR | O_CREAT | O_EXCL, 0600));
  std::int64_t at = 0;
  const auto read = [&](std::span<char> into) -> Result<std::size_t> {
    REPRISE_ASSIGN(const std::size_t bytes_read, read_at(fd.get(), into, at, file));
    at += static_cast<std::int64_t>(bytes_read);
    return bytes_read;
  };
  std::int64_t written = 0;
  const auto write = [&](std::string_view bytes) -> Result<> {
    written += std::ssize(bytes);
    return written > kUnpackedBytesMax
               ? fail(Code::corrupt, cat("unpacks to more than ", kUnpackedBytesMax >> 30, " GiB"))
               : write_all(unpacked.get(), bytes, copy);
  };
  if (const auto done = zstd_unpack(read, write); !done) {
    if (done.error().code != Code::corrupt) {
      return std::unexpected(done.error());
    }
    add_damage(report, {file.native(), done.error().message, ""});
  }
  return unpacked;
}

Result<std::string> read_range(int fd, std::int64_t at, std::size_t count, const fs::path& file) {
  std::string bytes;
  Result<std::size_t> size = 0U;
  // libstdc++ 12 may offer more than `count` bytes.
  bytes.resize_and_overwrite(count, [&](char* data, std::size_t /*size*/) {
    size = read_at(fd, {data, count}, at, file);
    return size.value_or(0);
  });
  REPRISE_TRY(size);
  return bytes;
}

Result<std::string> read_beginning(const fs::path& file, std::size_t bytes_max) {
  REPRISE_ASSIGN(const Fd fd, open_foreign(file));
  return read_range(fd.get(), 0, bytes_max, file);
}

Result<FileState> state_of_file(const fs::path& file) {
  struct stat status = {};
  return ::lstat(file.c_str(), &status) == 0 ? state_from(status, file)
                                             : std::unexpected(os_error("read", file, errno));
}

Result<FileState> state_of_open_file(int fd, const fs::path& file) {
  struct stat status = {};
  return ::fstat(fd, &status) == 0 ? state_from(status, file)
                                   : std::unexpected(os_error("read", file, errno));
}

std::string state_text(const fs::path& file) {
  const auto state = state_of_file(file);
  return state ? cat(" ", state->inode, " ", state->bytes, " ", format_time(state->changed_at))
               : "";
}

Result<> check_exists(const fs::path& location) {
  REPRISE_ASSIGN(const FileKind kind, kind_of_target(location));
  return kind == FileKind::none ? fail(Code::not_found, location.native() + " is not there", ENOENT)
                                : Result<>();
}

bool has_folder(const fs::path& folder, ReadReport& report) {
  const auto exists = is_folder(folder);
  if (!exists) {
    add_damage(report, {folder.native(), exists.error().message, ""});
  }
  return exists && *exists;
}

Result<std::string> read_sibling(const fs::path& file, std::int64_t bytes_max, ReadReport& report) {
  auto bytes = if_exists(read_file(file, bytes_max));
  if (!bytes) {
    REPRISE_TRY(report_damage(report, file.native(), std::move(bytes).error()));
    return "";
  }
  return std::move(*bytes).value_or("");
}

std::vector<fs::path> files_below(const fs::path& folder, int depth,
                                  const std::function<bool(const fs::path&)>& is_match,
                                  ReadReport& report) {
  FileWalk walk(is_match);
  walk.walk_in_threads(folder, depth);
  return walk.take(report);
}

Result<std::vector<fs::path>> all_files_below(
    const fs::path& folder, int depth, const std::function<bool(const fs::path&)>& is_match) {
  ReadReport report;
  std::vector<fs::path> files = files_below(folder, depth, is_match, report);
  return report.damage.empty()
             ? Result<std::vector<fs::path>>(std::move(files))
             : fail(Code::io, cat(report.damage[0].where, ": ", report.damage[0].reason));
}

Result<> report_damage(ReadReport& report, std::string_view where, Error error) {
  if (is_transient(error)) {
    return std::unexpected(std::move(error));
  }
  add_damage(report, {std::string(where), std::move(error.message), ""});
  return {};
}

void add_damage(ReadReport& report, Damage damage) {
  ++report.damaged;
  if (report.damage.size() < store::kDamageMax) {
    report.damage.push_back(std::move(damage));
  }
}

}  // namespace reprise::source
