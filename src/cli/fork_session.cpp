#include "cli/fork_session.h"

#include <optional>
#include <string>

#include "base/text.h"
#include "cli/context.h"
#include "reprise/environment.h"
#include "reprise/error.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"

namespace reprise::cli {

Result<SessionId> fork_session(Context& context, Store& store, const ForkRequest& request) {
  Forking* const forking = store.offers().forking;
  if (forking == nullptr) {
    return fail(Code::unsupported, "this store cannot fork sessions; copy it to one that can");
  }
  REPRISE_ASSIGN(Session child, get(store, request.parent));
  const Seq at = request.at.value_or(child.info.head);
  const Time now = context.clock().now();
  child.info.id = make_session_id(context.clock(), system_entropy());
  const std::string like_parent = child.info.title.empty() ? "" : cat(child.info.title, " (fork)");
  child.info.title = request.title.value_or(like_parent);
  child.info.state = SessionState::active;
  child.info.created_at = now;
  child.info.updated_at = now;
  child.info.closed_at = std::nullopt;
  child.info.answering = std::nullopt;
  child.info.forked_from = ForkOrigin{.session = request.parent, .at = at};
  // What the provider remembers goes beyond the fork.
  child.response_chain.clear();
  REPRISE_TRY(forking->fork(request.parent, at, child));
  return child.info.id;
}

}  // namespace reprise::cli
