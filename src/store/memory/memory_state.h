#pragma once

// What the memory store keeps. One mutex guards all of it; readers take it for the moment in which
// they pick up one message.

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "reprise/environment.h"
#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"
#include "store/memory/blob_table.h"
#include "store/stored_session.h"

namespace reprise::store {

struct MemoryState {
  explicit MemoryState(Clock& clock) : blobs(clock) {}

  std::mutex mutex;
  std::map<SessionId, StoredSession> sessions;
  BlobTable blobs;

  // The caller holds the mutex. not_found for an unknown session.
  Result<StoredSession*> get(const SessionId& id);
  // As write_messages(); the blobs that the batch names are the session's.
  Result<Appended> write(StoredSession& stored, Seq from, std::vector<Message> messages,
                         const AppendOptions& options);
};

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
