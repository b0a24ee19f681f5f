// Queries that a store does not support itself.

#include <algorithm>
#include <iterator>

#include "reprise/sessions.h"

namespace reprise {
namespace {

Result<bool> has_author(Source& source, const SessionId& id, const Author& author,
                        std::vector<Damage>& damage) {
  bool found = false;
  REPRISE_ASSIGN(ReadReport report, source.read(id, {}, [&](const Message& message) {
    found = message.author == author;
    return found ? Flow::stop : Flow::proceed;
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
  SessionPage found;
  std::string next;  // the cursor after a full page
  while (true) {
    // Limited to the remaining room, so that a full page ends where one of the source's pages ends.
    const bool is_full = found.sessions.size() == query.limit;
    all.limit = is_full ? query.limit : query.limit - found.sessions.size();
    REPRISE_ASSIGN(SessionPage page, source.list(all));
    std::ranges::move(page.damage, std::back_inserter(found.damage));
    for (SessionInfo& info : page.sessions) {
      REPRISE_ASSIGN(const bool has, has_author(source, info.id, *query.author, found.damage));
      if (has && is_full) {
        found.next = std::move(next);
        return found;
      }
      if (has) {
        found.sessions.push_back(std::move(info));
      }
    }
    if (page.next.empty()) {
      return found;
    }
    all.after = std::move(page.next);
    next = is_full ? std::move(next) : all.after;
  }
}

}  // namespace reprise
