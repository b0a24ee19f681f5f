#include "cli/session/removal.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <span>

#include "cli/output/session_json.h"
#include "cli/program/search_files.h"
#include "cli/program/store_opener.h"
#include "cli/settings/context_file.h"
#include "cli/settings/program_config.h"
#include "session/outbox.h"

namespace reprise::cli {
namespace {

constexpr std::size_t kNamedMax = 10;

// Reports the first kNamedMax sessions by name, then the count.
void report_removed(Context& context, Store& store, const std::vector<SessionInfo>& sessions,
                    const std::vector<SessionId>& removed, Removal removal) {
  const std::string_view verb = removal == Removal::purge ? "removed " : "moved ";
  const std::string_view after = removal == Removal::purge ? " for good" : " to the trash";
  std::size_t named = 0;
  for (const SessionInfo& info : sessions) {
    if (named < kNamedMax && std::ranges::find(removed, info.id) != removed.end()) {
      ++named;
      context.console().notice(cat(verb, session_name(store, info), after));
    }
  }
  if (removed.empty()) {
    context.console().notice(removal == Removal::purge ? "nothing was removed"
                                                       : "nothing was moved");
  } else if (removed.size() > 1) {
    context.console().notice(cat(verb, removed.size(), " sessions", after));
  }
}

void add_remnants(std::string& out, const std::vector<Remnant>& remnants) {
  json::ArrayWriter array(out);
  for (const auto& [where, reason] : remnants) {
    array.item();
    json::append_object(out, "where", where, "reason", reason);
  }
  array.close();
}

void print_document(Context& context, const std::vector<Damage>& damage,
                    const std::vector<SessionId>& removed, const std::vector<Remnant>& remnants,
                    Removal removal) {
  std::string out;
  json::ObjectWriter object(out);
  object.key(removal == Removal::purge ? "purged" : "trashed");
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
    add_remnants(out, remnants);
  }
  object.close();
  context.console().print_json(out);
}

void note_watching(Context& context, const SessionInfo& info) {
  const Owner owner = info.answering.value_or(Owner{});
  context.console().note(cat("waiting to see whether '", info.title,
                             "' is still being answered by process ", owner.pid, " on ",
                             owner.host));
}

void warn_of_skipped(Context& context, Store& store, const RemovedSessions& result,
                     Removal removal) {
  for (const SessionInfo& info : result.answering) {
    context.console().warn(cat("skipped, an answer is running: ", session_name(store, info)));
  }
  for (const auto& [id, error] : result.failed) {
    context.console().warn(cat(removal == Removal::purge ? "cannot remove " : "cannot move ",
                               short_id(id), removal == Removal::purge ? "" : " to the trash", ": ",
                               error.message));
  }
}

}  // namespace

std::vector<Remnant> warn_of_remnants(Context& context, const RemovedSessions& result) {
  if (!result.remnants) {
    context.console().warn(
        cat("cannot check what else contains their text: ", result.remnants.error().message));
  }
  std::vector<Remnant> found = result.remnants.value_or(std::vector<Remnant>());
  std::ranges::move(find_outbox_remnants(context.config().outbox_folder(), result.removed),
                    std::back_inserter(found));
  if (auto remnant = forget_in_search(context, result.removed)) {
    found.push_back(*std::move(remnant));
  }
  if (const auto settings = context.config().settings(); settings && !result.removed.empty()) {
    if (const auto file = find_saved_answer(**settings)) {
      found.push_back({file->string(), "the last answer is written there; remove it"});
    }
  }
  for (const auto& [where, reason] : found) {
    context.console().warn(cat("may still contain text of purged sessions: ", where, ": ", reason));
  }
  return found;
}

Result<bool> check_answering(Context& context, Store& store, const SessionInfo& info) {
  return recover_answer(
      store, info, [&context](const SessionInfo& silent) { note_watching(context, silent); },
      context.clock());
}

Result<Exit> change_sessions(Context& context, Store& store, const std::vector<std::string>& sels,
                             const Change& change) {
  REPRISE_ASSIGN(const std::vector<SessionInfo> sessions,
                 context.stores().select_all(store, sels, change.use));
  for (const SessionInfo& info : sessions) {
    REPRISE_ASSIGN(const bool answers, check_answering(context, store, info));
    if (answers) {
      return fail(Code::busy, cat("cannot ", change.verb, " ", session_name(store, info),
                                  ": an answer is running"));
    }
  }
  for (const SessionInfo& info : sessions) {
    REPRISE_TRY(change.apply(info));
  }
  return sels.size() == 1 ? show_session(context, store, sessions.front().id)
                          : show_sessions(context, store, sessions);
}

Result<> move_to_trash(Context& context, Store& store, std::span<const SessionInfo> sessions) {
  REPRISE_ASSIGN(const RemovedSessions result,
                 remove_sessions(store, sessions, Removal::trash,
                                 {.on_watching =
                                      [&context](const SessionInfo& silent) {
                                        note_watching(context, silent);
                                      }},
                                 context.clock()));
  if (!result.failed.empty()) {
    return std::unexpected(result.failed.front().second);
  }
  if (!result.answering.empty()) {
    return fail(Code::busy, "an answer is running");
  }
  return {};
}

Result<Exit> ask_and_remove(Context& context, Store& store, const FoundSessions& found,
                            const RemovalRequest& request) {
  const auto& [description, removal, empty_message, unconfirmed_max] = request;
  const auto& [sessions, damage] = found;
  warn_of_damage(context, damage);
  REPRISE_TRY(offered(store.capabilities().trash, "delete sessions"));
  if (sessions.size() > unconfirmed_max) {
    REPRISE_ASSIGN(const bool confirmed,
                   context.console().confirm(removal == Removal::purge
                                                 ? cat("remove ", description, " for good?")
                                                 : cat("move ", description, " to the trash?")));
    if (!confirmed) {
      context.console().notice("nothing was changed");
      return Exit::failed;
    }
  }
  REPRISE_ASSIGN(
      const RemovedSessions result,
      remove_sessions(
          store, sessions, removal,
          {.on_watching = [&context](const SessionInfo& silent) { note_watching(context, silent); },
           .on_progress =
               [&context](const Progress& progress) { context.console().progress(progress); }},
          context.clock()));
  context.console().end_progress();
  warn_of_skipped(context, store, result, removal);
  std::vector<Remnant> remnants;
  if (removal == Removal::purge && !result.removed.empty()) {
    remnants = warn_of_remnants(context, result);
  }
  if (context.globals().json) {
    print_document(context, found.damage, result.removed, remnants, removal);
  } else {
    if (sessions.empty() && damage.empty() && !empty_message.empty()) {
      context.console().notice(empty_message);
    } else {
      report_removed(context, store, sessions, result.removed, removal);
    }
  }
  const bool is_all = damage.empty() && result.answering.empty() && result.failed.empty();
  return is_all ? Exit::success : Exit::failed;
}

}  // namespace reprise::cli
