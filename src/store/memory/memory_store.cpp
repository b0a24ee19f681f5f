// The reference for the contract: everything in memory, nothing clever.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "reprise/environment.h"
#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/open_store.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"
#include "store/facts.h"
#include "store/memory/memory_state.h"
#include "store/own_process.h"
#include "store/query.h"
#include "store/stored_session.h"

namespace reprise {

Result<store::StoredSession*> store::MemoryState::get(const SessionId& id) {
  const auto found = sessions.find(id);
  if (found == sessions.end()) {
    return std::unexpected(no_session(id));
  }
  return &found->second;
}

Result<Appended> store::MemoryState::write(StoredSession& stored, Seq from,
                                           std::vector<Message> messages,
                                           const AppendOptions& options) {
  REPRISE_ASSIGN(const Appended appended,
                 write_messages(stored, from, std::move(messages), options));
  for (std::int64_t seq = appended.first.value; !appended.repeated && seq < appended.head.value;
       ++seq) {
    blobs.name(stored.session.info.id, stored.log->at(seq)->blocks);
  }
  return appended;
}

namespace {

class MemoryStore final : public Store {
 public:
  explicit MemoryStore(Clock& clock) : state_(clock) {}

  Result<> create(const Session& session) override;
  Result<std::optional<Session>> find(const SessionId& id) override;
  Result<> update(const SessionId& id, const SessionPatch& patch) override;
  Result<SessionPage> list(const SessionQuery& query) override;
  Result<Appended> append(const SessionId& id, std::vector<Message> messages,
                          AppendOptions options) override;
  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override;
  StoreHolds holds() const override { return {}; }
  const StoreOffers& offers() const override { return offers_.offers(); }

 private:
  store::MemoryState state_;
  store::MemoryOffers offers_{state_};
};

Result<> MemoryStore::create(const Session& session) {
  REPRISE_TRY(store::check_new_session(session));
  const std::lock_guard lock(state_.mutex);
  const auto [place, is_new] = state_.sessions.try_emplace(session.info.id, session);
  if (!is_new) {
    return std::unexpected(store::session_exists(session.info.id));
  }
  Session& stored = place->second.session;
  stored.info.head = {};
  stored.info.answering.reset();
  stored.usage = {};
  return {};
}

Result<std::optional<Session>> MemoryStore::find(const SessionId& id) {
  const std::lock_guard lock(state_.mutex);
  const auto found = state_.sessions.find(id);
  if (found == state_.sessions.end()) {
    return std::nullopt;
  }
  return found->second.session;
}

Result<> MemoryStore::update(const SessionId& id, const SessionPatch& patch) {
  const std::lock_guard lock(state_.mutex);
  REPRISE_ASSIGN(store::StoredSession* const stored, state_.get(id));
  return store::apply_patch(stored->session, patch);
}

Result<SessionPage> MemoryStore::list(const SessionQuery& query) {
  REPRISE_ASSIGN(const store::CheckedQuery checked, store::check_query(query));
  std::vector<SessionInfo> matching;
  const std::lock_guard lock(state_.mutex);
  for (const auto& [id, stored] : state_.sessions) {
    if (store::matches(stored.session.info, checked)) {
      matching.push_back(stored.session.info);
    }
  }
  return store::make_page(std::move(matching), query.limit);
}

Result<Appended> MemoryStore::append(const SessionId& id, std::vector<Message> messages,
                                     AppendOptions options) {
  const std::lock_guard lock(state_.mutex);
  REPRISE_ASSIGN(store::StoredSession* const stored, state_.get(id));
  return state_.write(*stored, stored->session.info.head, std::move(messages), options);
}

Result<ReadReport> MemoryStore::read(const SessionId& id, ReadRange range,
                                     const MessageSink& sink) {
  std::shared_ptr<const store::Log> log;
  store::Span span{};
  {
    const std::lock_guard lock(state_.mutex);
    REPRISE_ASSIGN(const store::StoredSession* const stored, state_.get(id));
    log = stored->log;
    span = store::clamp(range, stored->session.info.head);
  }
  for (std::int64_t done = 0; done < span.to - span.from; ++done) {
    const std::int64_t seq = range.newest_first ? span.to - 1 - done : span.from + done;
    store::SharedMessage message;
    {
      const std::lock_guard lock(state_.mutex);
      message = log->at(seq);
    }
    if (sink(Message(*message)) == Flow::stop) {
      break;
    }
  }
  return ReadReport{};
}

}  // namespace

std::unique_ptr<Store> open_memory_store(Clock& clock) {
  return store::in_own_process(std::make_unique<MemoryStore>(clock));
}

}  // namespace reprise
