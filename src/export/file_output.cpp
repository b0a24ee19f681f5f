// Exports into files. A file appears only after it is completely written and synced.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "export/formats.h"  // IWYU pragma: export
#include "export/names.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBufferBytes = 1 << 20;

using Fill = std::function<Result<>(int fd)>;

// Gives an open file without a name its name.
Result<> name_file(int fd, const fs::path& target) {
  const std::string source = cat("/proc/self/fd/", fd);
  if (::linkat(AT_FDCWD, source.c_str(), AT_FDCWD, target.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    return std::unexpected(os_error("write", target, errno));
  }
  return sync_folder(folder_of(target));
}

// In the folder of another program, a killed process must leave nothing behind: the file has no
// name before it is complete, if the file system supports that.
Result<> write_new(const fs::path& target, const Fill& fill) {
  if (const auto nameless = open_file(folder_of(target), O_TMPFILE | O_RDWR, 0600)) {
    REPRISE_TRY(fill(nameless->get()));
    REPRISE_TRY(sync_file(nameless->get(), target));
    return name_file(nameless->get(), target);
  }
  REPRISE_ASSIGN(TemporaryFile file, TemporaryFile::create(target));
  REPRISE_TRY(fill(file.fd()));
  REPRISE_TRY(sync_file(file.fd(), file.name()));
  REPRISE_TRY(move_file(file.name(), target));
  return file.release().close(target);
}

// Creates a file with mode 0600, or replaces one and keeps its mode.
Result<> write_file(const fs::path& target, ExistingFile existing, const Fill& fill) {
  REPRISE_ASSIGN(const FileKind kind, kind_of(target));
  if (kind == FileKind::link) {
    return fail(Code::invalid_argument,
                cat(target.string(), " is a symbolic link; name its target"));
  }
  if (kind == FileKind::none) {
    return write_new(target, fill);
  }
  if (existing == ExistingFile::refused) {
    return fail(Code::conflict, cat(target.string(), " already exists"));
  }
  return replace_file(target, fill);
}

// Whether the file consists of what `fill` yields.
Result<bool> has_bytes(const fs::path& target,
                       const std::function<Result<>(const ExportOutput::Piece&)>& fill) {
  REPRISE_ASSIGN(const Fd fd, open_file(target, O_RDONLY));
  std::string buffer;
  std::int64_t at = 0;
  bool is_same = true;
  REPRISE_TRY(fill([&](std::string_view bytes) -> Result<> {
    buffer.resize(bytes.size());
    REPRISE_ASSIGN(const std::size_t count, read_at(fd.get(), buffer, at, target));
    is_same = is_same && std::string_view(buffer).substr(0, count) == bytes;
    at += std::ssize(bytes);
    return {};
  }));
  buffer.resize(1);
  REPRISE_ASSIGN(const std::size_t excess, read_at(fd.get(), buffer, at, target));
  return is_same && excess == 0;
}

// Buffers the output to an open file.
class FileOutput final : public ExportOutput {
 public:
  FileOutput(int fd, fs::path file, ExistingFile existing, bool accepts_files)
      : fd_(fd), file_(std::move(file)), existing_(existing), accepts_files_(accepts_files) {}

  Result<> write(std::string_view bytes) override {
    buffer_ += bytes;
    return buffer_.size() >= kBufferBytes ? flush() : Result<>();
  }
  Result<> flush() {
    REPRISE_TRY(write_all(fd_, buffer_, file_));
    buffer_.clear();
    return {};
  }

  bool accepts_files() const override { return accepts_files_; }
  Result<std::string> add_file(std::string_view name,
                               const std::function<Result<>(const Piece&)>& fill) override {
    const fs::path folder = fs::path(file_).replace_extension(".files");
    const fs::path target = folder / name;
    std::string shown = cat(folder.filename().native(), "/", name);
    if (written_.contains(shown)) {
      return shown;
    }
    REPRISE_TRY(make_private_folders(folder));
    REPRISE_TRY(refuse_links(target));
    REPRISE_ASSIGN(const FileKind kind, kind_of(target));
    if (kind == FileKind::file && existing_ == ExistingFile::refused) {
      // An earlier export, which was interrupted, may have written it.
      REPRISE_ASSIGN(const bool is_present, has_bytes(target, fill));
      if (is_present) {
        written_.insert(shown);
        return shown;
      }
    }
    REPRISE_TRY(write_file(target, existing_, [&](int fd) {
      return fill([&](std::string_view bytes) { return write_all(fd, bytes, target); });
    }));
    written_.insert(shown);
    return shown;
  }

 private:
  int fd_;
  fs::path file_;
  ExistingFile existing_;
  bool accepts_files_;
  std::string buffer_;
  std::set<std::string> written_;
};

struct Target {
  fs::path file;
  bool accepts_files;
};

Result<> export_sessions(Source& source, std::span<const SessionId> ids, const ExportFormat& format,
                         const Target& target, const ExportOptions& options) {
  return write_file(target.file, options.existing, [&](int fd) -> Result<> {
    FileOutput output(fd, target.file, options.existing, target.accepts_files);
    for (const SessionId& id : ids) {
      REPRISE_ASSIGN(const ExportResult exported,
                     export_session(source, id, format, output, options.stop));
      options.report(id, exported);
    }
    return output.flush();
  });
}

Result<std::string> file_name(Source& source, const Session& session,
                              const exporting::Format& format) {
  REPRISE_ASSIGN(const auto original, exporting::find_original(source, session, format));
  return original ? original->file
                  : cat(format.stem ? format.stem(session) : exporting::file_stem(session),
                        format.info.ending);
}

}  // namespace

Result<> export_to_file(Source& source, std::span<const SessionId> ids, const ExportFormat& format,
                        const fs::path& file, const ExportOptions& options) {
  if (ids.size() != 1 && !format.holds_many_sessions) {
    return fail(Code::invalid_argument,
                cat("one file holds one session in the format ", format.name, "; name a folder"));
  }
  REPRISE_ASSIGN(const fs::path path, resolve_folder_of(file));
  return export_sessions(source, ids, format, {.file = path, .accepts_files = false}, options);
}

Result<fs::path> export_to_folder(Source& source, const SessionId& id, const ExportFormat& format,
                                  const fs::path& folder, const ExportOptions& options) {
  REPRISE_ASSIGN(const fs::path path, resolve_path(folder));
  REPRISE_ASSIGN(Session session, get(source, id));
  const exporting::Format& entry = exporting::format_of(format);
  if (!format.tool.empty()) {
    REPRISE_ASSIGN(session, exporting::with_times(source, std::move(session)));
  }
  REPRISE_ASSIGN(const std::string name, file_name(source, session, entry));
  fs::path file = path / name;
  if (std::ranges::find(options.taken, file) != options.taken.end()) {
    file = path / cat(file.stem().native(), "-", exporting::full_id(id), file.extension().native());
  }
  REPRISE_TRY(export_sessions(source, std::span(&id, 1), format,
                              {.file = file, .accepts_files = format.has_files}, options));
  return file;
}

}  // namespace reprise
