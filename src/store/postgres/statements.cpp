#include "store/postgres/statements.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "base/text.h"
#include "model/fields.h"
#include "reprise/message.h"

namespace reprise::postgres {
namespace {

constexpr unsigned kAppendShapes = 1U << 4U;
constexpr AppendShape append_shape(unsigned number) {
  return {.single = (number & 1U) != 0,
          .usage = (number & 2U) != 0,
          .answer = (number & 4U) != 0,
          .author = (number & 8U) != 0};
}
constexpr unsigned number_of(const AppendShape& shape) {
  return (shape.single ? 1U : 0U) + (shape.usage ? 2U : 0U) + (shape.answer ? 4U : 0U) +
         (shape.author ? 8U : 0U);
}

// The assignments that add the usage of an append to the session's. Sums saturate.
std::string set_usage(Placeholders& placeholders) {
  const auto sum = [](std::string_view old, std::string_view added) {
    return cat("greatest(least(", old, "::numeric + ", added,
               "::numeric, 9223372036854775807), -9223372036854775808)::int8");
  };
  std::string set;
  model::for_each(model::kUsageFields, [&]<class Value>(const model::Field<Usage, Value>& field) {
    if (std::is_same_v<Value, TokenCount> && !field.column.empty()) {
      set +=
          cat(", ", field.column, " = ", sum(cat("h.", field.column), placeholders.next("int8")));
    }
  });
  const std::string cost = placeholders.next("int8");
  const std::string source = placeholders.next("bytea");
  set += cat(", cost_nanos = CASE WHEN ", cost, " IS NULL THEN h.cost_nanos ELSE ",
             sum("coalesce(h.cost_nanos, 0)", cost), " END");
  return cat(set, ", price_source = CASE WHEN ", cost,
             " IS NULL THEN h.price_source WHEN h.cost_nanos IS NULL OR h.price_source = ", source,
             " THEN ", source, " ELSE 'mixed'::bytea END");
}

std::string insert_messages(const AppendShape& shape) {
  return cat(
      "INSERT INTO reprise_messages(tenant, session_id, branch, seq, created_us,"
      " more, role, content, detail",
      shape.author ? ", author)" : ")");
}

// The inserts of an append: its names with its first seq, and its messages. A single message needs
// no unnest() of arrays, which took a seventh of the statement's time.
std::string insert_batch(const AppendShape& shape, Placeholders& placeholders,
                         std::string_view names) {
  std::vector<std::string_view> types = {"int8[]",  "int8[]",  "int8[]",
                                         "bytea[]", "bytea[]", "bytea[]"};
  if (shape.author) {
    types.emplace_back("bytea[]");
  }
  std::string arrays;
  for (const std::string_view type : types) {
    arrays += cat(arrays.empty() ? "" : ", ", placeholders.next(type));
  }
  return cat(", once AS (", names, "), stored AS (", insert_messages(shape),
             " SELECT $1::text, $2::text, m.branch, m.first_seq + u.place, u.created_us, u.more,"
             " u.role, u.content, u.detail",
             shape.author ? ", u.author" : "", " FROM moved AS m CROSS JOIN unnest(", arrays,
             ") AS u(place, created_us, more, role, content, detail",
             shape.author ? ", author" : "", ")) SELECT first_seq FROM moved");
}

std::string insert_single(const AppendShape& shape, Placeholders& placeholders,
                          std::string_view names) {
  std::vector<std::string_view> types = {"int8", "bytea", "bytea", "bytea"};
  if (shape.author) {
    types.emplace_back("bytea");
  }
  std::string columns;
  for (const std::string_view type : types) {
    columns += cat(", ", placeholders.next(type));
  }
  return cat(", once AS (", names, ") ", insert_messages(shape),
             " SELECT $1::text, $2::text, m.branch, m.first_seq, $5::int8", columns,
             " FROM moved AS m RETURNING seq AS first_seq");
}

// The parameters of an answer; "" for a shape without one.
struct AnswerParameters {
  std::string ends, begins, start;
};
AnswerParameters answer_parameters(const AppendShape& shape, Placeholders& placeholders) {
  AnswerParameters parameters;
  if (shape.answer) {
    parameters.ends = placeholders.next("text");
    parameters.begins = placeholders.next("text");
    parameters.start = placeholders.next("bytea");
  }
  return parameters;
}

std::string move_head(std::string_view usage, const AnswerParameters& answer) {
  std::string set =
      " head = h.head + $4::int8, updated_us = coalesce(nullif($5::int8, 0), h.updated_us),"
      " updated_slot = " REPRISE_SLOT("coalesce(nullif($5::int8, 0), h.updated_us)") ","
      " ahead_us = CASE WHEN nullif($5::int8, 0) IS NULL THEN h.ahead_us END";
  set += usage;
  std::string where;
  if (const auto& [ends, begins, start] = answer; !ends.empty()) {
    set += cat(", answer = ", begins, ", answer_start = ", start);
    where = cat(" AND CASE WHEN ", ends, " IS NULL THEN h.answer IS NULL ELSE h.answer = ", ends,
                " END");
  }
  return cat("UPDATE reprise_heads AS h SET", set,
             " WHERE h.tenant = $1::text AND h.session_id = $2::text"
             " AND ($3::int8 IS NULL OR h.head = $3::int8)"
             " AND h.head BETWEEN 0 AND ",
             kSeqMax.value, " - $4::int8", where,
             " RETURNING h.branch, h.head - $4::int8 AS first_seq");
}

std::string move_head(const AppendShape& shape, Placeholders& placeholders) {
  const std::string usage = shape.usage ? set_usage(placeholders) : "";
  return move_head(usage, answer_parameters(shape, placeholders));
}

AppendStatement make_append(const AppendShape& shape) {
  Placeholders placeholders(6);
  const std::string name = shape.has_one_name() ? placeholders.next("bytea")
                                                : cat("unnest(", placeholders.next("bytea[]"), ")");
  const std::string names =
      cat("INSERT INTO reprise_once(tenant, session_id, name, first_seq, head) SELECT $1::text,"
          " $2::text, ",
          name, ", m.first_seq, m.first_seq + $4::int8 FROM moved AS m");
  const std::string messages = shape.single ? insert_single(shape, placeholders, names)
                                            : insert_batch(shape, placeholders, names);
  std::string text = cat("WITH moved AS (", move_head(shape, placeholders), ")", messages);
  const std::size_t hash = std::hash<std::string>()(text);
  return {std::move(text), hash};
}

AppendStatement make_move(const AppendShape& shape) {
  Placeholders placeholders(6);
  std::string text = move_head(shape, placeholders);
  const std::size_t hash = std::hash<std::string>()(text);
  return {std::move(text), hash};
}

// A function for an append.
struct AppendFunction {
  std::vector<std::string_view> types = {"text", "text", "int8", "int8", "int8"};
  std::string body = {};
};
std::string insert_once_at(std::string_view name) {
  return cat(" INSERT INTO reprise_once(tenant, session_id, name, first_seq, head) VALUES($1, $2, ",
             name, ", first, first + $4);");
}
std::string insert_message_at(std::string_view columns) {
  return cat(
      " INSERT INTO reprise_messages(tenant, session_id, branch, seq, created_us, more, role,"
      " content, detail, author) VALUES($1, $2, at_branch, ",
      columns, ");");
}

// The inserts of the names and messages.
std::string insert_one(const AppendShape& shape, Placeholders& placeholders) {
  std::string inserts = insert_once_at(placeholders.next("bytea"));
  std::string columns = cat("first, $5, ", placeholders.next("int8"));
  for (const std::string_view type : {"bytea", "bytea", "bytea", "bytea"}) {
    columns += cat(", ", placeholders.next(type));
  }
  if (shape.usage) {
    const std::string request = placeholders.next("bytea");
    inserts += cat(" IF ", request, " IS NOT NULL THEN", insert_once_at(request), " END IF;");
  }
  return cat(inserts, insert_message_at(columns));
}
std::string insert_several(Placeholders& placeholders) {
  const std::string names = placeholders.next("bytea[]");
  std::string arrays;
  for (const std::string_view type :
       {"int8[]", "int8[]", "bytea[]", "bytea[]", "bytea[]", "bytea[]"}) {
    arrays += cat(arrays.empty() ? "" : ", ", placeholders.next(type));
  }
  return cat(" FOREACH operation IN ARRAY ", names, " LOOP", insert_once_at("operation"),
             " END LOOP; FOR m IN SELECT * FROM unnest(", arrays,
             ") WITH ORDINALITY AS u(created_us, more, role, content, detail, author, n) LOOP",
             insert_message_at("first + m.n - 1, m.created_us, m.more, m.role, m.content,"
                               " m.detail, m.author"),
             " END LOOP;");
}

AppendFunction make_function(const AppendShape& shape) {
  AppendFunction function;
  Placeholders placeholders(function.types.size() + 1);
  std::string inserts =
      shape.single ? insert_one(shape, placeholders) : insert_several(placeholders);
  std::string usage;
  if (shape.usage) {
    const std::string cache_written = placeholders.next("int8");
    usage = set_usage(placeholders);
    inserts += cat(" IF ", cache_written,
                   " <> 0 THEN INSERT INTO reprise_once AS sum(tenant, session_id, name, first_seq,"
                   " head) VALUES($1, $2, 'sum:cache_written'::bytea, ",
                   cache_written, ", 0)" REPRISE_ADD_TO_SUM "; END IF;");
  }
  const AnswerParameters answer = answer_parameters(shape, placeholders);
  if (shape.answer) {
    inserts += cat(" IF ", answer.ends,
                   " IS NOT NULL THEN DELETE FROM reprise_deltas WHERE tenant = $1 AND"
                   " session_id = $2 AND answer = ",
                   answer.ends, "; END IF;");
  }
  function.types.insert(function.types.end(), placeholders.types().begin(),
                        placeholders.types().end());
  function.body =
      cat("DECLARE at_branch int8; first int8;", shape.single ? "" : " operation bytea; m record;",
          " BEGIN ", move_head(usage, answer),
          " INTO at_branch, first; IF NOT FOUND THEN RETURN NULL; END IF;", inserts,
          " RETURN first; END");
  return function;
}

constexpr std::string_view kAppendFunction = "reprise_append_1";

AppendStatement make_call(const AppendShape& shape) {
  Placeholders placeholders(1);
  std::string values;
  for (const std::string_view type : make_function(shape).types) {
    values += cat(values.empty() ? "" : ", ", placeholders.next(type));
  }
  std::string text = cat("SELECT ", kAppendFunction, "(", values, ") AS first_seq");
  const std::size_t hash = std::hash<std::string>()(text);
  return {std::move(text), hash};
}

std::vector<AppendStatement> all_shapes(AppendStatement (*make)(const AppendShape&)) {
  std::vector<AppendStatement> made;
  made.reserve(kAppendShapes);
  for (unsigned number = 0; number < kAppendShapes; ++number) {
    made.push_back(make(append_shape(number)));
  }
  return made;
}

}  // namespace

std::string Placeholders::next(std::string_view type) {
  types_.push_back(type);
  return cat("$", next_++, "::", type);
}

const std::vector<AppendStatement>& append_statements() {
  static const std::vector<AppendStatement> statements = all_shapes(make_append);
  return statements;
}

const AppendStatement& append_statement(const AppendShape& shape) {
  return append_statements()[number_of(shape)];
}

const AppendStatement& move_statement(const AppendShape& shape) {
  static const std::vector<AppendStatement> statements = all_shapes(make_move);
  return statements.at(number_of(shape));
}

const AppendStatement& append_call(const AppendShape& shape) {
  static const std::vector<AppendStatement> statements = all_shapes(make_call);
  return statements.at(number_of(shape));
}

std::vector<AppendShape> append_function_shapes() {
  std::vector<AppendShape> shapes;
  for (unsigned number = 0; number < kAppendShapes; ++number) {
    if (const AppendShape shape = append_shape(number); !shape.author) {
      shapes.push_back(shape);
    }
  }
  return shapes;
}

std::string append_signature(const AppendShape& shape) {
  std::string types;
  for (const std::string_view type : make_function(shape).types) {
    types += cat(types.empty() ? "" : ", ", type);
  }
  return cat(kAppendFunction, "(", types, ")");
}

// Nodes may have another search path. A generic plan would be slower: Citus 13 plans the statement
// on the shard anew in each execution of it, and never frees that.
std::string create_append_function(const AppendShape& shape, std::string_view schema) {
  constexpr std::string_view kTable = " reprise_";
  std::string body = make_function(shape).body;
  const std::string qualified = cat(" ", schema, ".reprise_");
  for (std::size_t at = body.find(kTable); at != std::string::npos;
       at = body.find(kTable, at + qualified.size())) {
    body.replace(at, kTable.size(), qualified);
  }
  return cat("CREATE OR REPLACE FUNCTION ", schema, ".", append_signature(shape),
             " RETURNS int8 LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan AS $reprise$",
             body, "$reprise$");
}

std::string statement_name(std::string_view sql) {
  constexpr std::string_view kPrefix = "reprise_";
  const auto is_end = [](char c) { return !is_ascii_alnum(c) && c != '_'; };
  const std::size_t table = sql.find(kPrefix);
  if (table == std::string_view::npos) {
    return std::string(sql.substr(0, sql.find(' ')));
  }
  const auto end =
      std::find_if(sql.begin() + static_cast<std::ptrdiff_t>(table), sql.end(), is_end);
  std::size_t verb_at = 0;
  std::string_view verb = "SELECT";
  for (const std::string_view candidate : {"SELECT", "INSERT", "UPDATE", "DELETE"}) {
    const std::size_t found = sql.substr(0, table).rfind(candidate);
    if (found != std::string_view::npos && found >= verb_at) {
      verb_at = found;
      verb = candidate;
    }
  }
  return cat(verb, " ", std::string_view(sql.begin() + static_cast<std::ptrdiff_t>(table), end));
}

}  // namespace reprise::postgres
