#include "cli/removal.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/json_write.h"
#include "base/text.h"
#include "cli/output/session_json.h"
#include "cli/program/context.h"
#include "cli/program/exit.h"
#include "cli/spills.h"
#include "reprise/conversation.h"
#include "reprise/error.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"

namespace reprise::cli {
namespace {

Result<> remove_one(Trash& trash, const SessionInfo& info, Removal how, Time now) {
  if (how == Removal::purge) {
    return trash.purge(info.id);
  }
  return info.state == SessionState::trashed ? Result<>() : trash.trash(info.id, now);
}

// What the words of purged sessions may still stand in.
std::vector<Remnant> find_remnants(Context& context, Trash& trash,
                                   const std::vector<SessionId>& purged) {
  std::vector<Remnant> found;
  if (auto left = trash.remnants(); left) {
    found = *std::move(left);
  } else {
    context.warn(cat("cannot tell what else holds their words: ", left.error().message));
  }
  std::ranges::move(find_spilled(context, purged), std::back_inserter(found));
  return found;
}

void warn_of(Context& context, const std::vector<Remnant>& remnants) {
  for (const auto& [where, reason] : remnants) {
    context.warn(cat("may still hold words of purged sessions: ", where, ": ", reason));
  }
}

void print(Context& context, const std::vector<SessionId>& removed,
           const std::vector<Damage>& damage, const std::vector<Remnant>& remnants, Removal how) {
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
  if (!remnants.empty()) {
    object.key("remnants");
    json::ArrayWriter all(out);
    for (const auto& [where, reason] : remnants) {
      all.item();
      json::ObjectWriter(out).field("where", where).field("reason", reason).close();
    }
    all.close();
  }
  object.close();
  context.print_json(out);
}

}  // namespace

Result<bool> is_answering(Context& context, Store& store, const SessionInfo& info) {
  if (!info.answering) {
    return false;
  }
  const OwnerState state = state_of(*info.answering);
  if (state != OwnerState::silent) {
    return state == OwnerState::alive;
  }
  context.note(cat("watching whether '", info.title, "' is still being answered by process ",
                   info.answering->pid, " on ", info.answering->host));
  const auto settled = settle_interrupted(store, info.id, context.clock());
  if (!settled && settled.error().code == Code::io) {
    return false;  // it is gone, and there is no room to note that
  }
  REPRISE_TRY(settled);
  REPRISE_ASSIGN(const Session now, get(store, info.id));
  return now.info.answering.has_value();
}

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
    REPRISE_ASSIGN(const bool answers, is_answering(context, store, info));
    if (answers) {
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
  std::vector<Remnant> remnants;
  if (how == Removal::purge && !removed.empty()) {
    remnants = find_remnants(context, *trash, removed);
    warn_of(context, remnants);
  }
  print(context, removed, damage, remnants, how);
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
