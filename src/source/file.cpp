#include "source/file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <span>

#include "base/file.h"
#include "base/text.h"
#include "base/zstd_library.h"
#include "store/paths.h"
#include "store/rules.h"
#include "store/sqlite/private_folder.h"

namespace reprise::source {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCompressedSuffix = ".zst";
constexpr std::int64_t kUnpackedBytesMax = std::int64_t{16} << 30;

class FileWalk {
 public:
  FileWalk(const std::function<bool(const fs::path&)>& is_match, ReadReport& report)
      : is_match_(is_match), report_(report) {}

  void walk(const fs::path& folder, int depth) {
    auto entries = store::list_if_exists(folder);
    if (!entries) {
      return add_damage(report_, {folder.native(), entries.error().message, ""});
    }
    // In the order of paths. Within a folder, that is the order of their bytes.
    std::ranges::sort(*entries, {}, [](const fs::directory_entry& entry) -> const std::string& {
      return entry.path().native();
    });
    for (const fs::directory_entry& entry : *entries) {
      const auto kind = store::kind_of_entry(entry);
      if (!kind) {
        add_damage(report_, {entry.path().native(), kind.error().message, ""});
      } else if (*kind == FileKind::folder && depth > 0) {
        walk(entry.path(), depth - 1);
      } else if (*kind == FileKind::file && is_match_(entry.path())) {
        found_.push_back(entry.path());
      }
    }
  }

  std::vector<fs::path> take() { return std::move(found_); }

 private:
  const std::function<bool(const fs::path&)>& is_match_;
  ReadReport& report_;
  std::vector<fs::path> found_;
};

}  // namespace

Result<Fd> open_foreign(const fs::path& file) {
  auto fd = open_file(file, O_RDONLY | O_NOATIME);
  // Only the owner may use O_NOATIME.
  return !fd && fd.error().os_errno == EPERM ? open_file(file, O_RDONLY) : std::move(fd);
}

Result<Fd> open_unpacked(const fs::path& file, ReadReport& report) {
  REPRISE_ASSIGN(Fd fd, open_foreign(file));
  if (file.extension() != kCompressedSuffix) {
    return fd;
  }
  REPRISE_ASSIGN(const auto folder, sqlite::PrivateFolder::make());
  const fs::path copy = folder.path() / "unpacked";
  REPRISE_ASSIGN(Fd unpacked, open_file(copy, O_RDWR | O_CREAT | O_EXCL, 0600));
  std::int64_t at = 0;
  const auto read = [&](std::span<char> into) -> Result<std::size_t> {
    REPRISE_ASSIGN(const std::size_t got, read_at(fd.get(), into, at, file));
    at += static_cast<std::int64_t>(got);
    return got;
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

Result<std::string> read_beginning(const fs::path& file, std::size_t bytes_max) {
  REPRISE_ASSIGN(const Fd fd, open_foreign(file));
  std::string bytes(bytes_max, '\0');
  REPRISE_ASSIGN(const std::size_t got, read_at(fd.get(), bytes, 0, file));
  bytes.resize(got);
  return bytes;
}

Result<FileState> state_of_file(const fs::path& file) {
  struct stat status = {};
  if (::lstat(file.c_str(), &status) != 0) {
    return std::unexpected(os_error("read", file, errno));
  }
  if (!S_ISREG(status.st_mode)) {
    return fail(Code::not_found, file.native() + " is not a file");
  }
  const auto changed = std::chrono::seconds(status.st_mtim.tv_sec) +
                       std::chrono::microseconds(status.st_mtim.tv_nsec / 1000);
  return FileState{status.st_size, Time(changed), status.st_ino};
}

std::string state_text(const fs::path& file) {
  const auto state = state_of_file(file);
  return state ? cat(" ", state->inode, " ", state->bytes, " ", format_time(state->changed_at))
               : "";
}

Result<> check_exists(const fs::path& place) {
  REPRISE_ASSIGN(const FileKind kind, kind_behind(place));
  return kind == FileKind::none ? fail(Code::not_found, place.native() + " is not there", ENOENT)
                                : Result<>();
}

bool has_folder(const fs::path& folder, ReadReport& report) {
  const auto exists = is_folder(folder);
  if (!exists) {
    add_damage(report, {folder.native(), exists.error().message, ""});
  }
  return exists && *exists;
}

std::string read_sibling(const fs::path& file, std::int64_t bytes_max, ReadReport& report) {
  auto bytes = if_exists(read_file(file, bytes_max));
  if (!bytes) {
    add_damage(report, {file.native(), bytes.error().message, ""});
    return "";
  }
  return std::move(*bytes).value_or("");
}

std::vector<fs::path> files_below(const fs::path& folder, int depth,
                                  const std::function<bool(const fs::path&)>& is_match,
                                  ReadReport& report) {
  FileWalk walk(is_match, report);
  walk.walk(folder, depth);
  return walk.take();
}

void add_damage(ReadReport& report, Damage damage) {
  ++report.damaged;
  if (report.damage.size() < store::kDamageMax) {
    report.damage.push_back(std::move(damage));
  }
}

}  // namespace reprise::source
