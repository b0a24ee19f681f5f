#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/command_line.h"
#include "base/file.h"
#include "base/text.h"
#include "reprise/environment.h"
#include "reprise/outbox.h"
#include "store/outbox/outbox_file.h"
#include "store/paths.h"

namespace reprise::store::outbox {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".jsonl";
constexpr std::string_view kStoredSuffix = ".stored";

// False if another process holds the lock.
Result<bool> try_lock(int fd, const fs::path& file) {
  int outcome = 0;
  do {
    outcome = ::flock(fd, LOCK_EX | LOCK_NB);
  } while (outcome != 0 && errno == EINTR);
  if (outcome == 0) {
    return true;
  }
  if (errno == EWOULDBLOCK) {
    return false;
  }
  return std::unexpected(os_error("lock", file, errno));
}

class OutboxFile final : public Outbox {
 public:
  OutboxFile(fs::path folder, std::string store)
      : folder_(std::move(folder)), store_(std::move(store)) {}

  Result<> add(const Session& session, const OutboxStep& step) override {
    if (file_.is_open()) {
      return append_line(step_line(step));
    }
    if (!fork_) {
      fork_ = make_session_id(system_clock(), system_entropy());
      path_ = folder_ / cat(fork_->str(), kSuffix);
    }
    return begin(cat(head_lines(session, *fork_, store_), step_line(step)));
  }

  // A file that cannot be removed is imported again, which changes nothing.
  void clear() override {
    if (file_.is_open()) {
      (void)remove_file(path_);
      file_ = Fd();
      fork_.reset();
    }
  }

  // Closing the file releases its lock, so that it can be imported.
  void rotate() override {
    file_ = Fd();
    fork_.reset();
    is_torn_ = false;
  }

  std::string where() const override {
    return cat(path_.native(), "; copy it with: ", shell_command({"copy", "spill:", store_}));
  }

 private:
  // The file is complete and locked before it is renamed to its final name.
  Result<> begin(std::string_view bytes) {
    REPRISE_TRY(make_private_folders(folder_));
    auto written = write_new(bytes);
    if (!written) {
      // A leftover file does no harm.
      (void)remove_if_exists(path_);
      return std::unexpected(std::move(written).error());
    }
    file_ = *std::move(written);
    size_ = static_cast<off_t>(bytes.size());
    return {};
  }

  // All writers use the same name for the temporary file, so that the next one removes a leftover.
  Result<Fd> write_new(std::string_view bytes) const {
    REPRISE_ASSIGN(TemporaryFile file, TemporaryFile::create(folder_ / "spill"));
    REPRISE_TRY(try_lock(file.fd(), file.name()));
    REPRISE_TRY(write_all(file.fd(), bytes, file.name()));
    REPRISE_TRY(sync_file(file.fd(), file.name()));
    REPRISE_TRY(move_file(file.name(), path_));
    // Lines are appended even after a truncation.
    if (::fcntl(file.fd(), F_SETFL, O_APPEND) != 0) {
      return std::unexpected(os_error("open", path_, errno));
    }
    return file.release();
  }

  // An incomplete line is truncated first, so that no line follows it.
  Result<> append_line(std::string_view line) {
    REPRISE_TRY(truncate());
    is_torn_ = true;
    auto written = write_all(file_.get(), line, path_);
    if (written) {
      written = sync_file(file_.get(), path_);
    }
    if (!written) {
      (void)truncate();  // on failure, the next add() truncates
      return written;
    }
    is_torn_ = false;
    size_ += static_cast<off_t>(line.size());
    return {};
  }

  Result<> truncate() {
    if (is_torn_ && ::ftruncate(file_.get(), size_) != 0) {
      return std::unexpected(os_error("write", path_, errno));
    }
    is_torn_ = false;
    return {};
  }

  fs::path folder_;
  std::string store_;
  std::optional<SessionId> fork_;
  fs::path path_;
  Fd file_;
  off_t size_ = 0;
  bool is_torn_ = false;
};

}  // namespace

std::unique_ptr<Outbox> make_outbox_file(fs::path folder, std::string store) {
  return std::make_unique<OutboxFile>(std::move(folder), std::move(store));
}

Result<std::vector<fs::path>> find_outboxes(const fs::path& folder) {
  REPRISE_ASSIGN(const auto entries, list_if_exists(folder));
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : entries) {
    if (entry.path().native().ends_with(kSuffix)) {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);  // their names begin with their times
  return files;
}

Result<std::optional<Fd>> lock_outbox(const fs::path& file) {
  REPRISE_ASSIGN(Fd fd, open_file(file, O_RDONLY));
  REPRISE_ASSIGN(const bool locked, try_lock(fd.get(), file));
  return locked ? std::optional(std::move(fd)) : std::nullopt;
}

Result<> mark_as_stored(const fs::path& file) {
  if (!file.native().ends_with(kSuffix)) {
    return {};
  }
  return move_file(file, cat(file.native(), kStoredSuffix));
}

}  // namespace reprise::store::outbox
