// Forks and rewinds of sessions.

#include "session/fork.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "reprise/sessions.h"
#include "session/append.h"

namespace reprise {
namespace {

// For stores whose sessions share nothing. Atomic, so that no reader sees a partial fork.
Result<> fork_by_copy(Store& store, const ForkOrigin& origin, const Session& child,
                      std::vector<Message> more) {
  const auto& [parent, at] = origin;
  REPRISE_ASSIGN(std::vector<Message> messages, read_all(store, parent, {.to = at}));
  if (std::ssize(messages) != at.value) {
    return fail(Code::invalid_argument, cat("cannot fork session ", short_id(parent), " at ",
                                            at.value, ": it has ", messages.size(), " messages"));
  }
  // The usage of these requests is counted in the parent.
  for (Message& message : messages) {
    message.usage.reset();
  }
  std::ranges::move(more, std::back_inserter(messages));
  if (messages.empty()) {
    return store.create(child);
  }
  AtomicCreation* const creation = store.capabilities().atomic_creation;
  if (creation == nullptr) {
    return fail(Code::unsupported, "this store cannot fork sessions");
  }
  return creation->create_with(child, std::move(messages));
}

Result<> fork_and_append(Store& store, const ForkOrigin& origin, const Session& child,
                         std::vector<Message> more) {
  REPRISE_TRY(store.capabilities().forking->fork(origin.session, origin.at, child));
  if (more.empty()) {
    return {};
  }
  const auto appended = store.append(child.info.id, std::move(more), {});
  if (appended) {
    return {};
  }
  if (Trash* const trash = store.capabilities().trash; trash != nullptr) {
    (void)trash->purge(child.info.id);  // the error of the append is the cause
  }
  return std::unexpected(appended.error());
}

Session child_of(Session parent, Seq at, const ForkRequest& request, SessionId id, Time now) {
  Session child = std::move(parent);
  const std::string default_title =
      child.info.title.empty() ? "" : cat(child.info.title, " (fork)");
  child.info.id = std::move(id);
  child.info.title = request.title.value_or(default_title);
  child.info.state = SessionState::active;
  child.info.pinned = false;
  child.info.created_at = now;
  child.info.updated_at = now;
  child.info.arrived_at.reset();
  child.info.closed_at.reset();
  child.info.answering.reset();
  child.info.forked_from = ForkOrigin{.session = request.parent, .at = at};
  return child;
}

Result<> fork_as(Store& store, const ForkRequest& request, const SessionId& id,
                 std::vector<Message> messages, Clock& clock) {
  if (!store.capabilities().many_sessions) {
    return fail(Code::unsupported,
                "this store holds one session: copy it to another store to fork it");
  }
  REPRISE_ASSIGN(Session parent, get(store, request.parent));
  const Seq at = request.at.value_or(parent.info.head);
  Session child = child_of(std::move(parent), at, request, id, clock.now());
  if (store.capabilities().messages) {
    // The provider's state includes messages after the fork.
    child.response_chain.clear();
  }
  const ForkOrigin origin{.session = request.parent, .at = at};
  return store.capabilities().forking != nullptr
             ? fork_and_append(store, origin, child, std::move(messages))
             : fork_by_copy(store, origin, child, std::move(messages));
}

Result<RewindResult> rewind(Store& store, const SessionId& id, std::int64_t turns,
                            const std::optional<OperationId>& operation) {
  Rewriting* const rewriting = store.capabilities().rewriting;
  if (rewriting == nullptr) {
    return fail(Code::unsupported, "this store cannot take turns back; use /fork instead");
  }
  REPRISE_ASSIGN(const Session session, get(store, id));
  const Seq head = session.info.head;
  REPRISE_ASSIGN(const Seq from, find_turn(store, id, turns));
  REPRISE_TRY(
      rewriting->replace_suffix(id, from, {}, {.expected_head = head, .operation = operation}));
  return RewindResult{.head = from, .messages = head.value - from.value};
}

}  // namespace

Result<SessionId> fork_session_with(Store& store, const ForkRequest& request,
                                    std::vector<Message> messages, Clock& clock, Entropy& entropy) {
  SessionId id = make_session_id(clock, entropy, store.capabilities().new_ids);
  REPRISE_TRY(fork_as(store, request, id, std::move(messages), clock));
  return id;
}

Result<SessionId> fork_session_once(Store& store, const ForkRequest& request,
                                    const OperationId& operation, Clock& clock) {
  REPRISE_ASSIGN(SessionId id, session_of_operation(operation));
  auto forked = fork_as(store, request, id, {}, clock);
  if (forked) {
    return id;
  }
  const std::optional<Session> existing = store.find(id).value_or(std::nullopt);
  const bool is_retry = existing && existing->info.forked_from &&
                        existing->info.forked_from->session == request.parent;
  return is_retry ? Result<SessionId>(id) : std::unexpected(std::move(forked).error());
}

Result<SessionId> fork_session(Store& store, const ForkRequest& request, Clock& clock,
                               Entropy& entropy) {
  return fork_session_with(store, request, {}, clock, entropy);
}

Result<RewindResult> rewind_session(Store& store, const SessionId& id, std::int64_t turns) {
  return rewind(store, id, turns, std::nullopt);
}

Result<> rewind_session_once(Store& store, const SessionId& id, std::int64_t turns,
                             const OperationId& operation) {
  // Fails without a change unless the operation was applied.
  const auto applied = store.append(id, {}, {.expected_head = kSeqEnd, .operation = operation});
  if (!applied && applied.error().code == Code::conflict) {
    REPRISE_TRY(rewind(store, id, turns, operation));
    return {};
  }
  return applied ? Result<>() : std::unexpected(applied.error());
}

}  // namespace reprise
