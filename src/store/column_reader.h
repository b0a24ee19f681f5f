#pragma once

// Reads fields from a database row by their types. `Row` has is_null(), integer() and bytes() for a
// Column or its name, and columns(), which returns those of a list of fields.

#include "base/utf8.h"
#include "model/fields.h"
#include "reprise/source.h"
#include "store/column_names.h"
#include "store/rules.h"
#include "store/stored_json.h"

namespace reprise::store {

inline std::int64_t microseconds_of(Time time) {
  return time.time_since_epoch().count();
}
inline Time time_of(std::int64_t microseconds) {
  return Time(std::chrono::microseconds(microseconds));
}

template <class Row>
struct ColumnReader {
  const Row& row;
  std::string_view file;
  std::string (*location)(const Row& row, std::string_view file);  // null: damage is not reported
  std::optional<Damage>& damage;  // the first damaged part of the row

  void report(std::string reason, std::string_view bytes) const {
    if (location != nullptr) {
      damage = Damage{location(row, file), std::move(reason), excerpt_of(bytes)};
    }
  }

  void read(Column column, std::string& out) const { out.assign(row.bytes(column)); }
  // A text that another program wrote may be no UTF-8.
  void mend(std::string& text) const {
    if (!utf8::is_valid(text)) {
      report("text that is not valid Unicode, shown as U+FFFD", text);
      text = utf8::sanitize(text);
    }
  }
  void read(Column column, bool& out) const { out = row.integer(column) != 0; }
  void read(Column column, Seq& out) const {
    const Seq head{row.integer(column)};
    if (is_valid_head(head)) {
      out = head;
    } else {
      report(head_out_of_range(head), "");
    }
  }
  void read(Column column, TokenCount& out) const { out.value = row.integer(column); }
  void read(Column column, std::optional<Money>& out) const {
    if (!row.is_null(column)) {
      out = Money{row.integer(column)};
    }
  }
  void read(Column column, std::optional<Author>& out) const {
    if (row.is_null(column)) {
      return;
    }
    if (auto author = Author::parse(row.bytes(column)); author) {
      out = *std::move(author);
    } else {
      report("the author cannot be used", row.bytes(column));
    }
  }
  void read(Column column, Time& out) const { out = time_of(row.integer(column)); }
  void read(Column column, std::optional<Time>& out) const {
    if (!row.is_null(column)) {
      out = time_of(row.integer(column));
    }
  }
  void read(Column column, std::optional<ForkOrigin>& out) const {
    const std::string_view origin = row.bytes(column);
    if (origin.empty()) {
      return;
    }
    const Seq at{row.integer(model::kForkedAt)};
    if (auto parent = SessionId::parse(origin); parent && is_valid_head(at)) {
      out = ForkOrigin{*std::move(parent), at};
    } else if (parent) {
      report(position_out_of_range(at), origin);
    } else {
      report("the id it was forked from cannot be used", origin);
    }
  }
  void read(Column column, std::optional<Usage>& out) const {
    const std::string_view json = row.bytes(column);
    if (json.empty()) {
      return;
    }
    if (auto usage = usage_from_json(json); usage) {
      out = *std::move(usage);
    } else {
      report("the usage cannot be read", json);
    }
  }

  void read_answer(std::string_view column, SessionInfo& info) const {
    const std::string_view json = row.bytes(column);
    if (json.empty()) {
      return;
    }
    if (auto partial = answer_from_json(json); partial) {
      info.answering = std::move(partial->owner);
    } else {
      report("its running answer cannot be read", json);
    }
  }
};

// Reads those fields of a list that have a column and a read() in `reader`.
template <class Reader, class Owner, class... Fields>
void read_fields(const Reader& reader, const std::tuple<Fields...>& fields, Owner& owner) {
  const Column* column = reader.row.columns(fields).data();
  model::for_each(fields, [&](const auto& field) {
    if constexpr (requires { reader.read(*column, owner.*field.member); }) {
      if (*column != Column::none) {
        reader.read(*column, owner.*field.member);
        if constexpr (requires { reader.mend(owner.*field.member); }) {
          if (field.name != "working_dir") {  // a path
            reader.mend(owner.*field.member);
          }
        }
      }
    }
    ++column;
  });
}

// The usage sums of a session; the column of its cache-write tokens has a different name in each
// store.
template <class Row>
Usage read_sums(const Row& row, std::string_view cache_written) {
  Usage usage;
  std::optional<Damage> ignored;
  const ColumnReader<Row> reader{row, {}, nullptr, ignored};
  read_fields(reader, model::kUsageFields, usage);
  if (!cache_written.empty()) {
    usage.cache_written = TokenCount{row.integer(cache_written)};
  }
  return usage;
}

}  // namespace reprise::store
