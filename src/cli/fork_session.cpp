#include "cli/fork_session.h"

#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/program/context.h"
#include "reprise/environment.h"
#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"

namespace reprise::cli {
namespace {

// For stores whose sessions share nothing. In one step, so that no half of a fork is ever seen.
Result<> fork_by_copy(Store& store, const SessionId& parent, Seq at, const Session& child) {
  REPRISE_ASSIGN(std::vector<Message> messages, read_all(store, parent, {.to = at}));
  if (std::ssize(messages) != at.value) {
    return fail(Code::invalid_argument, cat("cannot fork session ", parent.str(), " at ", at.value,
                                            ": it has ", messages.size(), " messages"));
  }
  // Whose requests they were is the parent's to count.
  for (Message& message : messages) {
    message.usage.reset();
  }
  if (messages.empty()) {
    return store.create(child);
  }
  Creation* const creation = store.offers().creation;
  if (creation == nullptr) {
    return fail(Code::unsupported, "this store cannot fork sessions");
  }
  return creation->create_with(child, std::move(messages));
}

}  // namespace

Result<SessionId> fork_session(Context& context, Store& store, const ForkRequest& request) {
  if (!store.holds().many_sessions) {
    return fail(Code::unsupported,
                "this store holds one session; `reprise copy` brings it where it can be forked");
  }
  REPRISE_ASSIGN(Session child, get(store, request.parent));
  const Seq at = request.at.value_or(child.info.head);
  const Time now = context.clock().now();
  child.info.id = make_session_id(context.clock(), system_entropy(), store.holds().new_ids);
  const std::string like_parent = child.info.title.empty() ? "" : cat(child.info.title, " (fork)");
  child.info.title = request.title.value_or(like_parent);
  child.info.state = SessionState::active;
  child.info.created_at = now;
  child.info.updated_at = now;
  child.info.closed_at = std::nullopt;
  child.info.answering = std::nullopt;
  child.info.forked_from = ForkOrigin{.session = request.parent, .at = at};
  if (store.holds().words) {
    // What the provider remembers goes beyond the fork.
    child.response_chain.clear();
  }
  if (Forking* const forking = store.offers().forking; forking != nullptr) {
    REPRISE_TRY(forking->fork(request.parent, at, child));
  } else {
    REPRISE_TRY(fork_by_copy(store, request.parent, at, child));
  }
  return child.info.id;
}

}  // namespace reprise::cli
