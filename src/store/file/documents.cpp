#include "store/file/documents.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/lock_file.h"
#include "base/text.h"
#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/open_store.h"
#include "reprise/types.h"
#include "store/facts.h"
#include "store/file/file_session.h"
#include "store/file/partial_file.h"
#include "store/file/session_files.h"
#include "store/stored_session.h"

namespace reprise::store {
namespace {

namespace fs = std::filesystem;

// A file that another program replaces all the time is taken as it was read once.
constexpr int kTries = 10;

std::int64_t nanoseconds(const timespec& time) {
  return (static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000) + time.tv_nsec;
}

auto place_of(const Document& document, const SessionId& id) {
  return std::ranges::find_if(document.sessions, [&id](const FileSession& session) {
    return session.stored.session.info.id == id;
  });
}

// A copy to be changed: a log that readers may hold is not shared with it.
FileSession editable(const FileSession& session) {
  FileSession copy = session;
  copy.stored.log = std::make_shared<Log>(*session.stored.log);
  return copy;
}

}  // namespace

void add_message(StoredSession& stored, Message message) {
  SessionInfo& info = stored.session.info;
  message.seq = info.head;
  info.head = info.head.next();
  count_usage(stored, message);
  stored.log->own.push_back(std::make_shared<const Message>(std::move(message)));
}

Result<FileIdentity> identify(const fs::path& file) {
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0) {
    return std::unexpected(os_error("read", file, errno));
  }
  return FileIdentity{status.st_dev, status.st_ino, status.st_size, nanoseconds(status.st_mtim),
                      nanoseconds(status.st_ctim)};
}

Result<std::shared_ptr<const Document>> Documents::load(const fs::path& file) {
  for (int tries = 1;; ++tries) {
    REPRISE_ASSIGN(const FileIdentity before, identify(file));
    if (auto known = cached(file, before); known != nullptr) {
      return known;
    }
    REPRISE_ASSIGN(const std::string bytes, read_file(file, files_.file_bytes_max()));
    REPRISE_ASSIGN(const FileIdentity after, identify(file));
    if (before != after && tries < kTries) {
      continue;
    }
    REPRISE_ASSIGN(Document decoded, files_.decode(file, bytes));
    auto document = std::make_shared<const Document>(std::move(decoded));
    if (before == after) {
      const std::lock_guard lock(mutex_);
      if (cache_.size() >= kCachedMax) {
        cache_.clear();
      }
      cache_[file] = {after, document};
    }
    return document;
  }
}

std::shared_ptr<const Document> Documents::cached(const fs::path& file,
                                                  const FileIdentity& identity) {
  const std::lock_guard lock(mutex_);
  const auto known = cache_.find(file);
  return known != cache_.end() && known->second.identity == identity ? known->second.document
                                                                     : nullptr;
}

void Documents::remember(const fs::path& file, std::shared_ptr<const Document> document) {
  const auto identity = identify(file);
  const std::lock_guard lock(mutex_);
  if (identity) {
    cache_[file] = {*identity, std::move(document)};
  } else {
    cache_.erase(file);
  }
}

Result<std::optional<Documents::Found>> Documents::find(const SessionId& id) {
  for (int tries = 1;; ++tries) {
    REPRISE_ASSIGN(const auto file, files_.find_file(id));
    if (!file) {
      return std::nullopt;
    }
    auto document = load(*file);
    if (!document && document.error().code == Code::not_found && tries < kTries) {
      continue;  // it has just been moved
    }
    if (!document) {
      return std::unexpected(std::move(document).error());
    }
    const auto place = place_of(**document, id);
    if (place == (*document)->sessions.end()) {
      return std::nullopt;
    }
    return Found{*file, *document, &*place};
  }
}

Result<Documents::Found> Documents::get(const SessionId& id) {
  REPRISE_ASSIGN(auto found, find(id));
  if (!found) {
    return std::unexpected(no_session(id));
  }
  return *std::move(found);
}

Result<LockFile::Hold> Documents::lock() {
  if (options_.access == Access::read) {
    return fail(Code::unsupported, cat(files_.root().native(), " was opened for reading only"));
  }
  LockFile* file = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (lock_ == nullptr) {
      REPRISE_TRY(make_private_folders(folder_of(files_.lock_file())));
      REPRISE_ASSIGN(lock_, LockFile::open(files_.lock_file()));
    }
    file = lock_.get();
  }
  return file->acquire(std::chrono::steady_clock::now() + options_.busy_timeout);
}

bool Documents::is_folder() const {
  std::error_code none;
  return fs::is_directory(files_.root(), none);
}

Result<> Documents::edit(const SessionId& id, const Edit& edit) {
  REPRISE_ASSIGN(const LockFile::Hold hold, lock());
  REPRISE_ASSIGN(const Found found, get(id));
  Document document = *found.document;
  const auto index = static_cast<std::size_t>(
      std::distance(found.document->sessions.begin(), place_of(*found.document, id)));
  FileSession& session = document.sessions[index];
  session = editable(session);
  REPRISE_ASSIGN(const Outcome outcome, edit(session));
  if (outcome == Outcome::unchanged) {
    return {};
  }
  const fs::path place = files_.place(session.stored.session);
  return place == found.file ? write(found.file, std::move(document))
                             : move(found.file, place, std::move(document), index);
}

// Until the rename the old place holds all of it, afterwards the new one. Between two files that
// hold many, the session is in both for a moment; the one that find_file() names counts.
Result<> Documents::move(const fs::path& from, const fs::path& to, Document document,
                         std::size_t place) {
  REPRISE_TRY(make_private_folders(folder_of(to)));
  if (is_folder()) {
    REPRISE_TRY(write(from, std::move(document)));
    return move_file(from, to);
  }
  Document target;
  if (auto there = load(to); there) {
    target = **there;
  } else if (there.error().code != Code::not_found) {
    return std::unexpected(std::move(there).error());
  }
  const auto moved = document.sessions.begin() + static_cast<std::ptrdiff_t>(place);
  const SessionId id = moved->stored.session.info.id;
  std::erase_if(target.sessions,
                [&id](const FileSession& session) { return session.stored.session.info.id == id; });
  target.sessions.push_back(std::move(*moved));
  document.sessions.erase(moved);
  REPRISE_TRY(write(to, std::move(target)));
  return write(from, std::move(document));
}

Result<> Documents::add(FileSession session) {
  REPRISE_ASSIGN(const LockFile::Hold hold, lock());
  const SessionId id = session.stored.session.info.id;
  REPRISE_ASSIGN(const auto there, find(id));
  if (there) {
    return std::unexpected(session_exists(id));
  }
  const fs::path file = files_.place(session.stored.session);
  Document document;
  if (auto loaded = load(file); loaded) {
    document = **loaded;
  } else if (loaded.error().code != Code::not_found) {
    return std::unexpected(std::move(loaded).error());
  }
  document.sessions.push_back(std::move(session));
  REPRISE_TRY(make_private_folders(folder_of(file)));
  return write(file, std::move(document));
}

Result<> Documents::remove(const SessionId& id) {
  REPRISE_ASSIGN(const LockFile::Hold hold, lock());
  REPRISE_ASSIGN(const Found found, get(id));
  REPRISE_TRY(remove_partial(files_.partial_file(id)));
  if (is_folder()) {
    if (::unlink(found.file.c_str()) != 0) {
      return std::unexpected(os_error("remove", found.file, errno));
    }
    return sync_folder(folder_of(found.file));
  }
  Document document = *found.document;
  std::erase_if(document.sessions,
                [&id](const FileSession& session) { return session.stored.session.info.id == id; });
  return write(found.file, std::move(document));
}

Result<> Documents::write(const fs::path& file, Document document) {
  REPRISE_ASSIGN(const std::string bytes, files_.encode(document));
  if (static_cast<std::int64_t>(bytes.size()) > files_.file_bytes_max()) {
    return fail(Code::unsupported,
                cat("cannot write ", file.native(), ": it would have ", bytes.size(),
                    " bytes, and the format allows ", files_.file_bytes_max()));
  }
  REPRISE_TRY(replace_file(file, bytes));
  remember(file, std::make_shared<const Document>(std::move(document)));
  return {};
}

}  // namespace reprise::store
