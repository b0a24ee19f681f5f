// What is not in its file yet: the pending turn beside it, which readers see after the messages of
// the file, and new sessions, which are not written to it before their first turn.

#include <algorithm>
#include <memory>
#include <mutex>

#include "base/file.h"
#include "base/json_write.h"
#include "base/lock_file.h"
#include "reprise/session.h"
#include "store/document/document_format.h"
#include "store/document/documents.h"
#include "store/document/partial_file.h"
#include "store/rules.h"
#include "store/stored_session.h"

namespace reprise::store {

namespace fs = std::filesystem;

namespace {

// Omits what only writers need.
FileSession copy_for_readers(const FileSession& session) {
  FileSession copy{.stored = session.stored, .damage = session.damage, .gaps = session.gaps};
  copy.stored.log = std::make_shared<Log>(*session.stored.log);
  return copy;
}

}  // namespace

// The pending turn is read first: it may be added to the file in between, where it is recognised.
// In the other order, it could be missed in both.
Result<std::optional<Documents::Found>> Documents::find(const SessionId& id) {
  if (!format_.stores_whole_turns()) {
    return find_in_file(id);
  }
  REPRISE_ASSIGN(const fs::path file, format_.partial_file(id));
  const auto read = read_pending_turn(file, id);
  const std::optional<PendingTurn> turn = read ? *read : std::nullopt;
  REPRISE_ASSIGN(auto found, find_in_file(id));
  if (!found || (read && !turn)) {
    return found;
  }
  Document document;
  document.sessions.push_back(copy_for_readers(*found->session));
  FileSession& session = document.sessions.front();
  if (turn) {
    REPRISE_TRY(add_pending_turn(session.stored, *turn));
  } else {
    session.damage.push_back({file.native(), read.error().message, ""});
  }
  found->loaded.document = std::make_shared<const Document>(std::move(document));
  found->session = &found->loaded.document->sessions.front();
  return found;
}

Result<Documents::Found> Documents::get(const SessionId& id) {
  REPRISE_ASSIGN(auto found, find(id));
  if (!found) {
    return std::unexpected(no_session(id));
  }
  return *std::move(found);
}

Result<bool> Documents::has_pending_turn(const SessionId& id) const {
  if (!format_.stores_whole_turns()) {
    return false;
  }
  REPRISE_ASSIGN(const fs::path file, format_.partial_file(id));
  REPRISE_ASSIGN(const auto turn, read_pending_turn(file, id));
  return turn && turn->has_content();
}

// If all sessions share one partial file, it may belong to another one.
Result<> Documents::remove_partial_of(const SessionId& id) const {
  REPRISE_ASSIGN(const fs::path file, format_.partial_file(id));
  if (format_.stores_whole_turns()) {
    const auto turn = read_pending_turn(file).value_or(std::nullopt);
    if (turn && turn->session != id && turn->has_content()) {
      return {};
    }
  }
  return remove_if_exists(file);
}

Result<> Documents::merge_pending_turn(FileSession& session) const {
  if (!format_.stores_whole_turns()) {
    return {};
  }
  const SessionId& id = session.stored.session.info.id;
  REPRISE_ASSIGN(const fs::path file, format_.partial_file(id));
  REPRISE_ASSIGN(const auto turn, read_pending_turn(file, id));
  if (turn) {
    REPRISE_TRY(add_pending_turn(session.stored, *turn));
  }
  return {};
}

// Sessions that could not be written later are refused now.
Result<> Documents::begin(FileSession session) {
  const SessionId id = session.stored.session.info.id;
  REPRISE_ASSIGN(const LockFile::Hold hold, lock());
  REPRISE_ASSIGN(const auto existing, find(id));
  if (existing) {
    return std::unexpected(session_exists(id));
  }
  REPRISE_TRY(check_room(session));
  mark_changed(id);
  const std::lock_guard guard(mutex_);
  unsaved_.insert_or_assign(id, std::move(session));
  return {};
}

// Fails if the session cannot be in the file: the file, or the pending turn of a new one, may hold
// another session that it has no room for.
Result<> Documents::check_room(const FileSession& session) {
  const SessionId& id = session.stored.session.info.id;
  const auto read = read_pending_turn(format_.pending_file());
  if (!read && read.error().code != Code::corrupt) {
    return std::unexpected(read.error());
  }
  const std::optional<PendingTurn> pending = read.value_or(std::nullopt);
  const Found found{
      .file = path_for(session.stored), .loaded = {}, .session = &session, .is_unsaved = true};
  REPRISE_ASSIGN(Draft draft, draft_of(found));
  if (pending && !pending->unsaved_session.empty() && pending->session != id &&
      pending->has_content()) {
    REPRISE_ASSIGN(const auto pending_session, find_in_file(pending->session));
    if (pending_session &&
        pending_session->is_unsaved) {  // otherwise it is in the trash and does not interfere
      draft.document.sessions.push_back(*pending_session->session);
    }
  }
  REPRISE_TRY(encoded(found.file, draft.document));
  return {};
}

Result<std::string> Documents::encode_unsaved(const SessionId& id) {
  Document document;
  {
    const std::lock_guard guard(mutex_);
    const auto unsaved_session = unsaved_.find(id);
    if (unsaved_session == unsaved_.end()) {
      return std::string();
    }
    document.sessions.push_back(unsaved_session->second);
  }
  REPRISE_ASSIGN(const std::string text, format_.encode(document));
  return json::compact(text);
}

Result<FileSession> Documents::read_unsaved(const std::string& json) const {
  REPRISE_ASSIGN(Document document, format_.decode(format_.root(), json));
  if (document.sessions.size() != 1) {
    return fail(Code::corrupt, "the session that was started cannot be read");
  }
  FileSession session = std::move(document.sessions.front());
  session.encoded = {};
  session.preserved.clear();
  return session;
}

// In memory if this process started it, otherwise beside the file.
Result<std::optional<Documents::Found>> Documents::find_unsaved(const SessionId& id) {
  std::optional<FileSession> session;
  {
    const std::lock_guard guard(mutex_);
    if (const auto unsaved_session = unsaved_.find(id); unsaved_session != unsaved_.end()) {
      session = unsaved_session->second;
    }
  }
  if (!session) {
    const auto read = read_pending_turn(format_.pending_file(), id);
    if (!read && read.error().code != Code::corrupt) {
      return std::unexpected(read.error());
    }
    // An unreadable turn names no session; lists and verify() report it.
    const auto pending = read.value_or(std::nullopt);
    if (!pending || pending->unsaved_session.empty()) {
      return std::nullopt;
    }
    REPRISE_ASSIGN(session, read_unsaved(pending->unsaved_session));
  }
  Document document;
  document.sessions.push_back(*std::move(session));
  Found found{.file = path_for(document.sessions.front().stored),
              .loaded = {std::make_shared<const Document>(std::move(document)), {}},
              .session = nullptr,
              .is_unsaved = true};
  found.session = &found.loaded.document->sessions.front();
  return found;
}

// The file's document, with the new session as its last one.
Result<Documents::Draft> Documents::draft_of(const Found& found, bool may_join) {
  if (!found.is_unsaved) {
    return Draft{*found.loaded.document, found.loaded.identity};
  }
  REPRISE_ASSIGN(Draft draft, draft_at(found.file));
  if (may_join && format_.join(draft.document, *found.session)) {
    return draft;
  }
  draft.document.sessions.push_back(*found.session);
  return draft;
}

// Changes of a session without messages remain in memory; otherwise they are written to the file.
bool Documents::update_unsaved(const SessionId& id, const FileSession& changed) {
  const std::lock_guard guard(mutex_);
  const auto unsaved_session = unsaved_.find(id);
  if (unsaved_session == unsaved_.end() || changed.stored.session.info.head > Seq{0}) {
    return false;
  }
  unsaved_session->second = changed;
  return true;
}

void Documents::forget_unsaved(const SessionId& id) {
  const std::lock_guard guard(mutex_);
  unsaved_.erase(id);
}

// Those in memory, and that of the pending turn, which may be in the file.
std::vector<SessionId> Documents::unsaved_ids(std::vector<Damage>& damage) {
  std::vector<SessionId> ids;
  if (!format_.stores_whole_turns()) {
    return ids;
  }
  {
    const std::lock_guard guard(mutex_);
    for (const auto& [id, session] : unsaved_) {
      ids.push_back(id);
    }
  }
  const auto read = read_pending_turn(format_.pending_file());
  if (!read) {
    damage.push_back({format_.pending_file().native(), read.error().message, ""});
  } else if (const auto& pending = *read; pending) {
    ids.push_back(pending->session);
  }
  return ids;
}

// A pending turn may have been added to the file since the files were read: then it is found there.
void Documents::add_unsaved(const std::vector<SessionId>& ids, std::vector<SessionInfo>& infos,
                            std::vector<Damage>& damage) {
  for (const SessionId& id : ids) {
    if (std::ranges::find(infos, id, &SessionInfo::id) != infos.end()) {
      continue;
    }
    const auto found = find(id);
    if (!found) {
      damage.push_back({format_.pending_file().native(), found.error().message, ""});
    } else if (const auto& unsaved = *found; unsaved) {
      infos.push_back(unsaved->session->stored.session.info);
    }
  }
}

}  // namespace reprise::store
