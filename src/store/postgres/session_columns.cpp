#include "store/postgres/session_columns.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "model/fields.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "reprise/types.h"
#include "store/postgres/statements.h"

namespace reprise::postgres {
namespace {

// Puts the columns of a statement and their places together.
struct Assignments {
  std::size_t next;  // parameter
  std::string columns = {};
  std::string places = {};
  std::string set = {};

  void add(std::string_view column, std::string_view type) {
    const std::string place = cat("$", next++, "::", type);
    columns += cat(", ", column);
    places += cat(", ", place);
    set += cat(", ", column, " = ", place);
  }
  void add(std::string_view column, const std::string& /*text*/) { add(column, "bytea"); }
  void add(std::string_view column, const std::optional<ForkOrigin>& /*origin*/) {
    add(column, "text");
    add(model::kForkedAt, "int8");
  }
  template <class Number>
  void add(std::string_view column, const Number& /*value*/) {
    add(column, std::string_view("int8"));
  }
};

Assignments assignments(Part part, Change change, std::size_t first) {
  Assignments all{first};
  model::for_each(model::kInfoFields,
                  [&]<class Value>(const model::Field<SessionInfo, Value>& field) {
                    if (part_of(field) == part && is_given(field, change)) {
                      all.add(field.column, Value{});
                    }
                  });
  return all;
}

constexpr std::string_view kSession = " WHERE tenant = $1::text AND session_id = $2::text";

SessionStatements make_statements() {
  const Assignments new_head = assignments(Part::head, Change::creation, 7);
  const Assignments new_row = assignments(Part::row, Change::creation, 4);
  const std::string joined =
      cat(" FROM reprise_heads AS h JOIN reprise_sessions AS s"
          " ON s.tenant = h.tenant AND s.session_id = h.session_id");
  std::string sums;
  model::for_each(model::kUsageFields, [&](const auto& field) {
    sums += field.column.empty() ? "" : cat(", h.", field.column);
  });
  return {
      .insert_head = cat("WITH made AS (INSERT INTO reprise_heads(tenant, session_id, updated_us,"
                         " updated_slot, folder, head, branch",
                         new_head.columns,
                         ") VALUES($1::text, $2::text, $3::int8, " REPRISE_SLOT(
                             "$3::int8") ","
                                         " $4::bytea, $5::int8, 0",
                         new_head.places,
                         ")) INSERT INTO reprise_once(tenant, session_id, name, first_seq, head)"
                         " VALUES($1::text, $2::text, $6::bytea, 0, 0)"),
      .insert_row =
          cat("INSERT INTO reprise_sessions(tenant, session_id, title_lower", new_row.columns,
              ") VALUES($1::text, $2::text, $3::bytea", new_row.places, ")"),
      .update_head = cat("UPDATE reprise_heads SET folder = $3::bytea",
                         assignments(Part::head, Change::update, 4).set, kSession),
      .update_row = cat("UPDATE reprise_sessions SET title_lower = $3::bytea",
                        assignments(Part::row, Change::update, 4).set, kSession),
      .find = cat("SELECT ", info_columns(), sums, ", coalesce(o.first_seq, 0) AS cache_written",
                  joined,
                  " LEFT JOIN reprise_once AS o ON o.tenant = h.tenant"
                  " AND o.session_id = h.session_id AND o.name = 'sum:cache_written'::bytea"
                  " WHERE h.tenant = $1::text AND h.session_id = $2::text"),
      .verify = cat("SELECT ", info_columns(), joined, " WHERE h.tenant = $1::text")};
}

std::string columns_of(const auto& prefix_of) {
  std::string all = "h.session_id, h.answer_start";
  model::for_each(model::kInfoFields, [&](const auto& field) {
    const std::string_view prefix = prefix_of(part_of(field));
    all += prefix.empty() ? "" : cat(", ", prefix, field.column);
  });
  return all;
}

}  // namespace

const SessionStatements& session_statements() {
  static const SessionStatements all = make_statements();
  return all;
}

const std::string& info_columns() {
  static const std::string columns =
      cat(columns_of([](Part part) { return part == Part::head ? "h." : "s."; }), ", s.",
          model::kForkedAt);
  return columns;
}

const std::string& head_columns() {
  static const std::string columns =
      columns_of([](Part part) { return part == Part::head ? "h." : ""; });
  return columns;
}

}  // namespace reprise::postgres
