#pragma once

// What the memory store keeps. One mutex guards all of it; messages never change once they are
// stored, so readers take the lock for the moment in which they pick up one message.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reprise/message.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"

namespace reprise::store {

using SharedMessage = std::shared_ptr<const Message>;

// A session's messages: the first `base_count` of `base`, then its own. What a fork shares with
// its parent is the parent's log itself. A log only grows: whoever holds it together with a head
// has a snapshot.
struct Log {
  std::shared_ptr<const Log> base;
  std::int64_t base_count = 0;
  std::vector<SharedMessage> own;

  std::int64_t size() const { return base_count + static_cast<std::int64_t>(own.size()); }
  const SharedMessage& at(std::int64_t seq) const;
};

// A log that begins with the first `count` messages of `log`, at a cost that does not depend on
// their number.
std::shared_ptr<Log> share(const std::shared_ptr<const Log>& log, std::int64_t count);

struct StoredSession {
  Session session;
  std::shared_ptr<Log> log = std::make_shared<Log>();
  bool shares_with_parent = false;  // a forked_from alone may be a fact that came from elsewhere
  std::vector<SharedMessage> replaced;  // kept aside until the session is purged
  std::map<OperationId, Appended> operations;
  std::set<std::string> counted_requests;
  std::optional<Partial> partial;
  std::vector<Todo> todos;
  std::map<std::pair<Step, std::string>, std::string> artefacts;
  SessionState state_before_trash = SessionState::active;
};

struct MemoryState {
  std::mutex mutex;
  std::map<SessionId, StoredSession> sessions;
  std::map<BlobHash, std::string> blobs;

  // The caller holds the mutex. not_found for an unknown session.
  Result<StoredSession*> get(const SessionId& id);
};

// Puts the messages after those before `from`, as one step; what stood there gives way. The
// caller holds the mutex.
Result<Appended> write_messages(StoredSession& stored, Seq from, std::vector<Message> messages,
                                const AppendOptions& options);

// What the memory store offers besides the core. The state must outlive it.
class MemoryOffers {
 public:
  explicit MemoryOffers(MemoryState& state);
  ~MemoryOffers();
  MemoryOffers(const MemoryOffers&) = delete;
  MemoryOffers& operator=(const MemoryOffers&) = delete;
  MemoryOffers(MemoryOffers&&) = delete;
  MemoryOffers& operator=(MemoryOffers&&) = delete;
  const StoreOffers& offers() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace reprise::store
