#include <algorithm>
#include <vector>

#include "base/text.h"
#include "reprise/types.h"
#include "store/postgres/connection.h"
#include "store/postgres/sessions.h"
#include "store/postgres/statements.h"
#include "store/postgres/values.h"
#include "store/rules.h"

namespace reprise::postgres {
namespace {

constexpr int kChainMax = 1'000'000;

Result<Base> read_base(const Rows& rows) {
  REPRISE_ASSIGN(SessionId session, SessionId::parse(rows.bytes(0, "base_session")));
  return Base{{std::move(session), rows.integer(0, "base_branch")}, rows.integer(0, "base_count")};
}

Result<std::optional<Base>> find_base(Connection& connection, const std::string& tenant,
                                      const Branch& branch) {
  REPRISE_ASSIGN(
      const Rows rows,
      connection.run_one({kFindBranch, values_of({tenant, branch.session}, branch.number)}));
  if (rows.empty()) {
    return std::nullopt;
  }
  return read_base(rows);
}

// The segments of the session's visible messages.
Result<std::vector<Segment>> visible_segments(Connection& connection, const Key& key) {
  REPRISE_ASSIGN(Head head, find_head(connection, key));
  const std::int64_t to = head.seq.value;
  return segments_of(connection, key.tenant, std::move(head), 0, to);
}

}  // namespace

Result<Head> find_head(Connection& connection, const Key& key) {
  REPRISE_ASSIGN(const Rows rows, connection.run_one({kFindHead, values_of(key)}));
  if (rows.empty()) {
    return std::unexpected(store::no_session(key.id));
  }
  Head head = {.branch = {key.id, rows.integer(0, "branch")},
               .base = std::nullopt,
               .seq = Seq{rows.integer(0, "head")}};
  if (!rows.is_null(0, "base_session")) {
    REPRISE_ASSIGN(head.base, read_base(rows));
  }
  return head;
}

Result<std::vector<Segment>> segments_of(Connection& connection, const std::string& tenant,
                                         Head head, std::int64_t from, std::int64_t to) {
  Branch branch = std::move(head.branch);
  std::optional<Base> base = std::move(head.base);
  std::vector<Segment> segments;
  for (int depth = 0; depth < kChainMax; ++depth) {
    const std::int64_t own_from = base ? std::max(from, base->count) : from;
    if (own_from < to) {
      segments.push_back({branch, own_from, to});
    }
    to = std::min(to, own_from);
    if (!base || from >= to) {
      std::ranges::reverse(segments);
      return segments;
    }
    branch = std::move(base->branch);
    REPRISE_ASSIGN(base, find_base(connection, tenant, branch));
  }
  return fail(Code::corrupt, cat("session ", branch.session.str(), " is forked from itself"));
}

Result<std::optional<Branch>> base_for(Connection& connection, const std::string& tenant,
                                       Branch branch, Seq at) {
  if (at.value == 0) {
    return std::nullopt;
  }
  for (int depth = 0; depth < kChainMax; ++depth) {
    REPRISE_ASSIGN(auto base, find_base(connection, tenant, branch));
    if (!base || at.value > base->count) {
      break;
    }
    branch = std::move(base->branch);
  }
  return branch;
}

Query insert_branch(const Key& key, std::int64_t number, const Branch& base, Seq at) {
  return {kInsertBranch, values_of(key, number, base.session.str(), base.number, at.value)};
}

Result<std::vector<Query>> branch_off(Connection& connection, const Key& key, std::int64_t branch,
                                      Seq from) {
  REPRISE_ASSIGN(const auto base, base_for(connection, key.tenant, {key.id, branch}, from));
  std::vector<Query> queries;
  if (base) {
    queries.push_back(insert_branch(key, branch + 1, *base, from));
  }
  queries.push_back({kMoveToBranch, values_of(key, branch + 1, from.value)});
  return queries;
}

Result<std::int64_t> count_replaced(Connection& connection, const Key& key) {
  REPRISE_ASSIGN(const auto shown, visible_segments(connection, key));
  std::int64_t current = 0;
  for (const Segment& segment : shown) {
    current += segment.branch.session == key.id ? segment.to - segment.from : 0;
  }
  REPRISE_ASSIGN(const Rows counted, connection.run_one({kCountMessages, values_of(key)}));
  return std::max<std::int64_t>(0, counted.integer(0, "messages") - current);
}

// The visible messages of a branch are a prefix of its own ones.
Result<std::vector<Segment>> replaced_segments(Connection& connection, const Key& key) {
  REPRISE_ASSIGN(const auto shown, visible_segments(connection, key));
  REPRISE_ASSIGN(const Rows branches, connection.run_one({kFindBranchRanges, values_of(key)}));
  std::vector<Segment> replaced;
  for (int i = 0; i < branches.count(); ++i) {
    Segment range{{key.id, branches.integer(i, "branch")},
                  branches.integer(i, "first_seq"),
                  branches.integer(i, "end_seq")};
    for (const Segment& segment : shown) {
      const bool is_same_branch =
          segment.branch.session == key.id && segment.branch.number == range.branch.number;
      range.from = is_same_branch ? std::max(range.from, segment.to) : range.from;
    }
    if (range.from < range.to) {
      replaced.push_back(range);
    }
  }
  return replaced;
}

}  // namespace reprise::postgres
