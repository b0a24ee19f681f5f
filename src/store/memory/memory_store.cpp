#include "store/memory/memory_store.h"

#include <mutex>

#include "reprise/capabilities.h"
#include "reprise/environment.h"
#include "reprise/open_store.h"
#include "store/call.h"
#include "store/provide.h"
#include "store/query.h"
#include "store/rules.h"
#include "store/stored_session.h"

namespace reprise::store {

void BlobTable::put(const BlobHash& hash, std::string_view bytes) {
  pin(hash, clock_.now());
  bytes_.try_emplace(hash, bytes);
  collect();
}

const std::string* BlobTable::find(const BlobHash& hash) const {
  const auto found = bytes_.find(hash);
  return found == bytes_.end() ? nullptr : &found->second;
}

void BlobTable::add_references(const SessionId& id, const std::vector<Block>& blocks) {
  for (const BlobHash& hash : blobs_in(blocks)) {
    reference_counts_[hash] += references_of_[id].insert(hash).second ? 1 : 0;
  }
}

void BlobTable::release(const SessionId& id) {
  const auto references = references_of_.extract(id);
  if (references) {
    for (const BlobHash& hash : references.mapped()) {
      if (--reference_counts_[hash] == 0) {
        reference_counts_.erase(hash);
      }
      if (!pins_.contains(hash)) {
        pin(hash, Time::min());
      }
    }
  }
  collect();
}

void BlobTable::pin(const BlobHash& hash, Time put_at) {
  if (const auto known = pins_.find(hash); known != pins_.end()) {
    pins_by_time_.erase({known->second, hash});
  }
  pins_.insert_or_assign(hash, put_at);
  pins_by_time_.emplace(put_at, hash);
}

// Each blob is examined once after its put, and once when it loses a reference.
void BlobTable::collect() {
  const Time before = clock_.now() - kBlobPinned;
  while (!pins_by_time_.empty() && pins_by_time_.begin()->first < before) {
    const BlobHash hash = pins_by_time_.begin()->second;
    pins_by_time_.erase(pins_by_time_.begin());
    pins_.erase(hash);
    if (!reference_counts_.contains(hash)) {
      bytes_.erase(hash);
    }
  }
}

}  // namespace reprise::store

namespace reprise {

namespace store {

Result<StoredSession*> MemoryStore::get(const SessionId& id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) {
    return std::unexpected(no_session(id));
  }
  return &found->second;
}

Result<AppendResult> MemoryStore::write(StoredSession& stored, Seq from,
                                        std::vector<Message> messages,
                                        const AppendOptions& options) {
  REPRISE_ASSIGN(const AppendResult appended,
                 write_messages(stored, from, std::move(messages), options));
  for (std::int64_t seq = appended.first.value; !appended.repeated && seq < appended.head.value;
       ++seq) {
    blobs_.add_references(stored.session.info.id, stored.log->at(seq)->blocks);
  }
  return appended;
}

Result<> MemoryStore::create(const Session& session) {
  REPRISE_TRY(check_new_session(session));
  const std::lock_guard lock(mutex_);
  const auto [entry, is_new] = sessions_.try_emplace(session.info.id, session);
  if (!is_new) {
    return std::unexpected(session_exists(session.info.id));
  }
  Session& stored = entry->second.session;
  stored.info.head = {};
  stored.info.answering.reset();
  stored.usage = {};
  return {};
}

Result<std::optional<Session>> MemoryStore::find(const SessionId& id) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) {
    return std::nullopt;
  }
  return found->second.session;
}

Result<> MemoryStore::update(const SessionId& id, const SessionPatch& patch) {
  const std::lock_guard lock(mutex_);
  REPRISE_ASSIGN(StoredSession* const stored, get(id));
  return apply_patch(stored->session, patch);
}

Result<SessionPage> MemoryStore::list(const SessionQuery& query) {
  REPRISE_ASSIGN(const CheckedQuery checked, check_query(query, capabilities()));
  std::vector<SessionInfo> matching;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, stored] : sessions_) {
    if (matches(stored.session.info, checked)) {
      matching.push_back(stored.session.info);
    }
  }
  return make_page(std::move(matching), query);
}

Result<AppendResult> MemoryStore::append(const SessionId& id, std::vector<Message> messages,
                                         AppendOptions options) {
  const std::lock_guard lock(mutex_);
  REPRISE_ASSIGN(StoredSession* const stored, get(id));
  return write(*stored, stored->session.info.head, std::move(messages), options);
}

Result<ReadReport> MemoryStore::read(const SessionId& id, ReadRange range,
                                     const MessageSink& sink) {
  std::shared_ptr<const Log> log;
  Span span{};
  {
    const std::lock_guard lock(mutex_);
    REPRISE_ASSIGN(const StoredSession* const stored, get(id));
    log = stored->log;
    span = clamp(range, stored->session.info.head);
  }
  for (std::int64_t done = 0; done < span.to - span.from; ++done) {
    const std::int64_t seq = range.newest_first ? span.to - 1 - done : span.from + done;
    SharedMessage message;
    {
      const std::lock_guard lock(mutex_);
      message = log->at(seq);
    }
    if (sink(Message(*message)) == Flow::stop) {
      break;
    }
  }
  return ReadReport{};
}

}  // namespace store

std::unique_ptr<Store> open_memory_store(const StoreOptions& options) {
  return store::guard(std::make_unique<store::MemoryStore>(*options.clock),
                      store::CallOptions(options));
}

}  // namespace reprise
