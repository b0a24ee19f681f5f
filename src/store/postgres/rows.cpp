#include "store/postgres/rows.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encode.h"
#include "base/text.h"
#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/types.h"
#include "store/postgres/values.h"
#include "store/stored_json.h"

namespace reprise::postgres {
namespace {

constexpr std::size_t kKeyMax = 200;
constexpr std::string_view kHashed = "sha256:";

constexpr SessionState kStates[] = {SessionState::active, SessionState::closed,
                                    SessionState::archived, SessionState::trashed};

std::string excerpt_of(std::string_view bytes) {
  return std::string(bytes.substr(0, kExcerptMax));
}

}  // namespace

std::optional<std::int64_t> microseconds_of(const std::optional<Time>& time) {
  return time ? std::optional(microseconds_of(*time)) : std::nullopt;
}

Time time_of(std::int64_t microseconds) {
  return Time(std::chrono::microseconds(microseconds));
}

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

InfoRow read_info(const Rows& rows, int row, std::string_view place) {
  enum Column : std::uint8_t {
    session_id,
    title,
    mode,
    state,
    provider,
    model,
    working_dir,
    head,
    created_us,
    updated_us,
    closed_us,
    forked_from,
    forked_at,
    answer_start,
  };
  const std::string_view id = rows.bytes(row, session_id);
  const auto damaged = [&](std::string_view reason, std::string_view bytes) {
    return Damage{cat(place, ": session ", id), std::string(reason), excerpt_of(bytes)};
  };
  InfoRow out;
  auto parsed = SessionId::parse(id);
  if (!parsed) {
    out.damage = damaged("the id cannot be used", id);
    return out;
  }
  SessionInfo& info = out.info.emplace(SessionInfo{.id = *std::move(parsed)});
  info.title = rows.bytes(row, title);
  info.mode = rows.bytes(row, mode);
  info.state = state_of(rows.integer(row, state));
  info.provider = rows.bytes(row, provider);
  info.model = rows.bytes(row, model);
  info.working_dir = rows.bytes(row, working_dir);
  info.head = Seq{rows.integer(row, head)};
  info.created_at = time_of(rows.integer(row, created_us));
  info.updated_at = time_of(rows.integer(row, updated_us));
  if (!rows.is_null(row, closed_us)) {
    info.closed_at = time_of(rows.integer(row, closed_us));
  }
  if (!rows.is_null(row, forked_from)) {
    if (auto parent = SessionId::parse(rows.bytes(row, forked_from)); parent) {
      info.forked_from = ForkOrigin{*std::move(parent), Seq{rows.integer(row, forked_at)}};
    } else {
      out.damage =
          damaged("the id it was forked from cannot be used", rows.bytes(row, forked_from));
    }
  }
  if (!rows.is_null(row, answer_start)) {
    if (auto partial = store::answer_from_json(rows.bytes(row, answer_start)); partial) {
      info.answering = std::move(partial->owner);
    } else {
      out.damage = damaged("its running answer cannot be read", rows.bytes(row, answer_start));
    }
  }
  return out;
}

std::optional<std::string> detail_of(const Message& message) {
  Message rest;
  rest.provider = message.provider;
  rest.model = message.model;
  rest.response_id = message.response_id;
  rest.usage = message.usage;
  rest.state = message.state;
  rest.extra = message.extra;
  return rest == Message() ? std::nullopt : std::optional(message_to_json(rest));
}

MessageRow read_row(const Rows& rows, int row) {
  enum Column : std::uint8_t { seq, created_us, more, role, content, detail };
  MessageRow read{.seq = {rows.integer(row, seq)},
                  .more = rows.integer(row, more),
                  .created_at = time_of(rows.integer(row, created_us)),
                  .role = rows.bytes(row, role),
                  .content = rows.bytes(row, content),
                  .detail = std::nullopt};
  if (!rows.is_null(row, detail)) {
    read.detail = rows.bytes(row, detail);
  }
  return read;
}

bool read_message(const MessageRow& row, std::string_view place, Message& message,
                  std::optional<Damage>& damage) {
  const auto damaged = [&](std::string_view reason, std::string_view bytes) {
    return Damage{cat(place, " message ", row.seq.value), std::string(reason), excerpt_of(bytes)};
  };
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
