#include "store/postgres/rows.h"

#include <algorithm>

#include "base/encode.h"
#include "base/text.h"
#include "model/fields.h"
#include "reprise/store.h"
#include "store/postgres/values.h"
#include "store/rules.h"

namespace reprise::postgres {
namespace {

constexpr std::size_t kKeyMax = 200;
constexpr std::string_view kHashed = "sha256:";

constexpr SessionState kStates[] = {SessionState::active, SessionState::closed,
                                    SessionState::archived, SessionState::trashed};

std::string session_place(const RowView& row, std::string_view place) {
  return cat(place, ": session ", row.bytes("session_id"));
}

struct SessionReader : store::ColumnReader<RowView> {
  using store::ColumnReader<RowView>::read;
  void read(store::Column column, SessionState& out) const { out = state_of(row.integer(column)); }
};

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

InfoRow read_info(const RowView& row, std::string_view place) {
  InfoRow out;
  const std::string_view id = row.bytes("session_id");
  const SessionReader reader{{row, place, session_place, out.damage}};
  auto parsed = SessionId::parse(id);
  if (!parsed) {
    reader.report("the id cannot be used", id);
    return out;
  }
  SessionInfo& info = out.info.emplace(SessionInfo{.id = *std::move(parsed)});
  reader.read_answer("answer_start", info);
  store::read_fields(reader, model::kInfoFields, info);
  return out;
}

std::optional<std::string> detail_of(const Message& message) {
  Message detail;
  detail.extra = message.extra;
  model::for_each(model::kMessageFields, [&](const auto& field) {
    const auto own = {"seq", "role", "created_at", "blocks"};  // columns of the row itself
    if (std::ranges::find(own, field.name) == own.end()) {
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

bool read_message(const MessageRow& row, std::string_view place, Message& message,
                  std::optional<Damage>& damage) {
  const auto damaged = [&](std::string_view reason, std::string_view bytes) {
    return Damage{cat(place, " message ", row.seq.value), std::string(reason),
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

}  // namespace reprise::postgres
