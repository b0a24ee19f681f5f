#include "search/session_list.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "base/encode.h"
#include "reprise/error.h"
#include "reprise/session.h"
#include "reprise/source.h"
#include "search/document.h"
#include "store/sqlite/connection.h"

namespace reprise::search {
namespace {

constexpr std::string_view kSelectRows =
    "SELECT id, key, head, updated_us, first, next, tail, fingerprint, folder, hidden,"
    " revision FROM sessions"
    " WHERE source = ?";

Row row_of(const sqlite::Statement& row) {
  return {.key = row.integer("key"),
          .head = row.integer("head"),
          .updated_us = row.integer("updated_us"),
          .first = row.integer("first"),
          .next = row.integer("next"),
          .tail = row.integer("tail"),
          .fingerprint = row.integer("fingerprint"),
          .folder = row.integer("folder"),
          .hidden = row.integer("hidden") != 0,
          .revision = row.integer("revision")};
}

Listed listed_of(const SessionInfo& info) {
  return {.id = info.id,
          .head = info.head,
          .is_head_known = info.is_head_known,
          .created_at = info.created_at,
          .updated_at = info.updated_at,
          .folder = static_cast<std::int64_t>(fnv1a(info.working_dir)),
          .folder_token = attribute_token(Attribute::folder, info.working_dir),
          .hidden = info.state == SessionState::trashed,
          .revision = info.revision.empty() ? 0 : static_cast<std::int64_t>(fnv1a(info.revision)),
          .forked_from = info.forked_from};
}

// The id, and those of the sessions that "ID:NAME" may be a branch or sub-agent of: the name of a
// sub-agent may have colons, too.
std::vector<std::string_view> id_and_ancestors(std::string_view id) {
  std::vector<std::string_view> ids = {id};
  for (std::size_t colon = id.find(':'); colon != std::string_view::npos;
       colon = id.find(':', colon + 1)) {
    ids.push_back(id.substr(0, colon));
  }
  return ids;
}

std::string branch_prefix(const SessionId& id) {
  return id.str() + ":";
}

}  // namespace

Result<> SessionList::load_all() {
  with_same_branches_.clear();
  listed_.clear();
  origins_.clear();
  by_id_.clear();
  rows_.clear();
  REPRISE_TRY(load_rows());
  const SessionQuery query{.states = {SessionState::active, SessionState::closed,
                                      SessionState::archived, SessionState::trashed},
                           .ungrouped = true,
                           .children = true};
  REPRISE_TRY(add_all(query));
  return load_branches();
}

// Adds what a query lists.
Result<> SessionList::add_all(SessionQuery query) {
  query.limit = largest_page(source_);
  do {
    REPRISE_ASSIGN(SessionPage page, source_.list(query));
    for (const SessionInfo& info : page.sessions) {
      add(info);
    }
    std::ranges::move(page.damage, std::back_inserter(damage_));
    query.after = std::move(page.next);
  } while (!query.after.empty());
  return {};
}

// Finding the branches of a session takes reading it as a whole: only of those that have changed.
Result<> SessionList::load_branches() {
  std::set<std::string, std::less<>> incomplete;  // sessions with branches that are
  for (const auto& [id, row] : rows_) {
    if (row.head < 0 && !row.hidden) {
      for (const std::string_view session : id_and_ancestors(id)) {
        incomplete.emplace(session);
      }
    }
  }
  const std::size_t count = listed_.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Listed& session = listed_[i];
    const Row* const before = row(session.id);
    if (session.revision == 0) {
      continue;  // of a store
    }
    if (before != nullptr && before->revision == session.revision &&
        !incomplete.contains(session.id.str())) {
      with_same_branches_.insert(session.id.str());
      continue;
    }
    SessionQuery query{
        .states = {SessionState::active, SessionState::closed, SessionState::archived},
        .id_prefix = branch_prefix(session.id),
        .ungrouped = true,
        .branches = true};
    REPRISE_TRY(add_all(std::move(query)));
  }
  return {};
}

void SessionList::add(const SessionInfo& info) {
  if (by_id_.contains(info.id.str())) {
    return;  // a sub-agent that is also listed with its session's branches
  }
  by_id_[info.id.str()] = &listed_.emplace_back(listed_of(info));
}

Result<> SessionList::load_rows() {
  REPRISE_ASSIGN(auto rows, db_.query(kSelectRows, source_row_));
  return rows.each([&] { rows_.emplace(rows.text("id"), row_of(rows)); });
}

Result<> SessionList::load_row(const SessionId& id) {
  static const std::string sql = std::string(kSelectRows) + " AND id = ?";
  REPRISE_ASSIGN(auto rows, db_.query(sql, source_row_, id.str()));
  return rows.each([&] { rows_.emplace(id.str(), row_of(rows)); });
}

// A session may have moved from one page of the list to another during the listing.
Result<std::vector<std::int64_t>> SessionList::deleted() {
  std::vector<std::int64_t> keys;
  const bool is_reported = !damage_.empty();  // by the list
  for (const auto& [id, row] : rows_) {
    if (by_id_.contains(id) ||
        std::ranges::any_of(id_and_ancestors(id), [this](std::string_view session) {
          return with_same_branches_.contains(session);
        })) {
      continue;
    }
    REPRISE_ASSIGN(const SessionId session, parse_indexed(db_, id));
    const auto found = source_.find(session);
    if (!found && !is_reported) {
      damage_.push_back({id, found.error().message, ""});
    }
    if (found && !*found) {
      keys.push_back(row.key);
    }
  }
  return keys;
}

Result<> SessionList::load_changed(const SessionChanges& changes) {
  for (const SessionInfo& info : changes.sessions) {
    add(info);
    REPRISE_TRY(load_row(info.id));
  }
  if (changes.trashed) {
    REPRISE_TRY(load_trash(*changes.trashed));
  }
  // Sessions loaded here are appended, and do not affect further ones.
  const std::size_t changed = listed_.size();
  for (std::size_t i = 0; i < changed; ++i) {
    REPRISE_TRY(load_forks(listed_[i]));
  }
  return load_origins();
}

Result<> SessionList::load(const SessionId& id) {
  if (by_id_.contains(id.str())) {
    return {};
  }
  const auto found = source_.find(id);
  if (!found) {
    damage_.push_back({id.str(), found.error().message, ""});
  } else if (const std::optional<Session>& session = *found; session) {
    add(session->info);
    REPRISE_TRY(load_row(id));
  }
  return {};
}

// Sessions that were trashed or restored.
Result<> SessionList::load_trash(const std::vector<SessionId>& trashed) {
  REPRISE_ASSIGN(const std::vector<SessionId> known,
                 ids("SELECT id FROM sessions WHERE source = ? AND hidden = 1 AND id > ?", ""));
  const std::set<SessionId> before(known.begin(), known.end());
  const std::set<SessionId> now(trashed.begin(), trashed.end());
  for (const SessionId& id : now) {
    REPRISE_TRY(before.contains(id) ? Result<>() : load(id));
  }
  for (const SessionId& id : before) {
    REPRISE_TRY(now.contains(id) ? Result<>() : load(id));
  }
  return {};
}

// Forks whose shared messages may have to be found in another session now.
Result<> SessionList::load_forks(const Listed& origin) {
  const Row* const before = row(origin.id);
  if (before == nullptr || (before->hidden == origin.hidden && before->head <= origin.head.value)) {
    return {};
  }
  REPRISE_ASSIGN(const std::vector<SessionId> forks,
                 ids("SELECT id FROM sessions WHERE source = ? AND origin = ? AND origin <> ''",
                     origin.id.str()));
  for (const SessionId& id : forks) {
    REPRISE_TRY(load(id));
  }
  return {};
}

Result<> SessionList::load_origins() {
  for (const Listed& session : listed_) {
    if (!session.forked_from || by_id_.contains(session.forked_from->session.str())) {
      continue;
    }
    const SessionId& id = session.forked_from->session;
    const auto found = source_.find(id);
    if (!found) {
      damage_.push_back({id.str(), found.error().message, ""});
    } else if (const std::optional<Session>& origin = *found; origin) {
      by_id_[id.str()] = &origins_.emplace_back(listed_of(origin->info));
    }
  }
  return {};
}

Result<std::vector<SessionId>> SessionList::ids(std::string_view sql, std::string_view value) {
  std::vector<SessionId> ids;
  REPRISE_ASSIGN(const std::vector<std::string> texts, db_.texts(sql, source_row_, value));
  for (const std::string& text : texts) {
    REPRISE_ASSIGN(SessionId id, parse_indexed(db_, text));
    ids.push_back(std::move(id));
  }
  return ids;
}

const Listed* SessionList::find(const std::string& id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

const Row* SessionList::row(const SessionId& id) const {
  const auto found = rows_.find(id.str());
  return found == rows_.end() ? nullptr : &found->second;
}

// Messages shared with the origin are found there, if it can be found.
Seq SessionList::first_of_own(const Listed& session) const {
  if (!session.forked_from) {
    return Seq{0};
  }
  const Listed* const origin = find(session.forked_from->session.str());
  const bool has_shared = origin != nullptr && !origin->hidden &&
                          (origin->head >= session.forked_from->at || !origin->is_head_known);
  return has_shared ? session.forked_from->at : Seq{0};
}

}  // namespace reprise::search
