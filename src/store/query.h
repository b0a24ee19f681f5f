#pragma once

// The handling of a SessionQuery that all stores share: validation, order, matching, and pages. A
// page's cursor is the position of its last session, so it remains valid while sessions are added,
// removed and moved.

#include <memory>
#include <span>

#include "base/place.h"
#include "reprise/source.h"

namespace reprise::store {

// A position in the order of lists: a group (see groups_of()), and within it the activity.
struct Cursor {
  int group = 0;
  Time activity;
  SessionId id;
};

std::string format_cursor(const SessionInfo& last_shown);
// invalid_argument for text that format_cursor() cannot produce.
Result<Cursor> parse_cursor(std::string_view text);

// A validated query with its cursor parsed.
struct CheckedQuery {
  const SessionQuery& query;  // must outlive this
  std::optional<Cursor> after;
  std::string title = {};                   // that titles contain, folded
  mutable std::optional<Place> place = {};  // of the query's folder; remembers what it has asked
};
// unsupported for an author, and invalid_argument for kAllSessions, without that capability.
Result<CheckedQuery> check_query(const SessionQuery& query, const SourceCapabilities& source);

// A group of sessions in a list, ordered by activity: newest first, then id descending.
struct ListGroup {
  std::string_view column = {};  // of the flag that they share; "" for all sessions
  bool value = false;
};
// The groups of the query's list, in order.
std::vector<ListGroup> groups_of(const SessionQuery& query);

// Whether the session matches the whole query, including its cursor; the limit is not considered.
// For one thread.
bool matches(const SessionInfo& info, const CheckedQuery& checked);

// Sorts the matching sessions, given in any order, and reduces them to the requested page.
SessionPage make_page(std::vector<SessionInfo> matching, const SessionQuery& query);
// Copies only those on the page.
SessionPage make_page(std::span<const std::shared_ptr<const SessionInfo>> matching,
                      const SessionQuery& query);

// One page of both, which answer the same query for two spellings of its folder.
SessionPage merge_pages(SessionPage one, SessionPage other, const SessionQuery& query);

// Whether the full short id of a UUID begins with `prefix`.
bool has_short_id_prefix(const SessionId& id, std::string_view prefix);

// The smallest text greater than all texts that begin with `prefix` (ids are ASCII).
std::string after_prefix(std::string prefix);

// Whether the text contains the part, both folded; the part is given so (base/fold.h).
bool contains_folded(std::string_view text, std::string_view folded_part);

}  // namespace reprise::store
