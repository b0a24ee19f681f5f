#include "store/document/documents.h"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <mutex>
#include <set>
#include <thread>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/lock_file.h"
#include "base/reserve.h"
#include "base/text.h"
#include "reprise/open_store.h"
#include "store/call.h"
#include "store/document/document_format.h"
#include "store/paths.h"
#include "store/rules.h"
#include "store/stored_session.h"

namespace reprise::store {

namespace fs = std::filesystem;

namespace {

// After this many attempts, the last version of a file that another program constantly replaces is
// used.
constexpr int kAttempts = 10;
constexpr std::chrono::milliseconds kPause{1};

}  // namespace

void EncodedMessages::truncate(std::int64_t messages) {
  if (messages >= count) {
    return;
  }
  if (messages <= 0 || static_cast<std::int64_t>(ends.size()) < messages) {
    *this = {};
    return;
  }
  count = messages;
  ends.resize(static_cast<std::size_t>(messages));
  text.resize(ends.back());
  signed_is_known = false;
  signed_as.clear();
}

std::string salvage_truncated(std::string_view json) {
  constexpr std::string_view kConversation = "conversation";
  json::Scanner scanner(json);
  std::string out;
  json::ObjectWriter object(out);
  std::string entries;
  json::ArrayWriter array(entries);
  bool has_entries = false;
  const auto take_entry = [&] {
    std::string_view raw;
    if (!scanner.raw(raw)) {
      return false;
    }
    array.item();
    entries += raw;
    has_entries = true;
    return true;
  };
  const bool is_complete = scanner.object([&](std::string_view name) {
    if (name == kConversation) {
      return scanner.array(take_entry);
    }
    std::string_view raw;
    if (!scanner.raw(raw)) {
      return false;
    }
    object.raw(name, raw);
    return true;
  });
  if (is_complete || !has_entries) {
    return "";
  }
  array.close();
  object.raw(kConversation, entries).close();
  return out;
}

FileSession new_file_session(const Session& session) {
  FileSession file{.stored = {.session = session}};
  Session& stored = file.stored.session;
  stored.info.head = {};
  stored.info.answering.reset();
  stored.usage = {};
  return file;
}

void add_message(StoredSession& stored, Message message) {
  SessionInfo& info = stored.session.info;
  message.seq = info.head;
  info.head = info.head.next();
  count_usage(stored, message);
  stored.log->own.push_back(std::make_shared<const Message>(std::move(message)));
}

Result<Documents::Loaded> Documents::load(const fs::path& file) {
  for (int tries = 1;; ++tries) {
    // Fetched before the file is checked, so that the file is this version or newer.
    const auto ours = last_written(file);
    REPRISE_ASSIGN(const FileIdentity before, identify(file));
    if (auto document = cached(file, before); document != nullptr) {
      return Loaded{std::move(document), before};
    }
    REPRISE_ASSIGN(const std::string bytes, read_file(file, format_.file_bytes_max()));
    REPRISE_ASSIGN(const FileIdentity after, identify(file));
    if (before != after && tries < kAttempts) {
      continue;
    }
    REPRISE_ASSIGN(Document decoded, format_.decode(file, bytes));
    if (ours != nullptr) {
      decoded = format_.merge(*ours, std::move(decoded));
    }
    Loaded loaded{std::make_shared<const Document>(std::move(decoded)), {}};
    if (before == after) {
      loaded.identity = after;
      const std::lock_guard lock(mutex_);
      cache_document(cache_, file, loaded);
    }
    return loaded;
  }
}

std::shared_ptr<const Document> Documents::cached(const fs::path& file,
                                                  const FileIdentity& identity) {
  const std::lock_guard lock(mutex_);
  const auto loaded = cache_.find(file);
  return loaded != cache_.end() && loaded->second.identity == identity ? loaded->second.document
                                                                       : nullptr;
}

std::shared_ptr<const Document> Documents::last_written(const fs::path& file) {
  const std::lock_guard lock(mutex_);
  const auto written = written_.find(file);
  return written == written_.end() ? nullptr : written->second.document;
}

void Documents::cache_document(LoadedFiles& cache, const fs::path& file, Loaded loaded) {
  if (cache.size() >= kCachedMax) {
    cache.clear();
  }
  cache[file] = std::move(loaded);
}

// A new session that is no longer beside the file has been written to it meanwhile.
Result<std::optional<Documents::Found>> Documents::find_in_file(const SessionId& id) {
  REPRISE_ASSIGN(auto written, find_written(id));
  if (written || !format_.stores_whole_turns()) {
    return written;
  }
  REPRISE_ASSIGN(auto unsaved, find_unsaved(id));
  return unsaved ? std::move(unsaved) : find_written(id);
}

Result<std::optional<Documents::Found>> Documents::find_written(const SessionId& id) {
  for (int tries = 1;; ++tries) {
    REPRISE_ASSIGN(const auto file, format_.find_file(id));
    if (!file) {
      return std::nullopt;
    }
    auto document = load(*file);
    if (!document && document.error().code == Code::not_found && tries < kAttempts) {
      continue;  // it was moved meanwhile
    }
    if (!document) {
      Error& error = document.error();
      const bool names_file = error.message.find(file->native()) != std::string::npos;
      return names_file ? std::unexpected(std::move(error))
                        : fail_with_context(cat("cannot read ", file->native()), std::move(error));
    }
    const auto session = find_session(*document->document, id);
    if (session == document->document->sessions.end()) {
      return std::nullopt;
    }
    return Found{*file, *document, &*session};
  }
}

Result<LockFile::Hold> Documents::lock() {
  if (options_.access == Access::read) {
    return std::unexpected(read_only(format_.root().native()));
  }
  LockFile* file = nullptr;
  bool is_first = false;
  {
    const std::lock_guard lock(mutex_);
    if (lock_ == nullptr) {
      REPRISE_TRY(make_private_folders(folder_of(format_.lock_file())));
      for (const fs::path& folder : format_.folders()) {
        REPRISE_TRY(make_private_folders(folder));
      }
      REPRISE_ASSIGN(lock_, LockFile::open(format_.lock_file()));
      allocate_reserve(format_.lock_file());
      is_first = true;
    }
    file = lock_.get();
  }
  REPRISE_ASSIGN(LockFile::Hold hold,
                 take_lock(*file, std::chrono::steady_clock::now() + options_.busy_timeout));
  if (is_first) {
    sweep();
  }
  return hold;
}

bool Documents::is_locked() {
  const std::lock_guard lock(mutex_);
  return lock_ != nullptr && lock_->is_held_by_this_thread();
}

// Retries until the other program has replaced its file, or until the timeout of the lock.
Result<> Documents::retry(const std::function<Result<bool>()>& attempt) {
  REPRISE_ASSIGN(const LockFile::Hold hold, lock());
  const auto deadline = std::chrono::steady_clock::now() + options_.busy_timeout;
  for (int tries = 0; tries < kAttempts || std::chrono::steady_clock::now() < deadline; ++tries) {
    if (tries >= kAttempts) {
      std::this_thread::sleep_for(kPause);
    }
    REPRISE_ASSIGN(const bool done, attempt());
    if (done) {
      return {};
    }
  }
  return fail(Code::busy, cat(format_.root().native(),
                              " is constantly being written by another program: try again later"));
}

void Documents::mark_changed(const SessionId& id) {
  const std::lock_guard lock(mutex_);
  changed_.insert(id);
}

Result<> Documents::edit(const SessionId& id, const Edit& edit, Trust trust,
                         const std::function<void()>& on_done) {
  mark_changed(id);
  return retry([&]() -> Result<bool> {
    REPRISE_ASSIGN(const bool is_done, edit_once(id, edit, trust));
    if (is_done && on_done) {
      on_done();
    }
    return is_done;
  });
}

// There may be no room any more for a new session of which nothing is stored.
Result<Documents::Draft> Documents::draft_to_edit(const Found& found, const SessionId& id) {
  if (!found.is_unsaved) {
    return draft_of(found);
  }
  REPRISE_ASSIGN(const bool has_turn, has_pending_turn(id));
  if (has_turn) {
    return draft_of(found, true);
  }
  const auto has_room = check_room(*found.session);
  if (!has_room && has_room.error().code == Code::unsupported) {
    forget_unsaved(id);  // another session was begun first
  }
  REPRISE_TRY(has_room);
  return draft_of(found);
}

Result<bool> Documents::edit_once(const SessionId& id, const Edit& edit, Trust trust) {
  REPRISE_ASSIGN(const auto existing, find_in_file(id));
  if (!existing) {
    return std::unexpected(no_session(id));
  }
  const Found& found = *existing;
  REPRISE_ASSIGN(Draft draft, draft_to_edit(found, id));
  Document& document = draft.document;
  FileSession& session = *find_session(document, id);
  session.stored.log = std::make_shared<Log>(*session.stored.log);  // readers may hold the old one
  REPRISE_ASSIGN(const Outcome outcome, edit(session));
  if (outcome == Outcome::unchanged) {
    REPRISE_TRY(sync_folders(found.file, session.stored));
    return true;
  }
  const fs::path destination = path_for(session.stored);
  REPRISE_ASSIGN(const bool includes_turn, found.is_unsaved&& destination != found.file
                                               ? has_pending_turn(id)
                                               : Result<bool>(false));
  if (outcome == Outcome::pending ||
      (found.is_unsaved && !includes_turn && update_unsaved(id, session))) {
    return true;
  }
  if (destination != found.file) {
    REPRISE_TRY(merge_pending_turn(session));
  }
  if (outcome == Outcome::moved && format_.is_folder() && destination != found.file) {
    REPRISE_TRY(move_unchanged(found.file, destination));
    return true;
  }
  if (trust == Trust::signature) {
    REPRISE_TRY(check_signature(found));
  }
  const Target target{found.file, draft.identity};
  const auto replace = [&] {
    if (destination == found.file) {
      return write(target, std::move(document));
    }
    return format_.is_folder() ? move_session_file(found, destination, std::move(document))
                               : move(target, destination, std::move(document), id);
  };
  REPRISE_ASSIGN(const bool done, replace());
  if (done && found.is_unsaved) {
    forget_unsaved(id);
  }
  return done;
}

Result<Documents::Draft> Documents::draft_at(const fs::path& file) {
  REPRISE_ASSIGN(const auto loaded, if_exists(load(file)));
  return loaded ? Draft{*loaded->document, loaded->identity} : Draft{};
}

Result<> Documents::add(FileSession session) {
  const SessionId id = session.stored.session.info.id;
  const fs::path file = path_for(session.stored);
  mark_changed(id);
  return retry([&]() -> Result<bool> {
    REPRISE_ASSIGN(const auto existing, find(id));
    if (existing) {
      return std::unexpected(session_exists(id));
    }
    REPRISE_ASSIGN(Draft draft, draft_at(file));
    draft.document.sessions.push_back(session);
    REPRISE_TRY(make_private_folders(folder_of(file)));
    return write({file, draft.identity}, std::move(draft.document));
  });
}

// Removes temporary files of processes that died. The caller holds the lock.
void Documents::sweep() const {
  for (const fs::path& folder : folders()) {
    sweep_temporary_files(folder, [&](std::string_view name) { return is_ours(folder, name); });
  }
  format_.sweep();
}

std::vector<fs::path> Documents::folders() const {
  return format_.is_folder()
             ? format_.folders()
             : std::vector{folder_of(format_.root()), beside(format_.root(), ".trash")};
}

// The folder of a single-file store also contains files of others.
bool Documents::is_ours(const fs::path& folder, std::string_view name) const {
  const std::string root = format_.root().filename();
  const bool is_beside = !format_.is_folder() && folder == folder_of(format_.root());
  return is_beside ? name == root || (name.starts_with(root) && name[root.size()] == '.')
                   : name.ends_with(".json");
}

Result<std::vector<Remnant>> Documents::remnants() const {
  const std::string suffix = cat(".", kQuarantineSuffix);
  std::vector<Remnant> found;
  for (const fs::path& folder : folders()) {
    REPRISE_ASSIGN(const FileKind kind, kind_of(folder));
    if (kind == FileKind::file) {
      continue;  // all trashed rows of an index of conversations
    }
    REPRISE_ASSIGN(const auto entries, list_if_exists(folder));
    for (const fs::directory_entry& entry : entries) {
      const std::string name = entry.path().filename();
      const auto at = name.rfind(suffix);
      if (at != std::string::npos && is_ours(folder, name.substr(0, at))) {
        found.push_back({entry.path(), "damaged parts of an earlier version; remove it"});
      }
    }
  }
  return found;
}

Result<> Documents::remove(const SessionId& id) {
  return retry([&]() -> Result<bool> {
    REPRISE_ASSIGN(const Found found, get(id));
    REPRISE_TRY(remove_partial_of(id));
    REPRISE_TRY(format_.before_remove(id));
    if (found.is_unsaved) {
      forget_unsaved(id);
      return true;
    }
    if (format_.is_folder()) {
      std::optional<fs::path> file = found.file;
      while (file) {  // a manual copy may have put it into several folders
        REPRISE_TRY(remove_file(*file));
        REPRISE_ASSIGN(file, format_.find_file(id));
      }
      return true;
    }
    Document document = *found.loaded.document;
    std::erase_if(document.sessions, has_id(id));
    REPRISE_ASSIGN(const bool written,
                   write({found.file, found.loaded.identity}, std::move(document)));
    // A process that died while moving the session has left it in two places.
    REPRISE_ASSIGN(const auto again, written ? find_in_file(id) : std::nullopt);
    return written && !again;
  });
}

Result<std::vector<SessionInfo>> Documents::infos(std::vector<Damage>& damage) {
  REPRISE_ASSIGN(auto infos, format_.infos(damage));
  if (infos) {
    return *std::move(infos);
  }
  const Result<std::optional<Found>> none;
  const std::vector<SessionId> unsaved = unsaved_ids(damage);  // first, like the turn in find()
  std::vector<SessionInfo> listed;
  std::set<SessionId> seen;
  REPRISE_ASSIGN(const std::vector<fs::path> files, format_.files());
  for (const fs::path& file : files) {
    REPRISE_ASSIGN(const auto loaded, if_exists(load(file)));
    if (!loaded) {
      continue;  // it was moved meanwhile
    }
    const Document& document = *loaded->document;
    for (const FileSession& session : document.sessions) {
      const SessionInfo& info = session.stored.session.info;
      if (seen.insert(info.id).second) {
        REPRISE_ASSIGN(const auto current, format_.stores_whole_turns() ? find(info.id) : none);
        listed.push_back(current ? current->session->stored.session.info : info);
      }
      damage.insert(damage.end(), session.damage.begin(), session.damage.end());
    }
    damage.insert(damage.end(), document.damage.begin(), document.damage.end());
    if (document.unreadable) {
      damage.push_back(*document.unreadable);
    }
  }
  add_unsaved(unsaved, listed, damage);
  return listed;
}

}  // namespace reprise::store
