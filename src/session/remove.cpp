// Finds and removes sessions.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/reserve.h"
#include "base/text.h"
#include "base/transient.h"
#include "reprise/conversation.h"
#include "reprise/sessions.h"
#include "session/import.h"

namespace reprise {
namespace {

// Turns the unfinished answer of a dead process into a message: its storage beside the session may
// belong to another session when this one is restored. Skipped on a full disk.
Result<> settle_answer(Store& store, const SessionInfo& info, Clock& clock) {
  if (!info.answering) {
    return {};
  }
  const auto settled = recover_interrupted(store, info.id, clock);
  return settled || is_disk_full(settled.error()) ? Result<>() : std::unexpected(settled.error());
}

Result<> remove_session(Store& store, const SessionInfo& info, Removal removal, Clock& clock) {
  Trash& trash = *store.capabilities().trash;
  if (removal == Removal::purge) {
    return trash.purge(info.id);
  }
  if (info.state == SessionState::trashed) {
    return {};
  }
  REPRISE_TRY(settle_answer(store, info, clock));
  return trash.trash(info.id, clock.now());
}

// The tool that the session was imported from; "" if it was not.
std::string tool_of(Store& store, const SessionId& id) {
  if (!is_imported_id(id)) {
    return "";
  }
  const std::optional<Session> session = store.find(id).value_or(std::nullopt);
  const auto origin = session ? origin_of(*session) : std::nullopt;
  return origin ? origin->tool : "";
}

// What the store leaves, and what these tools have.
Result<std::vector<Remnant>> find_remnants(Trash& trash, const std::set<std::string>& tools) {
  REPRISE_ASSIGN(std::vector<Remnant> found, trash.remnants());
  for (const std::string& tool : tools) {
    found.push_back({cat("the history of ", tool),
                     "the next import brings back what has not been deleted there"});
  }
  return found;
}

}  // namespace

Result<FoundSessions> find_all_sessions(Source& source, SessionQuery query) {
  query.limit = largest_page(source);
  FoundSessions found;
  for (;;) {
    REPRISE_ASSIGN(SessionPage page, source.list(query));
    std::ranges::move(page.sessions, std::back_inserter(found.sessions));
    std::ranges::move(page.damage, std::back_inserter(found.damage));
    if (page.next.empty()) {
      return found;
    }
    query.after = std::move(page.next);
  }
}

Result<FoundSessions> find_closed_before(Source& source, Time before) {
  REPRISE_ASSIGN(FoundSessions found,
                 find_all_sessions(source, {.states = {SessionState::closed}}));
  std::erase_if(found.sessions, [before](const SessionInfo& info) {
    return !info.closed_at || *info.closed_at >= before;
  });
  return found;
}

Result<bool> recover_answer(Store& store, const SessionInfo& info,
                            const std::function<void(const SessionInfo&)>& on_watching,
                            Clock& clock) {
  // The answer may have begun or ended since the session was listed. One that cannot be read can be
  // removed all the same, unless the next attempt may find it.
  const auto found = store.find(info.id);
  if (!found && is_transient(found.error())) {
    return std::unexpected(found.error());
  }
  const std::optional<Session> now = found ? *found : std::nullopt;
  const auto answering = now ? now->info.answering : info.answering;
  if (!answering) {
    return false;
  }
  const OwnerState state = state_of(*answering);
  if (state != OwnerState::silent) {
    return state == OwnerState::alive;
  }
  if (on_watching) {
    on_watching(info);
  }
  const auto settled = recover_interrupted(store, info.id, clock);
  if (!settled && is_disk_full(settled.error())) {
    return false;  // its process is gone, but there is no space to record that
  }
  REPRISE_TRY(settled);
  REPRISE_ASSIGN(const Session current, get(store, info.id));
  return current.info.answering.has_value();
}

Result<RemovedSessions> remove_sessions(Store& store, std::span<const SessionInfo> sessions,
                                        Removal removal, const RemovalCallbacks& callbacks,
                                        Clock& clock) {
  Trash* const trash = store.capabilities().trash;
  if (trash == nullptr) {
    return fail(Code::unsupported, "this store cannot delete sessions");
  }
  RemovedSessions result;
  std::set<std::string> tools;
  std::int64_t count = 0;
  for (const SessionInfo& info : sessions) {
    if (callbacks.on_progress) {
      callbacks.on_progress({"removing", count++, std::ssize(sessions)});
    }
    const auto is_answering = recover_answer(store, info, callbacks.on_watching, clock);
    if (is_answering && *is_answering) {
      result.answering.push_back(info);
      continue;
    }
    std::string tool = removal == Removal::purge ? tool_of(store, info.id) : "";
    const Result<> removed = is_answering ? remove_session(store, info, removal, clock)
                                          : Result<>(std::unexpected(is_answering.error()));
    if (removed) {
      result.removed.push_back(info.id);
      if (!tool.empty()) {
        tools.insert(std::move(tool));
      }
    } else {
      result.failed.emplace_back(info.id, removed.error());
    }
  }
  if (removal == Removal::purge && !result.removed.empty()) {
    result.remnants = find_remnants(*trash, tools);
  }
  return result;
}

}  // namespace reprise
