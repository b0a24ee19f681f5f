#include "store/sqlite/rows.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/error.h"
#include "reprise/json.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/types.h"
#include "store/sqlite/connection.h"
#include "store/stored_json.h"

namespace reprise::sqlite {

namespace {

constexpr std::int64_t kMicroseconds = 1'000'000;
constexpr std::int64_t kSecondsMin = -62'167'219'200;  // the year 0
constexpr std::int64_t kSecondsMax = 253'402'300'799;  // the end of 9999

// A date-time as it may be stored; nullopt for garbage.
std::optional<Time> stored_time(const Statement& row, int column) {
  return row.is_integer(column) ? time_of_seconds(row.integer(column))
                                : parse_time(row.bytes(column));
}

}  // namespace

Time time_of(std::int64_t microseconds) {
  return Time(std::chrono::microseconds(microseconds));
}

std::optional<Time> time_of_seconds(std::int64_t seconds) {
  if (seconds < kSecondsMin || seconds > kSecondsMax) {
    return std::nullopt;
  }
  return time_of(seconds * kMicroseconds);
}

std::string seconds_text(Time time) {
  std::string text = format_time(std::chrono::floor<std::chrono::seconds>(time));
  if (const auto t = text.find('T'); t != std::string::npos) {
    text[t] = ' ';
  }
  if (text.ends_with('Z')) {
    text.pop_back();
  }
  return text;
}

std::string row_place(std::string_view file, std::string_view table, std::int64_t row) {
  return cat(file, ": ", table, " row ", row);
}

std::string excerpt_of(std::string_view bytes) {
  return std::string(bytes.substr(0, kExcerptMax));
}

namespace {

constexpr std::string_view kIncomplete = "incomplete";
constexpr std::string_view kToolState = "tool";
constexpr std::string_view kIncompleteTool = "tool incomplete";

// Databases of earlier versions have the role `tool` itself.
void take_state(std::string_view state, Message& message) {
  if (state == kIncomplete || state == kIncompleteTool) {
    message.state = MessageState::incomplete;
  }
  if (state == kToolState || state == kIncompleteTool) {
    message.role = role::kTool;
  }
}

}  // namespace

std::string_view stored_role(const Message& message) {
  return message.role == role::kTool ? role::kUser : std::string_view(message.role);
}

std::optional<std::string_view> stored_state(const Message& message) {
  const bool is_tool = message.role == role::kTool;
  if (message.state == MessageState::incomplete) {
    return is_tool ? kIncompleteTool : kIncomplete;
  }
  return is_tool ? std::optional(kToolState) : std::nullopt;
}

InfoRow read_info(const Statement& row, std::string_view file) {
  enum Place : std::uint8_t {
    id,
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
    created_at,
    updated_at,
    rowid,
    answer,
  };
  const auto damaged = [&](std::string reason, std::string_view bytes) {
    return Damage{row_place(file, "sessions", row.integer(rowid)), std::move(reason),
                  excerpt_of(bytes)};
  };
  InfoRow out;
  auto session_id = SessionId::parse(row.bytes(id));
  if (!session_id) {
    out.damage = damaged("the id cannot be used", row.bytes(id));
    return out;
  }
  SessionInfo& info = out.info.emplace(SessionInfo{.id = *std::move(session_id)});
  row.text(title, info.title);
  row.text(mode, info.mode);
  info.state = parse_session_state(row.bytes(state)).value_or(SessionState::active);
  row.text(provider, info.provider);
  row.text(model, info.model);
  row.text(working_dir, info.working_dir);
  info.head = Seq{row.integer(head)};
  info.created_at = time_of(row.integer(created_us));
  info.updated_at = time_of(row.integer(updated_us));
  if (!row.is_null(closed_us)) {
    info.closed_at = time_of(row.integer(closed_us));
  }
  if (const std::string_view origin = row.bytes(forked_from); !origin.empty()) {
    if (auto parent = SessionId::parse(origin); parent) {
      info.forked_from = ForkOrigin{*std::move(parent), Seq{row.integer(forked_at)}};
    } else {
      out.damage = damaged("the id it was forked from cannot be used", origin);
    }
  }
  if (!row.is_null(answer)) {
    auto partial = store::answer_from_json(row.bytes(answer));
    if (partial) {
      info.answering = std::move(partial->owner);
    } else {
      out.damage = damaged("its running answer cannot be read", row.bytes(answer));
    }
  }
  // 0 stands for what was no time when the row was taken over.
  constexpr std::pair<int, int> kTimes[] = {{created_us, created_at}, {updated_us, updated_at}};
  for (const auto& [microseconds, text] : kTimes) {
    if (row.integer(microseconds) == 0 && !stored_time(row, text)) {
      out.damage = damaged("a date-time cannot be read", row.bytes(text));
    }
  }
  return out;
}

bool read_message(const Statement& row, std::string_view file, Message& message,
                  std::optional<Damage>& damage) {
  enum Place : std::uint8_t {
    id,
    seq,
    role,
    content,
    created_us,
    created_at,
    provider,
    model,
    response_id,
    usage,
    state,
    extra,
  };
  const auto damaged = [&](std::string reason, std::string_view bytes) {
    return Damage{row_place(file, "messages", row.integer(id)), std::move(reason),
                  excerpt_of(bytes)};
  };
  message.seq = Seq{row.integer(seq)};
  const std::string_view json = row.bytes(content);
  auto blocks = blocks_from_json(json);
  if (!blocks) {
    damage = damaged(std::move(blocks.error().message), json);
    return false;
  }
  row.text(role, message.role);
  message.blocks = *std::move(blocks);
  if (!row.is_null(created_us)) {
    message.created_at = time_of(row.integer(created_us));
  } else if (const auto time = stored_time(row, created_at); time) {
    message.created_at = *time;
  } else {
    damage = damaged("the date-time cannot be read", row.bytes(created_at));
  }
  const std::pair<int, std::string*> texts[] = {
      {provider, &message.provider},
      {model, &message.model},
      {response_id, &message.response_id},
  };
  for (const auto& [column, text] : texts) {
    if (!row.is_null(column)) {
      row.text(column, *text);
    }
  }
  if (!row.is_null(usage)) {
    if (auto read = usage_from_json(row.bytes(usage)); read) {
      message.usage = *std::move(read);
    } else {
      damage = damaged("the usage cannot be read", row.bytes(usage));
    }
  }
  if (!row.is_null(state)) {
    take_state(row.bytes(state), message);
  }
  if (!row.is_null(extra)) {
    message.extra = store::extra_from_json(row.bytes(extra));
  }
  return true;
}

}  // namespace reprise::sqlite
