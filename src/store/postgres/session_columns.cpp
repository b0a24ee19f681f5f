#include "store/postgres/session_columns.h"

#include <algorithm>
#include <initializer_list>
#include <type_traits>

#include "base/text.h"
#include "model/fields.h"
#include "reprise/session.h"
#include "store/postgres/statements.h"

namespace reprise::postgres {
namespace {

// Collects the columns of a statement and their parameters.
struct Assignments {
  std::size_t next;  // the next parameter
  std::string columns = {};
  std::string places = {};
  std::string set = {};

  void add_column(std::string_view column, std::string_view type) {
    const std::string place = cat("$", next++, "::", type);
    columns += cat(", ", column);
    places += cat(", ", place);
    set += cat(", ", column, " = ", place);
  }
  void add(std::string_view column, const std::string& /*text*/) { add_column(column, "bytea"); }
  void add(std::string_view column, const std::optional<ForkOrigin>& /*origin*/) {
    add_column(column, "text");
    add_column(model::kForkedAt, "int8");
  }
  template <class Number>
  void add(std::string_view column, const Number& /*value*/) {
    add_column(column, "int8");
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

SessionStatements make_statements(bool flags) {
  const Assignments new_head = assignments(Part::head, Change::creation, 8);
  const Assignments new_row = assignments(Part::row, Change::creation, 5);
  const std::string joined =
      cat(" FROM reprise_heads AS h JOIN reprise_sessions AS s"
          " ON s.tenant = h.tenant AND s.session_id = h.session_id");
  std::string sums;
  model::for_each(model::kUsageFields, [&](const auto& field) {
    sums += field.column.empty() ? "" : cat(", h.", field.column);
  });
  return {.insert_head = cat("INSERT INTO reprise_heads(tenant, session_id, updated_us,"
                             " updated_slot, folder, head, title_start, mode_key, branch",
                             new_head.columns,
                             ") VALUES($1::text, $2::text, $3::int8, " REPRISE_SLOT(
                                 "$3::int8") ","
                                             " $4::bytea, $5::int8, $6::bytea, $7::bytea, 0",
                             new_head.places, ")"),
          .insert_row = cat(
              "INSERT INTO reprise_sessions(tenant, session_id, title_lower, head_digest",
              new_row.columns,
              ") VALUES($1::text, $2::text, $3::bytea, " REPRISE_DIGEST("$3::bytea", "$4::bytea"),
              new_row.places, ")"),
          .update_head = cat("UPDATE reprise_heads SET folder = $3::bytea,"
                             " title_start = $4::bytea, mode_key = $5::bytea",
                             assignments(Part::head, Change::update, 6).set, kSession),
          .update_row = cat("UPDATE reprise_sessions SET title_lower = $3::bytea,"
                            " head_digest = " REPRISE_DIGEST("$3::bytea", "$4::bytea"),
                            assignments(Part::row, Change::update, 5).set, kSession),
          .find = cat("SELECT ", info_columns(flags), sums,
                      ", coalesce(o.first_seq, 0) AS cache_written", joined,
                      " LEFT JOIN reprise_once AS o ON o.tenant = h.tenant"
                      " AND o.session_id = h.session_id AND o.name = 'sum:cache_written'::bytea"
                      " WHERE h.tenant = $1::text AND h.session_id = $2::text"),
          .verify = cat("SELECT ", info_columns(flags), joined, " WHERE h.tenant = $1::text")};
}

// The columns of the given parts.
std::string columns_of(std::initializer_list<Part> parts, bool flags) {
  std::string all = "h.session_id, h.answer_start";
  model::for_each(model::kInfoFields,
                  [&]<class Value>(const model::Field<SessionInfo, Value>& field) {
                    const Part part = part_of(field);
                    if (std::ranges::find(parts, part) == parts.end()) {
                      return;
                    }
                    all += !flags && std::is_same_v<Value, bool>
                               ? cat(", 0::int8 AS ", field.column)
                               : cat(part == Part::head ? ", h." : ", s.", field.column);
                  });
  return all;
}

}  // namespace

const SessionStatements& session_statements(bool flags) {
  static const SessionStatements with = make_statements(true);
  static const SessionStatements without = make_statements(false);
  return flags ? with : without;
}

const std::string& info_columns(bool flags) {
  const auto columns = [](bool has_flags) {
    return cat(columns_of({Part::head, Part::row}, has_flags), ", s.", model::kForkedAt);
  };
  static const std::string with = columns(true);
  static const std::string without = columns(false);
  return flags ? with : without;
}

const std::string& head_columns(bool flags) {
  static const std::string with = columns_of({Part::head}, true);
  static const std::string without = columns_of({Part::head}, false);
  return flags ? with : without;
}

}  // namespace reprise::postgres
