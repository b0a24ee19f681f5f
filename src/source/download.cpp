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

Result<std::vector<ZipReader::Entry>> parts_of_zip(const ZipReader& zip, Download::IsPart is_part) {
  REPRISE_ASSIGN(std::vector<ZipReader::Entry> entries, zip.files());
  std::erase_if(
      entries, [&](const ZipReader::Entry& entry) { return !is_part(last_component(entry.name)); });
  std::ranges::sort(entries, {}, &ZipReader::Entry::name);
  return entries;
}

// All of them, or an error.
Result<std::vector<fs::path>> files_in(const fs::path& folder,
                                       const std::function<bool(const fs::path&)>& is_match) {
  ReadReport report;
  std::vector<fs::path> files = files_below(folder, kFoldersDeep, is_match, report);
  return report.damage.empty()
             ? Result<std::vector<fs::path>>(std::move(files))
             : fail(Code::io, cat(report.damage[0].where, ": ", report.damage[0].reason));
}

Result<std::vector<fs::path>> files_of(const fs::path& location, Download::IsPart is_part) {
  return files_in(location,
                  [&](const fs::path& file) { return is_part(file.filename().native()); });
}

}  // namespace

struct Download::Zip {
  ZipReader reader;
  std::vector<ZipReader::Entry> entries;
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
  REPRISE_ASSIGN(const ZipReader zip, ZipReader::open(location));
  REPRISE_ASSIGN(const auto entries, parts_of_zip(zip, is_part));
  std::string bytes;
  if (!entries.empty()) {
    const auto read = zip.read(entries.front(), [&](std::string_view piece) -> Result<> {
      bytes += piece.substr(0, kBeginningBytes - bytes.size());
      return bytes.size() < kBeginningBytes ? Result<>() : fail(Code::cancelled, "enough");
    });
    if (!read && read.error().code != Code::cancelled) {
      return std::unexpected(read.error());
    }
  }
  return bytes;
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
  for (const fs::path& file : files) {
    REPRISE_ASSIGN(Fd fd, open_foreign(file));
    parts_.push_back({file, std::move(fd)});
  }
  return {};
}

Result<> Download::open_zip(IsPart is_part) {
  REPRISE_ASSIGN(ZipReader reader, ZipReader::open(location_));
  REPRISE_ASSIGN(const auto entries, parts_of_zip(reader, is_part));
  REPRISE_ASSIGN(const auto folder, sqlite::PrivateFolder::make());
  for (const ZipReader::Entry& entry : entries) {
    if (entry.size > kPartBytesMax) {
      return fail(Code::unsupported, cat(location_.native(), ": ", entry.name,
                                         " unpacks to more than ", kPartBytesMax >> 30U, " GiB"));
    }
    const fs::path copy = folder.path() / cat("part-", parts_.size());
    REPRISE_ASSIGN(Fd fd, open_file(copy, O_RDWR | O_CREAT | O_EXCL, 0600));
    REPRISE_TRY(reader.read(
        entry, [&](std::string_view piece) { return write_all(fd.get(), piece, copy); }));
    parts_.push_back({fs::path(cat(location_.native(), "/", entry.name)), std::move(fd)});
  }
  REPRISE_ASSIGN(auto files, reader.files());
  zip_ = std::make_unique<Zip>(std::move(reader), std::move(files));
  return {};
}

Result<std::optional<std::string>> Download::asset(std::string_view beginning) const {
  if (beginning.empty()) {
    return std::nullopt;
  }
  if (zip_) {
    for (const ZipReader::Entry& entry : zip_->entries) {
      if (last_component(entry.name).starts_with(beginning) && entry.size <= kAssetBytesMax) {
        std::string bytes;
        REPRISE_TRY(zip_->reader.read(entry, [&](std::string_view piece) -> Result<> {
          bytes += piece;
          return {};
        }));
        return bytes;
      }
    }
    return std::nullopt;
  }
  if (!files_) {
    files_.emplace();
    if (!folder_.empty()) {
      REPRISE_ASSIGN(files_, files_in(folder_, [](const fs::path&) { return true; }));
    }
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
