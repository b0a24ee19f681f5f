#pragma once

// A session as a store keeps it that holds whole sessions in memory: the memory store, and those
// whose files are read and replaced as a whole. Messages never change once they are stored.

#include <map>  // IWYU pragma: export

#include "reprise/capabilities.h"  // IWYU pragma: export
#include "store/usage_sum.h"       // IWYU pragma: export

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
  std::vector<SharedMessage> replaced = {};  // kept aside until the session is purged
  std::map<OperationId, Appended> operations = {};
  CountedRequests counted_requests = {};
  std::optional<Partial> partial = {};
  std::vector<Todo> todos = {};
  std::map<std::pair<Step, std::string>, std::string> artefacts = {};
  SessionState state_before_trash = SessionState::active;
};

// Adds the message's usage to the session's sums, once for each request.
void count_usage(StoredSession& stored, const Message& message);

// Whether a step may happen at all (append_rules.h).
Result<> check_write(const StoredSession& stored, Seq from, const AppendOptions& options);

// Ends and begins the running answer, as the options say.
void change_partial(StoredSession& stored, const AppendOptions& options);

// Of the answer that is running.
void set_lease(StoredSession& stored, const Lease& lease);

// Puts the messages after those before `from`, as one step; what stood there gives way. Nothing is
// changed when it fails.
Result<Appended> write_messages(StoredSession& stored, Seq from, std::vector<Message> messages,
                                const AppendOptions& options);

// As ReplacedReader::read_replaced().
ReadReport hand_out_replaced(const StoredSession& stored, const MessageSink& sink);

}  // namespace reprise::store
