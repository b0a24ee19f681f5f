#include "store/query.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>

#include "base/fold.h"
#include "base/text.h"
#include "reprise/source.h"

namespace reprise::store {
namespace {

// Separates the microseconds from the id, which may contain ':'.
constexpr char kCursorSeparator = ':';

constexpr std::string_view kPinned = "pinned";  // precedes the time in a cursor

int group_of(const SessionInfo& info, const SessionQuery& query) {
  return query.ungrouped || info.pinned ? 0 : 1;
}

// A Cursor without a copy of the id.
struct ListPosition {
  int group;
  Time activity;
  const SessionId& id;
};

ListPosition position_of(const SessionInfo& info, const SessionQuery& query) {
  return {group_of(info, query), activity_of(info), info.id};
}

bool is_listed_before(const ListPosition& a, const ListPosition& b) {
  if (a.group != b.group) {
    return a.group < b.group;
  }
  return a.activity != b.activity ? a.activity > b.activity : a.id > b.id;
}

}  // namespace

std::string format_cursor(const SessionInfo& last_shown) {
  return cat(last_shown.pinned ? kPinned : "", activity_of(last_shown).time_since_epoch().count(),
             kCursorSeparator, last_shown.id.str());
}

Result<Cursor> parse_cursor(std::string_view text) {
  const auto invalid = [cursor = text] {
    return fail(Code::invalid_argument, cat("'", cursor, "' is not a cursor of this list"));
  };
  const bool is_pinned = text.starts_with(kPinned);
  text.remove_prefix(is_pinned ? kPinned.size() : 0);
  const std::size_t separator = text.find(kCursorSeparator);
  if (separator == std::string_view::npos) {
    return invalid();
  }
  const auto microseconds = parse_number<std::int64_t>(text.substr(0, separator));
  auto id = SessionId::parse(text.substr(separator + 1));
  if (!microseconds || !id) {
    return invalid();
  }
  return Cursor{.group = is_pinned ? 0 : 1,
                .activity = Time(std::chrono::microseconds(*microseconds)),
                .id = *std::move(id)};
}

Result<CheckedQuery> check_query(const SessionQuery& query, const SourceCapabilities& source) {
  if (query.author && !source.lists_by_author) {
    return fail(Code::unsupported,
                "this store does not list sessions by author: use list_by_author()");
  }
  const bool is_all = query.limit == kAllSessions && source.lists_at_once;
  if (query.limit < 1 || (query.limit > kPageMax && !is_all)) {
    return fail(Code::invalid_argument,
                cat("cannot list ", query.limit, " sessions at once: ask for 1 to ", kPageMax));
  }
  CheckedQuery checked{query, std::nullopt, folded(query.title_contains)};
  if (query.working_dir) {
    checked.place.emplace(*query.working_dir);
  }
  if (!query.after.empty()) {
    REPRISE_ASSIGN(checked.after, parse_cursor(query.after));
    checked.after->group = query.ungrouped ? 0 : checked.after->group;
  }
  return checked;
}

std::vector<ListGroup> groups_of(const SessionQuery& query) {
  using Groups = std::vector<ListGroup>;
  return query.ungrouped ? Groups{{}} : Groups{{kPinned, true}, {kPinned, false}};
}

bool matches(const SessionInfo& info, const CheckedQuery& checked) {
  const SessionQuery& query = checked.query;
  if (const auto& after = checked.after;
      after &&
      !is_listed_before({after->group, after->activity, after->id}, position_of(info, query))) {
    return false;
  }
  return (!checked.place || checked.place->is_at(info.working_dir)) &&
         (!query.mode || *query.mode == info.mode) &&
         std::ranges::find(query.states, info.state) != query.states.end() &&
         (!query.answering_only || info.answering) && info.id.str().starts_with(query.id_prefix) &&
         has_short_id_prefix(info.id, query.short_id_prefix) &&
         contains_folded(info.title, checked.title);
}

SessionPage make_page(std::vector<SessionInfo> matching, const SessionQuery& query) {
  SessionPage page;
  const std::size_t limit = query.limit;
  const bool is_last = matching.size() <= limit;
  const auto count = static_cast<std::ptrdiff_t>(std::min(limit, matching.size()));
  const auto before = [&query](const SessionInfo& a, const SessionInfo& b) {
    return is_listed_before(position_of(a, query), position_of(b, query));
  };
  std::ranges::partial_sort(matching, matching.begin() + count, before);
  matching.erase(matching.begin() + count, matching.end());
  page.sessions = std::move(matching);
  if (!is_last) {
    page.next = format_cursor(page.sessions.back());
  }
  return page;
}

SessionPage make_page(std::span<const std::shared_ptr<const SessionInfo>> matching,
                      const SessionQuery& query) {
  const auto before = [&query](const auto& a, const auto& b) {
    return is_listed_before(position_of(*a, query), position_of(*b, query));
  };
  std::vector<std::shared_ptr<const SessionInfo>> first(std::min(query.limit, matching.size()) + 1);
  first.erase(std::ranges::partial_sort_copy(matching, first, before).out, first.end());
  std::vector<SessionInfo> infos;
  infos.reserve(first.size());
  std::ranges::transform(first, std::back_inserter(infos), [](const auto& info) { return *info; });
  return make_page(std::move(infos), query);
}

SessionPage merge_pages(SessionPage one, SessionPage other, const SessionQuery& query) {
  const bool has_more = !one.next.empty() || !other.next.empty();
  std::ranges::move(other.sessions, std::back_inserter(one.sessions));
  SessionPage merged = make_page(std::move(one.sessions), query);
  if (has_more && merged.next.empty()) {
    merged.next = format_cursor(merged.sessions.back());
  }
  merged.damage = std::move(one.damage);
  std::ranges::move(other.damage, std::back_inserter(merged.damage));
  return merged;
}

bool has_short_id_prefix(const SessionId& id, std::string_view prefix) {
  if (prefix.empty()) {
    return true;
  }
  const std::string full = short_id(id, std::string_view::npos);
  return full != id.str() && full.starts_with(prefix);
}

std::string after_prefix(std::string prefix) {
  ++prefix.back();
  return prefix;
}

bool contains_folded(std::string_view text, std::string_view folded_part) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (folded_part.empty()) {
    return true;
  }
  if (!std::ranges::all_of(text, is_ascii)) {
    return folded(text).contains(folded_part);
  }
  const auto same = [](char a, char b) { return ascii_lower(a) == b; };
  return !std::ranges::search(text, folded_part, same).empty();
}

}  // namespace reprise::store
