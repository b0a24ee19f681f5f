#include "store/stored_session.h"

#include <algorithm>

#include "base/assert.h"
#include "base/text.h"
#include "model/known_time.h"
#include "store/rules.h"
#include "store/stored_json.h"

namespace reprise::store {
namespace {

void truncate_log(StoredSession& stored, std::int64_t from) {
  const Log& old = *stored.log;
  for (std::int64_t seq = from; seq < old.size(); ++seq) {
    stored.replaced.push_back(old.at(seq));
  }
  // Forks may refer to the old log, so it is not modified.
  auto log = std::make_shared<Log>();
  log->base = old.base;
  log->base_count = std::min(from, old.base_count);
  log->own.assign(old.own.begin(), old.own.begin() + (from - log->base_count));
  stored.log = std::move(log);
}

}  // namespace

const SharedMessage& Log::at(std::int64_t seq) const {
  REPRISE_ASSERT(seq >= 0 && seq < size());
  const Log* log = this;
  while (seq < log->base_count) {
    log = log->base.get();
  }
  return log->own[static_cast<std::size_t>(seq - log->base_count)];
}

std::shared_ptr<Log> share(const std::shared_ptr<const Log>& log, std::int64_t count) {
  auto shared = std::make_shared<Log>();
  // Skip a log whose own messages are not shared, so that chains remain short.
  shared->base = count <= log->base_count ? log->base : log;
  shared->base_count = count;
  return shared;
}

void count_usage(StoredSession& stored, const Message& message) {
  count_usage(stored.session.usage, stored.counted_requests, message);
}

Result<> check_write(const StoredSession& stored, Seq from, std::size_t messages,
                     const AppendOptions& options) {
  AppendState state{.id = stored.session.info.id, .head = stored.session.info.head, .answer = {}};
  if (stored.partial) {
    state.answer = stored.partial->answer.str();
  }
  return check_append(state, from, messages, options);
}

void change_partial(StoredSession& stored, const AppendOptions& options) {
  if (options.end_partial) {
    stored.partial.reset();
    stored.session.info.answering.reset();
  }
  if (options.begin_partial) {
    stored.partial = partial_of(*options.begin_partial);
    stored.session.info.answering = options.begin_partial->owner;
  }
}

void add_operation(StoredSession& stored, const OperationId& id, Seq first, Seq head) {
  stored.operations.try_emplace(
      id, CompletedOperation{AppendResult{first, head, true}, stored.operations.size()});
}

std::vector<std::pair<OperationId, AppendResult>> operations_in_order(const StoredSession& stored) {
  std::vector<std::pair<OperationId, CompletedOperation>> ordered(stored.operations.begin(),
                                                                  stored.operations.end());
  std::ranges::sort(ordered, {}, [](const auto& entry) { return entry.second.number; });
  std::vector<std::pair<OperationId, AppendResult>> operations;
  operations.reserve(ordered.size());
  for (auto& [id, operation] : ordered) {
    operations.emplace_back(std::move(id), operation.result);
  }
  return operations;
}

void merge_operations(StoredSession& stored, const StoredSession& other) {
  for (const auto& [id, result] : operations_in_order(other)) {
    add_operation(stored, id, result.first, result.head);
  }
}

void set_lease(StoredSession& stored, const Lease& lease) {
  if (stored.partial) {
    stored.partial->owner.lease = lease;
    stored.session.info.answering = stored.partial->owner;
  }
}

Result<AppendResult> write_messages(StoredSession& stored, Seq from, std::vector<Message> messages,
                                    const AppendOptions& options) {
  if (options.operation) {
    if (const auto done = stored.operations.find(*options.operation);
        done != stored.operations.end()) {
      return done->second.result;
    }
  }
  REPRISE_TRY(check_write(stored, from, messages.size(), options));
  SessionInfo& info = stored.session.info;
  REPRISE_ASSERT(from <= info.head);  // checked above: a log has no gaps
  if (from < info.head) {
    truncate_log(stored, from.value);
  }
  info.head = from;
  note_activity(info, messages, options.now);
  for (Message& message : messages) {
    message.seq = info.head;
    info.head = info.head.next();
    count_usage(stored, message);
    stored.log->own.push_back(std::make_shared<const Message>(std::move(message)));
  }
  change_partial(stored, options);
  const AppendResult appended{from, info.head, false};
  if (options.operation) {
    add_operation(stored, *options.operation, appended.first, appended.head);
  }
  return appended;
}

ReadReport deliver_replaced(const StoredSession& stored, const MessageSink& sink) {
  for (const SharedMessage& message : stored.replaced) {
    if (sink(Message(*message)) == Flow::stop) {
      break;
    }
  }
  return {};
}

}  // namespace reprise::store
