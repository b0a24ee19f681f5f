// What other tools have removed since it was imported.

#include <algorithm>
#include <set>

#include "session/import.h"
#include "store/query.h"

namespace reprise {
namespace {

// Also a branch or a sub-agent, "ID:BRANCH", of one that is listed.
bool is_listed(const std::set<std::string_view>& listed, std::string_view id) {
  while (!listed.contains(id)) {
    const std::size_t colon = id.rfind(':');
    if (colon == std::string_view::npos) {
      return false;
    }
    id = id.substr(0, colon);
  }
  return true;
}

}  // namespace

Result<std::int64_t> note_gone(const ForeignSessions& foreign, Store& target) {
  std::set<std::string_view> listed;
  for (const SessionInfo& info : foreign.sessions) {
    listed.insert(info.id.str());
  }
  std::int64_t count = 0;
  SessionQuery query{.limit = kPageMax};
  query.ungrouped = true;
  for (;;) {
    REPRISE_ASSIGN(const SessionPage page, target.list(query));
    for (const SessionInfo& info : page.sessions) {
      if (!is_imported_id(info.id)) {
        continue;
      }
      REPRISE_ASSIGN(const std::optional<Session> session, target.find(info.id));
      std::optional<Origin> origin = session ? origin_of(*session) : std::nullopt;
      if (!origin || origin->tool != foreign.tool || origin->place != foreign.place) {
        continue;
      }
      const bool was_gone = origin->gone == Gone::session;
      const bool is_gone = !is_listed(listed, origin->id);
      if (is_gone == was_gone) {
        continue;
      }
      origin->gone = is_gone ? Gone::session : Gone::nothing;
      Extra extra = session->extra;
      set_origin(extra, *origin);
      REPRISE_TRY(target.update(info.id, {.extra = std::move(extra)}));
      count += is_gone ? 1 : 0;
    }
    if (page.next.empty()) {
      return count;
    }
    query.after = page.next;
  }
}

}  // namespace reprise
