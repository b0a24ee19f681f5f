#include "store/postgres/rows.h"

#include <algorithm>
#include <initializer_list>

#include "base/encode.h"
#include "base/text.h"
#include "model/fields.h"
#include "model/known_time.h"
#include "reprise/session.h"
#include "reprise/source.h"
#include "store/column_names.h"
#include "store/column_reader.h"
#include "store/postgres/statements.h"
#include "store/postgres/values.h"
#include "store/rules.h"

namespace reprise::postgres {
namespace {

constexpr std::size_t kKeyMax = 200;
constexpr std::string_view kHashed = "sha256:";

constexpr SessionState kStates[] = {SessionState::active, SessionState::closed,
                                    SessionState::archived, SessionState::trashed};

std::string session_location(const RowView& row, std::string_view location) {
  return cat(location, ": session ", row.bytes("session_id"));
}

struct SessionReader : store::ColumnReader<RowView> {
  using store::ColumnReader<RowView>::read;
  void read(store::Column column, SessionState& out) const { out = state_of(row.integer(column)); }
};

// Collects the columns of a statement and their parameters.
struct Assignments {
  std::size_t next;  // the next parameter
  std::string columns = {};
  std::string placeholders = {};
  std::string set = {};

  void add_column(std::string_view column, std::string_view type) {
    const std::string placeholder = cat("$", next++, "::", type);
    columns += cat(", ", column);
    placeholders += cat(", ", placeholder);
    set += cat(", ", column, " = ", placeholder);
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

SessionStatements make_statements() {
  const Assignments new_head = assignments(Part::head, Change::creation, 8);
  const Assignments new_row = assignments(Part::row, Change::creation, 4);
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
                             new_head.placeholders, ")"),
          .insert_row =
              cat("INSERT INTO reprise_sessions(tenant, session_id, title_lower", new_row.columns,
                  ") VALUES($1::text, $2::text, $3::bytea", new_row.placeholders, ")"),
          .update_head = cat("UPDATE reprise_heads SET folder = $3::bytea,"
                             " title_start = $4::bytea, mode_key = $5::bytea",
                             assignments(Part::head, Change::update, 6).set, kSession),
          .update_row = cat("UPDATE reprise_sessions SET title_lower = $3::bytea",
                            assignments(Part::row, Change::update, 4).set, kSession),
          .find = cat("SELECT ", info_columns(), sums,
                      ", coalesce(o.first_seq, 0) AS cache_written", joined,
                      " LEFT JOIN reprise_once AS o ON o.tenant = h.tenant"
                      " AND o.session_id = h.session_id AND o.name = 'sum:cache_written'::bytea"
                      " WHERE h.tenant = $1::text AND h.session_id = $2::text"),
          .verify = cat("SELECT ", info_columns(), joined,
                        " WHERE h.tenant = $1::text AND h.session_id > $2::text"
                        " AND h.session_id <= $3::text")};
}

// The columns of the given parts.
std::string columns_of(std::initializer_list<Part> parts) {
  std::string columns = "h.session_id, h.answer_start";
  model::for_each(model::kInfoFields,
                  [&]<class Value>(const model::Field<SessionInfo, Value>& field) {
                    const Part part = part_of(field);
                    if (std::ranges::find(parts, part) != parts.end()) {
                      columns += cat(part == Part::head ? ", h." : ", s.", field.column);
                    }
                  });
  return columns;
}

}  // namespace

std::int64_t state_number(SessionState state) {
  return std::ranges::find(kStates, state) - std::begin(kStates);
}

SessionState state_of(std::int64_t number) {
  const bool is_known = number >= 0 && number < static_cast<std::int64_t>(std::size(kStates));
  return is_known ? kStates[number] : SessionState::active;
}

std::vector<std::string> pieces_of(std::string_view bytes) {
  std::vector<std::string> pieces;
  std::size_t at = 0;
  do {
    pieces.emplace_back(bytes.substr(at, kPieceMax));
    at += kPieceMax;
  } while (at < bytes.size());
  return pieces;
}

Result<std::string> index_key(std::string_view text) {
  if (text.size() <= kKeyMax && !text.starts_with(kHashed)) {
    return std::string(text);
  }
  REPRISE_ASSIGN(const BlobHash hash, sha256(text));
  return cat(kHashed, hash.str());
}

InfoRow read_info(const RowView& row, std::string_view location) {
  InfoRow out;
  const std::string_view id = row.bytes("session_id");
  const SessionReader reader{{row, location, session_location, out.damage}};
  auto parsed = SessionId::parse(id);
  if (!parsed) {
    reader.report("the id cannot be used", id);
    return out;
  }
  SessionInfo& info = out.info.emplace(SessionInfo{.id = *std::move(parsed)});
  reader.read_answer("answer_start", info);
  store::read_fields(reader, model::kInfoFields, info);
  exchange_activity(info);
  return out;
}

std::optional<std::string> detail_of(const Message& message) {
  Message detail;
  detail.extra = message.extra;
  model::for_each(model::kMessageFields, [&](const auto& field) {
    const auto columns = {"seq", "role", "created_at", "blocks"};
    if (std::ranges::find(columns, field.name) == columns.end()) {
      detail.*field.member = message.*field.member;
    }
  });
  return detail == Message() ? std::nullopt : std::optional(message_to_json(detail));
}

MessageRow read_row(const RowView& row) {
  MessageRow read{.seq = {row.integer("seq")},
                  .more = row.integer("more"),
                  .created_at = time_of(row.integer("created_us")),
                  .role = row.bytes("role"),
                  .content = row.bytes("content"),
                  .detail = std::nullopt};
  if (!row.is_null("detail")) {
    read.detail = row.bytes("detail");
  }
  return read;
}

std::string joined(const Rows& rows) {
  std::string bytes;
  for (int row = 0; row < rows.count(); ++row) {
    bytes += rows.bytes(row, "bytes");
  }
  return bytes;
}

bool join_parts(MessageRow& row, const Rows& parts, std::string& content) {
  content = cat(row.content, joined(parts));
  row.content = content;
  return parts.count() == row.more;
}

bool read_message(const MessageRow& row, std::string_view location, Message& message,
                  std::optional<Damage>& damage) {
  const auto damaged = [&](std::string_view reason, std::string_view bytes) {
    return Damage{cat(location, " message ", row.seq.value), std::string(reason),
                  store::excerpt_of(bytes)};
  };
  if (!store::is_valid_position(row.seq)) {
    damage = damaged(store::position_out_of_range(row.seq), row.content);
    return false;
  }
  auto blocks = blocks_from_json(row.content);
  if (!blocks) {
    damage = damaged(blocks.error().message, row.content);
    return false;
  }
  if (row.detail) {
    if (auto detail = message_from_json(*row.detail); detail) {
      message = *std::move(detail);
    } else {
      damage = damaged(detail.error().message, *row.detail);
    }
  }
  message.seq = row.seq;
  message.role = row.role;
  message.blocks = *std::move(blocks);
  message.created_at = row.created_at;
  return true;
}

const SessionStatements& session_statements() {
  static const SessionStatements all = make_statements();
  return all;
}

const std::string& info_columns() {
  static const std::string columns =
      cat(columns_of({Part::head, Part::row}), ", s.", model::kForkedAt);
  return columns;
}

const std::string& head_columns() {
  static const std::string columns = columns_of({Part::head});
  return columns;
}

}  // namespace reprise::postgres
