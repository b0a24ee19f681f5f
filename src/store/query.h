#pragma once

// What every store does alike with a SessionQuery: refuse a bad one, order, match, and cut into
// pages whose cursor is the place of the last session shown (so that it stays good while sessions
// come, go and move).

#include "reprise/store.h"

namespace reprise::store {

// A place in the order of lists: in a group (see groups_of()), and there by activity.
struct Cursor {
  int group = 0;
  Time updated_at;
  SessionId id;
};

std::string format_cursor(const SessionInfo& last_shown);
// invalid_argument for what format_cursor() never writes.
Result<Cursor> parse_cursor(std::string_view text);

// A query that was found good, its cursor read. unsupported for an author unless the store lists by
// it.
struct CheckedQuery {
  const SessionQuery& query;  // must outlive this
  std::optional<Cursor> after;
};
Result<CheckedQuery> check_query(const SessionQuery& query, bool lists_by_author = false);

// Sessions that stand together in a list, by activity: newest updated_at first, then id descending.
struct ListGroup {
  std::string_view column = {};  // of a flag, whose value they have; "" for all sessions
  bool value = false;
};
// In their order.
std::vector<ListGroup> groups_of(const SessionQuery& query);

// Everything the query asks, the cursor included, but for the limit.
bool matches(const SessionInfo& info, const CheckedQuery& checked);

// Cuts what matches, in any order, to the page that was asked for.
SessionPage make_page(std::vector<SessionInfo> matching, const SessionQuery& query);

// Whether the whole short id of a UUID begins so.
bool has_short_id_prefix(const SessionId& id, std::string_view prefix);

// ASCII letters match in either case, everything else byte for byte.
bool contains_ignoring_case(std::string_view text, std::string_view part);

}  // namespace reprise::store
