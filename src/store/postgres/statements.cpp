#include "store/postgres/statements.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "store/postgres/statements_beside.h"

namespace reprise::postgres {
namespace {

constexpr std::string_view kStatements[] = {
    kBegin,
    kBeginSnapshot,
    kCommit,
    kRollback,
    kInsertHead,
    kInsertSession,
    kUpdateSession,
    kUpdateHead,
    kFindSession,
    kFindState,
    kLockHead,
    kFindValues,
    kFindValue,
    kDeleteValue,
    kInsertValue,
    kFindOnce,
    kInsertOnce,
    kFindRequests,
    kAppend,
    kInsertMessagePart,
    kInsertBlobRefs,
    kDeleteDeltas,
    kInsertBranch,
    kMoveToBranch,
    kFindHead,
    kFindBranch,
    kReadForwards,
    kReadBackwards,
    kReadParts,
    kAddDelta,
    kInsertBlobRefsOfAnswer,
    kFindAnswer,
    kFindDeltas,
    kDeleteArtefact,
    kAppendArtefact,
    kFindArtefact,
    kListArtefacts,
    kFindBlobPart,
    kInsertBlobPart,
    kTouchBlob,
    kListBlobs,
    kDeleteUnnamedBlobs,
    kFindMissingBlobs,
    kTrashSession,
    kSetState,
    kRestoreHead,
    kRestoreSession,
    kFindSharing,
    kVerifySessions,
    kVerifyMessages,
    kVerifyRows,
    kVerifyBeginnings,
    kVerifyHeads,
    kVerifyBases,
};

// One state's sessions in their order.
std::string select_state(const ListShape& shape, std::int64_t state) {
  std::size_t parameter = 2;
  const auto next = [&parameter] { return cat("$", parameter++); };
  std::string sql =
      "(SELECT h.session_id, h.updated_us, h.state, h.head, h.answer_start FROM reprise_heads AS h";
  if (shape.mode || shape.title) {
    sql += " JOIN reprise_sessions AS s ON s.tenant = h.tenant AND s.session_id = h.session_id";
  }
  sql += cat(" WHERE h.tenant = $1::text AND h.state = ", state,
             " AND h.state >= 0");  // the indexes' condition
  if (shape.after) {
    const std::string updated_us = next();
    const std::string session = next();
    if (shape.slots) {
      sql += cat(" AND h.updated_slot <= (", updated_us, "::int8 >> 26)");
    }
    sql += cat(" AND (h.updated_us, h.session_id) < (", updated_us, "::int8, ", session, "::text)");
  }
  if (shape.folder) {
    sql += cat(" AND h.folder = ", next(), "::bytea");
  }
  if (shape.mode) {
    sql += cat(" AND s.mode = ", next(), "::bytea");
  }
  if (shape.prefix) {
    sql += cat(" AND h.session_id >= ", next(), "::text");
    sql += cat(" AND h.session_id < ", next(), "::text");
  }
  if (shape.title) {
    sql += cat(" AND position(", next(), "::bytea IN s.title_lower) > 0");
  }
  if (shape.answering) {
    sql += " AND h.answer IS NOT NULL";
  }
  const std::string_view slots = shape.slots ? "h.updated_slot DESC, " : "";
  return cat(sql, " ORDER BY ", slots, "h.updated_us DESC, h.session_id DESC LIMIT ", shape.rows,
             ")");
}

void add_list_statements(std::vector<std::string>& all) {
  constexpr unsigned kShapes = 1U << 7U;
  for (unsigned bits = 0; bits < kShapes; ++bits) {
    const auto has = [bits](unsigned bit) { return (bits >> bit & 1U) != 0; };
    all.push_back(list_statement({.states = std::vector<std::int64_t>(1 + bits % 4),
                                  .rows = 21,
                                  .after = has(0),
                                  .folder = has(1),
                                  .mode = has(2),
                                  .prefix = has(3),
                                  .title = has(4),
                                  .answering = has(5),
                                  .slots = has(6)}));
  }
}

}  // namespace

std::string list_statement(const ListShape& shape) {
  std::string page;
  for (const std::int64_t state : shape.states) {
    page += cat(page.empty() ? "" : " UNION ALL ", select_state(shape, state));
  }
  if (shape.states.size() > 1) {
    page += cat(" ORDER BY updated_us DESC, session_id DESC LIMIT ", shape.rows);
  }
  return cat("SELECT" REPRISE_INFO_COLUMNS " FROM (", page,
             ") AS h JOIN reprise_sessions AS s ON s.tenant = $1::text AND"
             " s.session_id = h.session_id ORDER BY h.updated_us DESC, h.session_id DESC");
}

std::vector<std::string> all_statements() {
  std::vector<std::string> all;
  for (const std::string_view one : kStatements) {
    all.emplace_back(one);
  }
  for (const std::string_view one : kPurge) {
    all.emplace_back(one);
  }
  add_list_statements(all);
  return all;
}

}  // namespace reprise::postgres
