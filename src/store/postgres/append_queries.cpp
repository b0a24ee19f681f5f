#include <cstddef>
#include <iterator>
#include <optional>
#include <tuple>
#include <vector>

#include "base/assert.h"
#include "model/fields.h"
#include "store/postgres/connection.h"
#include "store/postgres/messages.h"
#include "store/postgres/sessions.h"
#include "store/postgres/statements.h"
#include "store/postgres/values.h"
#include "store/stored_json.h"
#include "store/usage_sum.h"

namespace reprise::postgres {
namespace {

// The usage that the batch adds to the session, and the names of the requests counted by it; those
// in `counted` are already counted.
struct Counting {
  Usage usage;
  Names names;
};
Counting count(const Batch& batch, const Names& counted) {
  Counting counting;
  for (const Batch::Request& request : batch.requests) {
    if (request.name.empty() ||
        (!counted.contains(request.name) && counting.names.insert(request.name).second)) {
      store::add_usage(counting.usage, request.usage);
    }
  }
  return counting;
}

// All names that the batch adds to reprise_once.
ByteStrings names_of(const Batch& batch, const Counting& counting) {
  ByteStrings names = {batch.operation};
  names.insert(names.end(), counting.names.begin(), counting.names.end());
  return names;
}

// Adds the sums in the order of their columns.
void add_sums(Values& values, const Usage& usage) {
  struct Adder {
    Values& values;
    void add(TokenCount count) const { values.add(count.value); }
    void add(const std::optional<Money>& money) const {
      values.add(money ? std::optional(money->nanos) : std::nullopt);
    }
    void add(const std::string& text) const { values.add(text); }
  };
  model::for_each(model::kUsageFields, [&](const auto& field) {
    if (!field.column.empty()) {
      Adder{values}.add(usage.*field.member);
    }
  });
}

AppendShape shape_of(const Batch& batch) {
  return {.single = batch.size() == 1,
          .usage = !batch.requests.empty(),
          .answer = batch.options.begin_partial || batch.options.end_partial,
          .author = batch.has_author};
}

// The values for moving the head.
Values head_values(const Counted& append, HeadCheck head_check) {
  const auto& [key, batch, counted] = append;
  const AppendOptions& options = batch.options;
  return values_of(key,
                   options.expected_head && head_check == HeadCheck::in_query
                       ? std::optional(options.expected_head->value)
                       : std::nullopt,
                   batch.size(),
                   batch.times.empty() ? std::nullopt : std::optional(batch.activity));
}

// Adds the values for other changes of the head.
void add_change(Values& values, const Batch& batch, const Usage& usage) {
  const AppendShape shape = shape_of(batch);
  if (shape.usage) {
    add_sums(values, usage);
  }
  if (shape.answer) {
    const auto& [ends, begins] = std::tie(batch.options.end_partial, batch.options.begin_partial);
    values.add(ends ? std::optional(ends->str()) : std::nullopt);
    values.add(begins ? std::optional(begins->answer.str()) : std::nullopt);
    values.add(begins ? std::optional(store::answer_to_json(*begins)) : std::nullopt);
  }
}

// Adds the columns of the messages that every statement has: arrays, or the values of the only one.
void add_columns(Values& values, const Batch& batch, bool has_author) {
  const auto add = [&](const auto& column) {
    if (batch.size() == 1) {
      values.add(column.front());
    } else {
      values.add(column);
    }
  };
  add(batch.more);
  add(batch.roles);
  add(batch.contents);
  add(batch.details);
  if (has_author) {
    add(batch.authors);
  }
}

void add_rows(Values& values, const Batch& batch) {
  if (batch.size() != 1) {
    // A shorter array would be padded with nulls.
    REPRISE_ASSERT(batch.positions.size() == batch.times.size() &&
                   batch.positions.size() == batch.more.size() &&
                   batch.positions.size() == batch.roles.size() &&
                   batch.positions.size() == batch.contents.size() &&
                   batch.positions.size() == batch.details.size() &&
                   batch.positions.size() == batch.authors.size());
    values.add(batch.positions);
    values.add(batch.times);
  }
  add_columns(values, batch, batch.has_author);
}

}  // namespace

Query append_query(const Counted& append, HeadCheck head_check) {
  const Batch& batch = append.batch;
  const Counting counting = count(batch, append.names);
  const AppendShape shape = shape_of(batch);
  Values values = head_values(append, head_check);
  if (shape.has_one_name()) {
    values.add(batch.operation);
  } else {
    values.add(names_of(batch, counting));
  }
  add_rows(values, batch);
  add_change(values, batch, counting.usage);
  const auto& [text, hash] = append_statement(shape);
  return {text, std::move(values), hash};
}

Query call_query(const Counted& append) {
  const Batch& batch = append.batch;
  const Counting counting = count(batch, append.names);
  const AppendShape shape = shape_of(batch);
  Values values = head_values(append, HeadCheck::in_query);
  if (shape.single) {
    values.add(batch.operation);
  } else {
    values.add(names_of(batch, counting));
    values.add(batch.times);
  }
  add_columns(values, batch, true);
  if (shape.single && shape.usage) {
    values.add(counting.names.empty() ? std::nullopt : std::optional(*counting.names.begin()));
  }
  if (shape.usage) {
    values.add(counting.usage.cache_written.value);
  }
  add_change(values, batch, counting.usage);
  const auto& [text, hash] = append_call(shape);
  return {text, std::move(values), hash};
}

Query move_query(const Counted& append, HeadCheck head_check) {
  const Batch& batch = append.batch;
  Values values = head_values(append, head_check);
  add_change(values, batch, count(batch, append.names).usage);
  const auto& [text, hash] = move_statement(shape_of(batch));
  return {text, std::move(values), hash};
}

std::vector<Query> insert_queries(const Counted& append, const Rows& moved) {
  const auto& [key, batch, counted] = append;
  const std::int64_t branch = moved.integer(0, "branch");
  const std::int64_t first = moved.integer(0, "first_seq");
  const std::int64_t head = first + batch.size();
  std::vector<Query> queries = {{kInsertOnceAt, values_of(key, batch.operation, first, head)}};
  for (const std::string& name : count(batch, counted).names) {
    queries.push_back({kInsertOnceAt, values_of(key, name, first, head)});
  }
  for (std::size_t i = 0; i < batch.positions.size(); ++i) {
    queries.push_back(
        {kInsertMessage,
         values_of(key, branch, first + batch.positions[i], batch.times[i], batch.more[i],
                   batch.roles[i], batch.contents[i], batch.details[i], batch.authors[i])});
  }
  auto dependent = dependent_queries(append);
  queries.insert(queries.end(), std::make_move_iterator(dependent.begin()),
                 std::make_move_iterator(dependent.end()));
  return queries;
}

std::vector<Query> dependent_queries(const Counted& append) {
  const auto& [key, batch, counted] = append;
  std::vector<Query> queries;
  queries.reserve(batch.parts.size());
  for (const Batch::Part& part : batch.parts) {
    queries.push_back({kInsertMessagePart,
                       values_of(key, batch.operation, part.position, part.part, part.bytes)});
  }
  for (const std::string& hash : batch.blobs) {
    queries.push_back({kInsertBlobRef, values_of(key, batch.operation, hash)});
  }
  if (const TokenCount written = count(batch, counted).usage.cache_written; written.value != 0) {
    queries.push_back({kAddCacheWritten, values_of(key, batch.operation, written.value)});
  }
  if (batch.ahead) {
    queries.push_back({kSetAhead, values_of(key, batch.operation, *batch.ahead)});
  }
  if (batch.options.end_partial) {
    queries.push_back(
        {kDeleteDeltas, values_of(key, batch.operation, batch.options.end_partial->str())});
  }
  return queries;
}

}  // namespace reprise::postgres
