#include "cli/commands/removal.h"

#include <algorithm>
#include <iterator>

#include "base/json_write.h"
#include "base/text.h"
#include "cli/output/session_json.h"
#include "cli/program/context.h"
#include "cli/program/exit.h"
#include "reprise/sessions.h"
#include "session/outbox.h"

namespace reprise::cli {
namespace {

void warn_of(Context& context, const std::vector<Remnant>& remnants) {
  for (const auto& [where, reason] : remnants) {
    context.voice().warn(cat("may still hold words of purged sessions: ", where, ": ", reason));
  }
}

void print(Context& context, const std::vector<SessionId>& removed,
           const std::vector<Damage>& damage, const std::vector<Remnant>& remnants, Removal how) {
  if (!context.globals().json) {
    context.voice().remark(cat(how == Removal::purge ? "removed " : "moved to the trash: ",
                               removed.size(), removed.size() == 1 ? " session" : " sessions"));
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
  context.voice().print_json(out);
}

void note_watching(Context& context, const SessionInfo& info) {
  const Owner owner = info.answering.value_or(Owner{});
  context.voice().note(cat("watching whether '", info.title,
                           "' is still being answered by process ", owner.pid, " on ", owner.host));
}

// What the words of purged sessions may still stand in.
std::vector<Remnant> all_remnants(Context& context, const RemovedSessions& done) {
  if (!done.remnants) {
    context.voice().warn(
        cat("cannot tell what else holds their words: ", done.remnants.error().message));
  }
  std::vector<Remnant> found = done.remnants.value_or(std::vector<Remnant>());
  std::ranges::move(find_waiting(context.config().outbox_folder(), done.removed),
                    std::back_inserter(found));
  return found;
}

}  // namespace

Result<bool> check_answering(Context& context, Store& store, const SessionInfo& info) {
  return is_answering(
      store, info, [&context](const SessionInfo& silent) { note_watching(context, silent); },
      context.clock());
}

Result<Exit> ask_and_remove(Context& context, Store& store, const FoundSessions& found,
                            const RemovalRequest& request) {
  const auto& [what, how, unasked_max] = request;
  const auto& [sessions, damage] = found;
  warn_of_damage(context, damage);
  REPRISE_TRY(offered(store.capabilities().trash, "delete sessions"));
  if (sessions.size() > unasked_max) {
    REPRISE_ASSIGN(
        const bool agreed,
        context.voice().confirm(how == Removal::purge ? cat("remove ", what, " for good?")
                                                      : cat("move ", what, " to the trash?")));
    if (!agreed) {
      context.voice().remark("nothing was changed");
      return Exit::failed;
    }
  }
  REPRISE_ASSIGN(
      const RemovedSessions done,
      remove_sessions(
          store, sessions, how,
          {.on_watching = [&context](const SessionInfo& silent) { note_watching(context, silent); },
           .on_progress =
               [&context](const Progress& progress) {
                 context.voice().progress(progress.work, progress.done, progress.total);
               }},
          context.clock()));
  context.voice().end_progress();
  for (const SessionInfo& info : done.answering) {
    context.voice().warn(
        cat("left alone, it is answering now: ", info.title, " (", info.id.str(), ")"));
  }
  for (const auto& [id, error] : done.failed) {
    context.voice().warn(cat("cannot remove ", id.str(), ": ", error.message));
  }
  std::vector<Remnant> remnants;
  if (how == Removal::purge && !done.removed.empty()) {
    remnants = all_remnants(context, done);
    warn_of(context, remnants);
  }
  print(context, done.removed, damage, remnants, how);
  const bool is_all = damage.empty() && done.answering.empty() && done.failed.empty();
  return is_all ? Exit::done : Exit::failed;
}

void warn_of_damage(Context& context, const std::vector<Damage>& damage) {
  for (const Damage& part : damage) {
    context.voice().warn(cat("cannot read ", part.where, ": ", part.reason));
  }
}

}  // namespace reprise::cli
