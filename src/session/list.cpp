// Lists that a store leaves to its callers.

#include <algorithm>
#include <iterator>

#include "reprise/sessions.h"
#include "store/query.h"

namespace reprise {
namespace {

Result<bool> has_author(Source& source, const SessionId& id, const Author& author,
                        std::vector<Damage>& damage) {
  bool found = false;
  REPRISE_ASSIGN(ReadReport report, source.read(id, {}, [&](const Message& message) {
    found = message.author == author;
    return found ? Flow::stop : Flow::go_on;
  }));
  std::ranges::move(report.damage, std::back_inserter(damage));
  return found;
}

}  // namespace

Result<SessionPage> list_by_author(Source& source, const SessionQuery& query) {
  if (!query.author || source.capabilities().lists_by_author) {
    return source.list(query);
  }
  SessionQuery all = query;
  all.author.reset();
  all.limit = kPageMax;
  SessionPage found;
  while (true) {
    REPRISE_ASSIGN(SessionPage page, source.list(all));
    std::ranges::move(page.damage, std::back_inserter(found.damage));
    for (SessionInfo& info : page.sessions) {
      REPRISE_ASSIGN(const bool has, has_author(source, info.id, *query.author, found.damage));
      if (has && found.sessions.size() == query.limit) {
        found.next = store::format_cursor(found.sessions.back());
        return found;
      }
      if (has) {
        found.sessions.push_back(std::move(info));
      }
    }
    if (page.next.empty()) {
      return found;
    }
    all.after = page.next;
  }
}

}  // namespace reprise
