#include "cli/removal.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/json_write.h"
#include "base/text.h"
#include "cli/context.h"
#include "cli/exit.h"
#include "cli/session_json.h"
#include "reprise/error.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"

namespace reprise::cli {
namespace {

Result<> remove_one(Trash& trash, const SessionInfo& info, Removal how, Time now) {
  if (info.state != SessionState::trashed) {
    REPRISE_TRY(trash.trash(info.id, now));
  }
  return how == Removal::purge ? trash.purge(info.id) : Result<>();
}

void print(Context& context, const std::vector<SessionId>& removed,
           const std::vector<Damage>& damage, Removal how) {
  if (!context.globals().json) {
    context.remark(cat(how == Removal::purge ? "removed " : "moved to the trash: ", removed.size(),
                       removed.size() == 1 ? " session" : " sessions"));
    return;
  }
  std::string out;
  json::ObjectWriter object(out);
  object.key(how == Removal::purge ? "purged" : "trashed");
  json::ArrayWriter array(out);
  for (const SessionId& id : removed) {
    array.item();
    json::append_string(out, id.str());
  }
  array.close();
  if (!damage.empty()) {
    object.raw("damage", damage_document(damage));
  }
  object.close();
  context.print_json(out);
}

}  // namespace

Result<Exit> remove_sessions(Context& context, Store& store, const FoundSessions& found,
                             const RemovalRequest& request) {
  const auto& [what, how, unasked_max] = request;
  const auto& [sessions, damage] = found;
  warn_of_damage(context, damage);
  REPRISE_ASSIGN(Trash* const trash, offered(store.offers().trash, "delete sessions"));
  if (sessions.size() > unasked_max) {
    REPRISE_ASSIGN(const bool agreed,
                   context.confirm(how == Removal::purge ? cat("remove ", what, " for good?")
                                                         : cat("move ", what, " to the trash?")));
    if (!agreed) {
      context.remark("nothing was changed");
      return Exit::failed;
    }
  }
  std::vector<SessionId> removed;
  Exit exit = damage.empty() ? Exit::done : Exit::failed;
  for (const SessionInfo& info : sessions) {
    if (info.answering && is_alive(*info.answering)) {
      context.warn(cat("left alone, it is answering now: ", info.title, " (", info.id.str(), ")"));
      exit = Exit::failed;
      continue;
    }
    if (const auto done = remove_one(*trash, info, how, context.clock().now()); !done) {
      context.warn(cat("cannot remove ", info.id.str(), ": ", done.error().message));
      exit = Exit::failed;
      continue;
    }
    removed.push_back(info.id);
  }
  print(context, removed, damage, how);
  return exit;
}

Result<FoundSessions> closed_before(Store& store, Time before) {
  SessionQuery query;
  query.states = {SessionState::closed};
  REPRISE_ASSIGN(FoundSessions found, find_all(store, query));
  std::erase_if(found.sessions, [before](const SessionInfo& info) {
    return !info.closed_at || *info.closed_at >= before;
  });
  return found;
}

Result<FoundSessions> find_all(Store& store, SessionQuery query) {
  query.limit = kPageMax;
  FoundSessions all;
  for (;;) {
    REPRISE_ASSIGN(SessionPage page, store.list(query));
    std::ranges::move(page.sessions, std::back_inserter(all.sessions));
    // Some stores report all that is damaged with every page.
    std::ranges::copy_if(page.damage, std::back_inserter(all.damage), [&all](const Damage& part) {
      return std::ranges::find(all.damage, part) == all.damage.end();
    });
    if (page.next.empty()) {
      return all;
    }
    query.after = std::move(page.next);
  }
}

void warn_of_damage(Context& context, const std::vector<Damage>& damage) {
  for (const Damage& part : damage) {
    context.warn(cat("cannot read ", part.where, ": ", part.reason));
  }
}

}  // namespace reprise::cli
