#pragma once

// Fields out of a database's row by their types. `Row` has is_null(), integer(), bytes() and
// text(column, out), all by a column's name.

#include "model/fields.h"
#include "reprise/store.h"
#include "store/stored_json.h"

namespace reprise::store {

// A damaged part is quoted no longer.
inline constexpr std::size_t kExcerptMax = 10'000;
inline std::string excerpt_of(std::string_view bytes) {
  return std::string(bytes.substr(0, kExcerptMax));
}

inline Time time_of(std::int64_t microseconds) {
  return Time(std::chrono::microseconds(microseconds));
}

template <class Row>
struct ColumnReader {
  const Row& row;
  std::string place;
  std::optional<Damage>& damage;  // what is no good of the row

  void report(std::string reason, std::string_view bytes) const {
    damage = Damage{place, std::move(reason), excerpt_of(bytes)};
  }

  void read(std::string_view column, std::string& out) const {
    if (!row.is_null(column)) {
      row.text(column, out);
    }
  }
  void read(std::string_view column, bool& out) const { out = row.integer(column) != 0; }
  void read(std::string_view column, Seq& out) const { out = Seq{row.integer(column)}; }
  void read(std::string_view column, TokenCount& out) const { out.value = row.integer(column); }
  void read(std::string_view column, std::optional<Money>& out) const {
    if (!row.is_null(column)) {
      out = Money{row.integer(column)};
    }
  }
  void read(std::string_view column, Time& out) const { out = time_of(row.integer(column)); }
  void read(std::string_view column, std::optional<Time>& out) const {
    if (!row.is_null(column)) {
      out = time_of(row.integer(column));
    }
  }
  void read(std::string_view column, std::optional<ForkOrigin>& out) const {
    const std::string_view origin = row.bytes(column);
    if (origin.empty()) {
      return;
    }
    if (auto parent = SessionId::parse(origin); parent) {
      out = ForkOrigin{*std::move(parent), Seq{row.integer(model::kForkedAt)}};
    } else {
      report("the id it was forked from cannot be used", origin);
    }
  }
  void read(std::string_view column, std::optional<Usage>& out) const {
    if (row.is_null(column)) {
      return;
    }
    if (auto usage = usage_from_json(row.bytes(column)); usage) {
      out = *std::move(usage);
    } else {
      report("the usage cannot be read", row.bytes(column));
    }
  }

  void read_answer(std::string_view column, SessionInfo& info) const {
    if (row.is_null(column)) {
      return;
    }
    if (auto partial = answer_from_json(row.bytes(column)); partial) {
      info.answering = std::move(partial->owner);
    } else {
      report("its running answer cannot be read", row.bytes(column));
    }
  }
};

// The sums of a session, whose tokens written to a cache stand elsewhere.
template <class Row>
Usage read_sums(const Row& row, std::string_view cache_written) {
  Usage usage;
  std::optional<Damage> none;
  const ColumnReader<Row> reader{row, "", none};
  model::for_each(model::kUsageFields, [&](const auto& field) {
    if (!field.column.empty()) {
      reader.read(field.column, usage.*field.member);
    }
  });
  if (!cache_written.empty()) {
    reader.read(cache_written, usage.cache_written);
  }
  return usage;
}

}  // namespace reprise::store
