// The capabilities of the memory store.

#include <iterator>
#include <mutex>

#include "base/encode.h"
#include "base/text.h"
#include "store/memory/memory_store.h"
#include "store/rules.h"
#include "store/stored_json.h"
#include "store/stored_session.h"

namespace reprise::store {
namespace {

constexpr std::size_t kBlobPieceMax = std::size_t{1} << 20;

}  // namespace

Result<AppendResult> MemoryStore::replace_suffix(const SessionId& id, Seq from,
                                                 std::vector<Message> messages,
                                                 AppendOptions options) {
  const std::lock_guard lock(mutex_);
  REPRISE_ASSIGN(StoredSession* const stored, get(id));
  return write(*stored, from, std::move(messages), options);
}

Result<std::int64_t> MemoryStore::count_replaced(const SessionId& id) {
  const std::lock_guard lock(mutex_);
  REPRISE_ASSIGN(const StoredSession* const stored, get(id));
  return std::ssize(stored->replaced);
}

Result<ReadReport> MemoryStore::read_replaced(const SessionId& id, const MessageSink& sink) {
  StoredSession copy{.session = {.info = {.id = id}}};
  {
    const std::lock_guard lock(mutex_);
    REPRISE_ASSIGN(const StoredSession* const stored, get(id));
    copy.replaced = stored->replaced;
  }
  return deliver_replaced(copy, sink);  // called without the mutex: it may use the store
}

Result<> MemoryStore::fork(const SessionId& parent, Seq at, const Session& child) {
  REPRISE_TRY(check_new_session(child));
  const std::lock_guard lock(mutex_);
  REPRISE_ASSIGN(const StoredSession* const origin, get(parent));
  REPRISE_TRY(check_fork(parent, origin->session.info.head, at));
  const auto [entry, is_new] = sessions_.try_emplace(child.info.id, child);
  if (!is_new) {
    return std::unexpected(session_exists(child.info.id));
  }
  StoredSession& stored = entry->second;
  stored.log = share(origin->log, at.value);
  stored.shares_with_parent = at.value > 0;
  stored.session.info.head = at;
  stored.session.info.forked_from = ForkOrigin{parent, at};
  stored.session.info.answering.reset();
  stored.session.usage = {};
  return {};
}

Result<StoredSession*> MemoryStore::get_running(const SessionId& id, const OperationId& answer) {
  REPRISE_ASSIGN(StoredSession* const stored, get(id));
  if (!stored->partial || stored->partial->answer != answer) {
    return std::unexpected(answer_not_running(id, answer));
  }
  return stored;
}

Result<> MemoryStore::add_partial(const SessionId& id, const OperationId& answer,
                                  std::span<const Block> delta) {
  const std::lock_guard lock(mutex_);
  REPRISE_ASSIGN(StoredSession* const stored, get_running(id, answer));
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): checked by get_running()
  append_delta(stored->partial->blocks, delta);
  blobs_.add_references(id, {delta.begin(), delta.end()});
  return {};
}

Result<> MemoryStore::renew_lease(const SessionId& id, const OperationId& answer,
                                  const Lease& lease) {
  const std::lock_guard lock(mutex_);
  REPRISE_ASSIGN(StoredSession* const stored, get_running(id, answer));
  set_lease(*stored, lease);
  return {};
}

Result<std::optional<Partial>> MemoryStore::find_partial(const SessionId& id) {
  const std::lock_guard lock(mutex_);
  REPRISE_ASSIGN(const StoredSession* const stored, get(id));
  return stored->partial;
}

Result<std::vector<Todo>> MemoryStore::todos(const SessionId& id) {
  const std::lock_guard lock(mutex_);
  REPRISE_ASSIGN(const StoredSession* const stored, get(id));
  return stored->todos;
}

Result<std::vector<Todo>> MemoryStore::edit_todos(
    const SessionId& id, const std::function<Result<>(std::vector<Todo>&)>& edit) {
  const std::lock_guard lock(mutex_);
  REPRISE_ASSIGN(StoredSession* const stored, get(id));
  std::vector<Todo> todos = stored->todos;
  REPRISE_TRY(edit(todos));
  stored->todos = todos;
  return todos;
}

Result<> MemoryStore::save_artefact(const SessionId& id, Step step, std::string_view name,
                                    std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  REPRISE_TRY(check_artefact(step, name));
  REPRISE_ASSIGN(StoredSession* const stored, get(id));
  stored->artefacts[{step, std::string(name)}] = bytes;
  return {};
}

Result<> MemoryStore::append_artefact(const SessionId& id, Step step, std::string_view name,
                                      std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  REPRISE_TRY(check_artefact(step, name));
  REPRISE_ASSIGN(StoredSession* const stored, get(id));
  stored->artefacts[{step, std::string(name)}] += bytes;
  return {};
}

Result<std::optional<std::string>> MemoryStore::find_artefact(const SessionId& id, Step step,
                                                              std::string_view name) {
  const std::lock_guard lock(mutex_);
  REPRISE_TRY(check_artefact(step, name));
  REPRISE_ASSIGN(const StoredSession* const stored, get(id));
  const auto found = stored->artefacts.find({step, std::string(name)});
  if (found == stored->artefacts.end()) {
    return std::nullopt;
  }
  return found->second;
}

Result<std::vector<Artefacts::Entry>> MemoryStore::list_artefacts(const SessionId& id) {
  const std::lock_guard lock(mutex_);
  REPRISE_ASSIGN(const StoredSession* const stored, get(id));
  std::vector<Entry> entries;
  entries.reserve(stored->artefacts.size());
  for (const auto& [key, bytes] : stored->artefacts) {
    entries.push_back({key.first, key.second, static_cast<std::int64_t>(bytes.size())});
  }
  return entries;
}

Result<BlobHash> MemoryStore::put_blob(std::string_view bytes) {
  REPRISE_ASSIGN(BlobHash hash, sha256(bytes));
  const std::lock_guard lock(mutex_);
  blobs_.put(hash, bytes);
  return hash;
}

Result<> MemoryStore::read_blob(const BlobHash& hash,
                                const std::function<Flow(std::string_view)>& sink) {
  std::string bytes;
  {
    const std::lock_guard lock(mutex_);
    const std::string* const found = blobs_.find(hash);
    if (found == nullptr) {
      return fail(Code::not_found, cat("no blob ", hash.str()));
    }
    bytes = *found;
  }
  for (std::size_t at = 0; at < bytes.size(); at += kBlobPieceMax) {
    if (sink(std::string_view(bytes).substr(at, kBlobPieceMax)) == Flow::stop) {
      break;
    }
  }
  return {};
}

Result<> MemoryStore::archive(const SessionId& id, Time /*when*/) {
  const std::lock_guard lock(mutex_);
  REPRISE_ASSIGN(StoredSession* const stored, get(id));
  REPRISE_TRY(check_archive(stored->session.info));
  stored->session.info.state = SessionState::archived;
  return {};
}

Result<> MemoryStore::unarchive(const SessionId& id) {
  const std::lock_guard lock(mutex_);
  REPRISE_ASSIGN(StoredSession* const stored, get(id));
  REPRISE_ASSIGN(stored->session.info.state, state_unarchived(stored->session.info));
  return {};
}

Result<> MemoryStore::trash(const SessionId& id, Time /*when*/) {
  const std::lock_guard lock(mutex_);
  REPRISE_ASSIGN(StoredSession* const stored, get(id));
  SessionState& state = stored->session.info.state;
  if (state != SessionState::trashed) {
    stored->state_before_trash = std::exchange(state, SessionState::trashed);
  }
  return {};
}

Result<> MemoryStore::restore(const SessionId& id) {
  const std::lock_guard lock(mutex_);
  REPRISE_ASSIGN(StoredSession* const stored, get(id));
  if (stored->session.info.state != SessionState::trashed) {
    return std::unexpected(not_in_trash(id));
  }
  stored->session.info.state = stored->state_before_trash;
  return {};
}

Result<> MemoryStore::purge(const SessionId& id) {
  const std::lock_guard lock(mutex_);
  REPRISE_TRY(get(id));
  REPRISE_TRY(check_unshared(id));
  sessions_.erase(id);
  blobs_.release(id);
  return {};
}

Result<> MemoryStore::check_unshared(const SessionId& id) const {
  std::vector<std::string> sharing;
  for (const auto& [other, stored] : sessions_) {
    const auto& origin = stored.session.info.forked_from;
    if (stored.shares_with_parent && origin && origin->session == id) {
      sharing.push_back(other.str());
    }
  }
  return store::check_unshared(id, sharing);
}

}  // namespace reprise::store
