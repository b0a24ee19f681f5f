#pragma once

// A session in stores that hold whole sessions in memory: the memory store, and those that read and
// replace whole files. Stored messages are immutable.

#include <map>     // IWYU pragma: export
#include <memory>  // IWYU pragma: export

#include "reprise/capabilities.h"  // IWYU pragma: export
#include "reprise/store.h"         // IWYU pragma: export
#include "store/usage_sum.h"       // IWYU pragma: export

namespace reprise::store {

using SharedMessage = std::shared_ptr<const Message>;

// A session's messages: the first `base_count` of `base`, then its own. A fork shares its parent's
// log. A log only grows, so a log together with a head is a snapshot.
struct Log {
  std::shared_ptr<const Log> base;
  std::int64_t base_count = 0;
  std::vector<SharedMessage> own;

  std::int64_t size() const { return base_count + static_cast<std::int64_t>(own.size()); }
  const SharedMessage& at(std::int64_t seq) const;
};

// A log that begins with the first `count` messages of `log`, in constant time.
std::shared_ptr<Log> share(const std::shared_ptr<const Log>& log, std::int64_t count);

// A completed operation; `number` is its position among those of the session.
struct CompletedOperation {
  AppendResult result;
  std::size_t number = 0;
};

struct StoredSession {
  Session session;
  std::shared_ptr<Log> log = std::make_shared<Log>();
  bool shares_with_parent = false;           // forked_from alone may come from an import
  std::vector<SharedMessage> replaced = {};  // kept until the session is purged
  std::map<OperationId, CompletedOperation> operations = {};  // see add_operation()
  CountedRequests counted_requests = {};
  std::optional<Partial> partial = {};
  std::vector<Todo> todos = {};
  std::map<std::pair<Step, std::string>, std::string> artefacts = {};
  SessionState state_before_trash = SessionState::active;
};

// Adds the message's usage to the session's sums, once per request.
void count_usage(StoredSession& stored, const Message& message);

// Whether a write is allowed (rules.h).
Result<> check_write(const StoredSession& stored, Seq from, std::size_t messages,
                     const AppendOptions& options);

// Ends and begins running answers as the options specify.
void change_partial(StoredSession& stored, const AppendOptions& options);

// Records a completed operation as the newest one, unless it is known.
void add_operation(StoredSession& stored, const OperationId& id, Seq first, Seq head);
// All completed operations, oldest first.
std::vector<std::pair<OperationId, AppendResult>> operations_in_order(const StoredSession& stored);
// Adds the operations of another version of the session that this one lacks.
void merge_operations(StoredSession& stored, const StoredSession& other);

// Sets the lease of the running answer.
void set_lease(StoredSession& stored, const Lease& lease);

// Replaces the messages from `from` on with `messages`, as one operation. The replaced messages are
// kept in `replaced`. On failure, nothing is changed.
Result<AppendResult> write_messages(StoredSession& stored, Seq from, std::vector<Message> messages,
                                    const AppendOptions& options);

// Like ReplacedReader::read_replaced().
ReadReport deliver_replaced(const StoredSession& stored, const MessageSink& sink);

}  // namespace reprise::store
