// Sessions for readers: including the pending turn beside their file.

#include "base/file.h"
#include "store/document/document_format.h"
#include "store/document/documents.h"
#include "store/document/partial_file.h"
#include "store/document/pending_turn.h"
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

// The pending turn is read first: it may be added to the file in between, where it is recognized.
// In the other order, it could be missed in both.
Result<std::optional<Documents::Found>> Documents::find(const SessionId& id) {
  if (!files_.stores_whole_turns()) {
    return find_in_file(id);
  }
  REPRISE_ASSIGN(const fs::path file, files_.partial_file(id));
  const auto read = read_pending_turn(file, id);
  const std::optional<PendingTurn> turn = read ? *read : std::nullopt;
  REPRISE_ASSIGN(auto found, find_in_file(id));
  if (!found || (read && !turn)) {
    return found;
  }
  Document seen;
  seen.sessions.push_back(copy_for_readers(*found->session));
  FileSession& session = seen.sessions.front();
  if (turn) {
    REPRISE_TRY(add_pending_turn(session.stored, *turn));
  } else {
    session.damage.push_back({file.native(), read.error().message, ""});
  }
  found->loaded.document = std::make_shared<const Document>(std::move(seen));
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
  if (!files_.stores_whole_turns()) {
    return false;
  }
  REPRISE_ASSIGN(const fs::path file, files_.partial_file(id));
  REPRISE_ASSIGN(const auto turn, read_pending_turn(file, id));
  return turn && turn->has_content();
}

// If all sessions share one partial file, it may belong to another one.
Result<> Documents::remove_partial_of(const SessionId& id) const {
  REPRISE_ASSIGN(const fs::path file, files_.partial_file(id));
  if (files_.stores_whole_turns()) {
    const auto turn = read_pending_turn(file).value_or(std::nullopt);
    if (turn && turn->session != id && turn->has_content()) {
      return {};
    }
  }
  return remove_partial(file);
}

Result<> Documents::merge_pending_turn(FileSession& session) const {
  if (!files_.stores_whole_turns()) {
    return {};
  }
  const SessionId& id = session.stored.session.info.id;
  REPRISE_ASSIGN(const fs::path file, files_.partial_file(id));
  REPRISE_ASSIGN(const auto turn, read_pending_turn(file, id));
  if (turn) {
    REPRISE_TRY(add_pending_turn(session.stored, *turn));
  }
  return {};
}

}  // namespace reprise::store
