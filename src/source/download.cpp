#include "source/download.h"

#include <fcntl.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "reprise/source.h"
#include "reprise/types.h"
#include "store/chatdir/zip_file.h"
#include "store/sqlite/private_folder.h"

namespace reprise::source {
namespace {

namespace fs = std::filesystem;
using store::chatdir::ZipReader;

constexpr std::string_view kZipMark = "PK\x03\x04";
constexpr std::size_t kBeginningBytes = 64U << 10;
constexpr std::int64_t kPartBytesMax = std::int64_t{16} << 30;
constexpr int kFoldersDeep = 2;

std::string_view last_component(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? name : name.substr(slash + 1);
}

Result<bool> is_zip(const fs::path& file) {
  REPRISE_ASSIGN(const std::string mark, read_beginning(file, kZipMark.size()));
  return mark == kZipMark;
}

// The numbers of the parts among the files, sorted by name.
std::vector<std::size_t> parts_of_zip(const ZipReader::Files& files, Download::IsPart is_part) {
  std::vector<std::size_t> parts;
  for (std::size_t i = 0; i < files.entries.size(); ++i) {
    if (is_part(last_component(files.entries[i].name))) {
      parts.push_back(i);
    }
  }
  std::ranges::sort(parts, {},
                    [&files](std::size_t i) { return std::string_view(files.entries[i].name); });
  return parts;
}

Result<std::vector<fs::path>> files_of(const fs::path& location, Download::IsPart is_part) {
  return all_files_below(location, kFoldersDeep,
                         [&](const fs::path& file) { return is_part(file.filename().native()); });
}

}  // namespace

struct Download::Zip {
  ZipReader reader;
  std::vector<ZipReader::Entry> entries;

  Result<std::string> bytes_of(const ZipReader::Entry& entry, std::size_t bytes_max) const {
    std::string bytes;
    const auto read = reader.read(entry, [&](std::string_view piece) -> Result<> {
      bytes += piece.substr(0, bytes_max - bytes.size());
      return bytes.size() < bytes_max ? Result<>() : fail(Code::cancelled, "enough");
    });
    if (!read && read.error().code != Code::cancelled) {
      return std::unexpected(read.error());
    }
    return bytes;
  }
};

Download::Download(fs::path location) : location_(std::move(location)) {}
Download::~Download() = default;

Result<std::string> Download::beginning(const fs::path& location, IsPart is_part) {
  REPRISE_ASSIGN(const FileKind kind, kind_of(location));
  if (kind == FileKind::folder) {
    REPRISE_ASSIGN(const std::vector<fs::path> files, files_of(location, is_part));
    return files.empty() ? Result<std::string>() : read_beginning(files.front(), kBeginningBytes);
  }
  REPRISE_ASSIGN(const bool has_zip, is_zip(location));
  if (!has_zip) {
    return read_beginning(location, kBeginningBytes);
  }
  REPRISE_ASSIGN(ZipReader reader, ZipReader::open(location));
  ZipReader::Files files = reader.files();
  const std::vector<std::size_t> parts = parts_of_zip(files, is_part);
  const Zip zip{std::move(reader), std::move(files.entries)};
  return parts.empty() ? Result<std::string>()
                       : zip.bytes_of(zip.entries[parts.front()], kBeginningBytes);
}

Result<std::unique_ptr<Download>> Download::open(const fs::path& location, IsPart is_part) {
  std::unique_ptr<Download> download(new Download(location));
  REPRISE_ASSIGN(const FileKind kind, kind_of(location));
  REPRISE_ASSIGN(const bool has_zip,
                 kind == FileKind::file ? is_zip(location) : Result<bool>(false));
  REPRISE_TRY(has_zip ? download->open_zip(is_part) : download->open_files(is_part));
  return download;
}

Result<> Download::open_files(IsPart is_part) {
  REPRISE_ASSIGN(const FileKind kind, kind_of(location_));
  const bool is_alone = kind == FileKind::file;
  if (!is_alone) {
    folder_ = location_;
  } else if (is_part(location_.filename().native())) {
    folder_ = folder_of(location_);
  }
  std::vector<fs::path> files{location_};
  if (!is_alone) {
    REPRISE_ASSIGN(files, files_of(location_, is_part));
  }
  for (fs::path& file : files) {
    std::optional<FileState> state;
    if (!is_alone) {
      REPRISE_ASSIGN(state, state_of_file(file));
    }
    parts_.push_back({.file = std::move(file), .state = state});
  }
  return {};
}

Result<> Download::open_zip(IsPart is_part) {
  REPRISE_ASSIGN(ZipReader reader, ZipReader::open(location_));
  ZipReader::Files files = reader.files();
  for (const ZipReader::Refused& refused : files.refused) {
    if (refused.name.empty() || is_part(last_component(refused.name))) {
      refused_.push_back({cat(location_.native(), refused.name.empty() ? "" : "/", refused.name),
                          refused.reason, ""});
    }
  }
  for (const std::size_t number : parts_of_zip(files, is_part)) {
    parts_.push_back({.file = fs::path(cat(location_.native(), "/", files.entries[number].name)),
                      .entry = number});
  }
  zip_ = std::make_unique<Zip>(std::move(reader), std::move(files.entries));
  return {};
}

Result<int> Download::open_part(std::size_t number) const {
  auto found = std::ranges::find(open_, number, &std::pair<std::size_t, Fd>::first);
  if (found == open_.end()) {
    REPRISE_ASSIGN(Fd fd, open_now(parts_.at(number)));
    open_.emplace_front(number, std::move(fd));
    found = open_.begin();
  }
  open_.splice(open_.begin(), open_, found);
  if (open_.size() > kOpenMax) {
    open_.pop_back();
  }
  return open_.front().second.get();
}

Result<Fd> Download::open_now(const Part& part) const {
  if (!zip_ || !part.entry) {
    REPRISE_ASSIGN(Fd fd, open_foreign(part.file));
    REPRISE_ASSIGN(const FileState state, state_of_open_file(fd.get(), part.file));
    return !part.state || state == part.state
               ? Result<Fd>(std::move(fd))
               : fail(Code::conflict, cat(part.file.native(), " has changed while it was read"));
  }
  const ZipReader::Entry& entry = zip_->entries[*part.entry];
  if (entry.size > kPartBytesMax) {
    return fail(Code::unsupported, cat("unpacks to more than ", kPartBytesMax >> 30U, " GiB"));
  }
  REPRISE_ASSIGN(const auto folder, sqlite::PrivateFolder::make());
  const fs::path copy = folder.path() / "part";
  REPRISE_ASSIGN(Fd fd, open_file(copy, O_RDWR | O_CREAT | O_EXCL, 0600));
  REPRISE_TRY(zip_->reader.read(
      entry, [&](std::string_view piece) { return write_all(fd.get(), piece, copy); }));
  return fd;
}

std::string Download::state() const {
  std::string states = state_text(location_);
  for (const Part& part : parts_) {
    states += part.state ? state_text(part.file) : "";
  }
  return states;
}

Result<std::optional<std::string>> Download::asset(std::string_view beginning) const {
  if (beginning.empty()) {
    return std::nullopt;
  }
  if (zip_) {
    for (const ZipReader::Entry& entry : zip_->entries) {
      if (last_component(entry.name).starts_with(beginning) && entry.size <= kAssetBytesMax) {
        REPRISE_ASSIGN(std::string bytes, zip_->bytes_of(entry, std::string::npos));
        return bytes;
      }
    }
    return std::nullopt;
  }
  if (!files_) {
    std::vector<fs::path> files;
    if (!folder_.empty()) {
      REPRISE_ASSIGN(files,
                     all_files_below(folder_, kFoldersDeep, [](const fs::path&) { return true; }));
    }
    files_ = std::move(files);
  }
  for (const fs::path& file : *files_) {
    if (!file.filename().native().starts_with(beginning)) {
      continue;
    }
    REPRISE_ASSIGN(const FileState state, state_of_file(file));
    if (state.bytes <= kAssetBytesMax) {
      REPRISE_ASSIGN(std::string bytes,
                     read_beginning(file, static_cast<std::size_t>(state.bytes)));
      return bytes;
    }
  }
  return std::nullopt;
}

}  // namespace reprise::source
