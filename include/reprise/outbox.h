#pragma once

// Messages that a conversation could not store, saved elsewhere until they can be delivered.

#include "reprise/message.h"  // IWYU pragma: export
#include "reprise/session.h"  // IWYU pragma: export

namespace reprise {

// A blob that messages name, because the store may remove it before they are delivered.
struct OutboxBlob {
  BlobHash hash;
  std::string bytes;
  friend bool operator==(const OutboxBlob&, const OutboxBlob&) = default;
};

// One append or replacement that the store has not acknowledged; it may have been applied.
struct OutboxStep {
  OperationId operation;
  Seq after = {};  // the head that it follows, as known to the conversation
  std::vector<Message> messages = {};
  std::optional<Seq> replace_from = std::nullopt;
  std::optional<OperationId> end_partial = std::nullopt;
  std::vector<OutboxBlob> blobs = {};  // those of the messages that the conversation has put
};

// The steps of one conversation, in order.
struct OutboxSession {
  Session session;         // as it was created or found
  SessionId fork;          // for the steps, if the session was changed by others meanwhile
  std::string store = {};  // the URL of the store that failed, without its password
  std::vector<OutboxStep> steps = {};
};

// Used by one thread at a time.
class Outbox {
 public:
  virtual ~Outbox() = default;
  // Durable on disk when it returns without an error; after an error nothing of the step is stored.
  virtual Result<> add(const Session& session, const OutboxStep& step) = 0;
  // Deletes all steps, once the store has acknowledged them.
  virtual void clear() = 0;
  // Another process has changed the session: the steps remain until they are delivered, even if the
  // store works again. The next step starts a separate record.
  virtual void rotate() = 0;
  // For the warning to the user: where the steps are, and which command delivers them.
  virtual std::string where() const = 0;
};

}  // namespace reprise
