#include "store/sqlite/rows.h"

#include <initializer_list>

#include "base/text.h"
#include "model/fields.h"
#include "model/known_time.h"
#include "reprise/capabilities.h"
#include "store/rules.h"
#include "store/sqlite/connection.h"
#include "store/stored_json.h"

namespace reprise::sqlite {

namespace {

constexpr std::int64_t kMicroseconds = 1'000'000;
constexpr std::int64_t kSecondsMin = -62'167'219'200;  // the year 0
constexpr std::int64_t kSecondsMax = 253'402'300'799;  // the end of 9999

// A stored date-time in any of its formats; nullopt for garbage.
std::optional<Time> stored_time(const Statement& row, std::string_view column) {
  return row.is_integer(column) ? time_of_seconds(row.integer(column))
                                : parse_time(row.bytes(column));
}

}  // namespace

std::optional<Time> time_of_seconds(std::int64_t seconds) {
  if (seconds < kSecondsMin || seconds > kSecondsMax) {
    return std::nullopt;
  }
  return time_of(seconds * kMicroseconds);
}

std::int64_t tokens_of(const Usage& usage) {
  return (usage.input + usage.output).value;
}

std::string seconds_text(std::initializer_list<Time> times) {
  std::string text = format_time(std::chrono::floor<std::chrono::seconds>(known_time(times)));
  if (const auto t = text.find('T'); t != std::string::npos) {
    text[t] = ' ';
  }
  if (text.ends_with('Z')) {
    text.pop_back();
  }
  return text;
}

std::string row_location(std::string_view file, std::string_view table, std::int64_t row) {
  return cat(file, ": ", table, " row ", row);
}

namespace {

constexpr std::string_view kIncomplete = "incomplete";
constexpr std::string_view kToolState = "tool";
constexpr std::string_view kIncompleteTool = "tool incomplete";

// Rows of other programs may have the role `tool` itself.
void apply_state(std::string_view state, Message& message) {
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

const std::string& info_select() {
  static const std::string select = [] {
    std::string columns =
        "s.id AS id, s.rowid AS row, s.created_at AS created_at, s.updated_at AS updated_at,"
        " s.forked_at AS forked_at, a.body AS answer";
    model::for_each(model::kInfoFields, [&columns](const auto& field) {
      columns += cat(", s.", field.column, " AS ", field.column);
    });
    return columns;
  }();
  return select;
}

std::string usage_columns(std::string_view after) {
  std::string columns;
  model::for_each(model::kUsageFields, [&](const auto& field) {
    if (!field.column.empty()) {
      columns += cat(columns.empty() ? "" : ", ", field.column, after);
    }
  });
  return columns;
}

const std::string& message_select() {
  static const std::string select = [] {
    std::string columns = "id";
    model::for_each(model::kMessageFields,
                    [&columns](const auto& field) { columns += cat(", ", field.column); });
    return columns + ", created_at, extra";
  }();
  return select;
}

namespace {

std::string session_location(const Statement& row, std::string_view file) {
  return row_location(file, "sessions", row.integer("row"));
}
std::string message_location(const Statement& row, std::string_view file) {
  return row_location(file, "messages", row.integer("id"));
}

struct SessionReader : store::ColumnReader<Statement> {
  using store::ColumnReader<Statement>::read;
  void read(store::Column column, SessionState& out) const {
    out = parse_session_state(row.bytes(column)).value_or(SessionState::active);
  }
};

}  // namespace

InfoRow read_info(const Statement& row, std::string_view file) {
  InfoRow out;
  const SessionReader reader{{row, file, session_location, out.damage}};
  auto session_id = SessionId::parse(row.bytes("id"));
  if (!session_id) {
    reader.report("the id cannot be used", row.bytes("id"));
    return out;
  }
  SessionInfo& info = out.info.emplace(SessionInfo{.id = *std::move(session_id)});
  store::read_fields(reader, model::kInfoFields, info);
  exchange_activity(info);
  reader.read_answer("answer", info);
  // 0 stands for a time that was invalid when the row was migrated.
  for (const auto& [time, text] :
       {std::pair(info.created_at, "created_at"), std::pair(info.updated_at, "updated_at")}) {
    if (time == Time{} && !stored_time(row, text)) {
      reader.report("a date-time cannot be read", row.bytes(text));
    }
  }
  return out;
}

void bind_usage(Statement& statement, const Usage& usage) {
  struct Binder {
    Statement& statement;
    void bind(TokenCount count) const { statement.bind(count.value); }
    void bind(const std::optional<Money>& money) const {
      statement.bind(money ? std::optional(money->nanos) : std::nullopt);
    }
    void bind(const std::string& text) const { statement.bind(text); }
  };
  model::for_each(model::kUsageFields, [&](const auto& field) {
    if (!field.column.empty()) {
      Binder{statement}.bind(usage.*field.member);
    }
  });
}

namespace {

struct MessageReader : store::ColumnReader<Statement> {
  Message& message;
  bool& is_readable;  // has a position and blocks

  using store::ColumnReader<Statement>::read;
  void read(store::Column column, Seq& out) const {
    out = Seq{row.integer(column)};
    if (!store::is_valid_position(out)) {
      is_readable = false;
      report(store::position_out_of_range(out), "");
    }
  }
  void read(store::Column column, MessageState& /*out*/) const {
    apply_state(row.bytes(column), message);  // after the role, which it may change
  }
  void read(store::Column column, std::vector<Block>& out) const {
    const std::string_view json = row.bytes(column);
    auto blocks = blocks_from_json(json);
    if (blocks) {
      out = *std::move(blocks);
    } else {
      is_readable = false;
      report(std::move(blocks.error().message), json);
    }
  }
};

}  // namespace

bool read_message(const Statement& row, std::string_view file, Message& message,
                  std::optional<Damage>& damage) {
  bool is_readable = true;
  const MessageReader reader{{row, file, message_location, damage}, message, is_readable};
  store::read_fields(reader, model::kMessageFields, message);
  if (!is_readable) {
    return false;
  }
  if (message.created_at == Time{} && row.is_null("created_us")) {
    if (const auto time = stored_time(row, "created_at"); time) {
      message.created_at = *time;
    } else {
      reader.report("the date-time cannot be read", row.bytes("created_at"));
    }
  }
  if (const std::string_view extra = row.bytes("extra"); !extra.empty()) {
    message.extra = store::extra_from_json(extra);
  }
  return true;
}

}  // namespace reprise::sqlite
