#pragma once

// What a conversation could not store, kept elsewhere until it can be brought into the store.

#include "reprise/session.h"  // IWYU pragma: export

namespace reprise {

// One append, or replacement, that the store has not acknowledged; it may have happened.
struct OutboxStep {
  OperationId operation;
  Seq after = {};  // the head that it follows, as the conversation knew it
  std::vector<Message> messages = {};
  std::optional<Seq> replace_from = std::nullopt;
  std::optional<OperationId> end_partial = std::nullopt;
};

// The steps of one conversation, in order.
struct OutboxSession {
  Session session;  // as it was created or found
  SessionId aside;  // of the session that takes the steps when the session has gone on without them
  std::string store = {};  // the URL of the store that did not take them, as it may be shown
  std::vector<OutboxStep> steps = {};
};

// Used by one thread at a time.
class Outbox {
 public:
  virtual ~Outbox() = default;
  // Durable on disk when it returns without an error; after one, nothing of the step is kept.
  virtual Result<> keep(const Session& session, const OutboxStep& step) = 0;
  // The store has all that was kept.
  virtual void all_stored() = 0;
  // What was kept waits until it is brought in, whatever the store takes from now on: another
  // process has gone on with the session. The next step begins anew, apart from it.
  virtual void begin_anew() = 0;
  // For the person who is warned: where it is kept, and what brings it back.
  virtual std::string where() const = 0;
};

}  // namespace reprise
