
#include <array>

#include "base/text.h"
#include "source/database_copy.h"
#include "source/opencode/opencode_storage.h"
#include "source/transcript.h"
#include "source/words.h"

namespace reprise::source::opencode {
namespace {

namespace fs = std::filesystem;

// Accounts, credentials and the event log are not read.
constexpr std::array<std::string_view, 4> kTables = {"session", "message", "part", "todo"};
constexpr std::array<TableSignature, 3> kMarks = {
    {{"session", "directory"}, {"message", "data"}, {"part", "message_id"}}};

const std::initializer_list<std::string_view> kSessionColumns = {
    "id",           "project_id",   "parent_id",     "slug",         "directory", "path",
    "title",        "version",      "share_url",     "revert",       "agent",     "model",
    "time_created", "time_updated", "time_archived", "workspace_id", "metadata"};

// The message of a row with its parts, as far as they are objects.
std::optional<RawMessage> read_message(Database& database, const sqlite::Statement& row,
                                       ReadReport& report) {
  RawMessage message{row.text("id"), row.text("data"), {}};
  if (!is_json_object(message.json)) {
    add_damage(report, {cat("message ", message.id), "not a JSON object", message.json});
    return std::nullopt;
  }
  for_each_row(database.select("part", {"id", "data"}, "WHERE message_id = ? ORDER BY id",
                               std::string_view(message.id)),
               cat("parts of message ", message.id), report, [&](sqlite::Statement& part) {
                 RawPart raw{part.text("id"), part.text("data")};
                 if (is_json_object(raw.json)) {
                   message.parts.push_back(std::move(raw));
                 } else {
                   add_damage(report, {cat("part ", raw.id), "not a JSON object", raw.json});
                 }
               });
  return message;
}

Result<RawMessage> load_message(Database& database, std::int64_t key) {
  REPRISE_ASSIGN(auto row, database.select("message", {"id", "data"}, "WHERE rowid = ?", key));
  REPRISE_ASSIGN(const bool is_present, row.step());
  ReadReport ignored;  // damage was reported when the session was opened
  auto message = is_present ? read_message(database, row, ignored) : std::nullopt;
  if (!message) {
    return fail(Code::corrupt, "the message can no longer be read");
  }
  return *std::move(message);
}

class DatabaseStorage final : public Storage {
 public:
  explicit DatabaseStorage(fs::path file) : copy_(std::move(file), kTables) {}

  Result<std::vector<StoredSession>> sessions(ReadReport& report) override {
    REPRISE_ASSIGN(const auto database, copy_.refresh());
    std::vector<StoredSession> sessions;
    if (!database->has_table("session")) {
      return sessions;  // just created, or another tool's
    }
    std::map<std::string, std::int64_t> counts =
        count_rows(*database, "message", "session_id", report);
    for_each_row(database->select("session", kSessionColumns, ""), copy_.file().native(), report,
                 [&](sqlite::Statement& row) {
                   sessions.push_back(session_of_row(row));
                   SessionInfo& info = sessions.back().session.info;
                   info.head = Seq{counts[sessions.back().id]};
                   info.is_head_known = false;
                   note_last_answer(*database, sessions.back().id, info);
                 });
    return sessions;
  }

  Result<std::optional<StoredSession>> find(const SessionId& id) override {
    REPRISE_ASSIGN(const auto database, copy_.current());
    std::optional<StoredSession> found;
    ReadReport report;
    if (database->has_table("session")) {
      for_session_row(*database, {"session", kSessionColumns}, id, report,
                      [&](sqlite::Statement& row) { found = session_of_row(row); });
    }
    if (!found && !report.damage.empty()) {
      return fail(Code::corrupt, cat(copy_.file().native(), ": ", report.damage[0].reason));
    }
    return found;
  }

  Result<std::vector<Todo>> todos(const std::string& session) override {
    std::vector<Todo> todos;
    ReadReport report;
    REPRISE_ASSIGN(const auto database, copy_.current());
    if (!database->has_column("todo", "position")) {
      return todos;
    }
    for_each_row(
        database->select("todo", {"content", "status"}, "WHERE session_id = ? ORDER BY position",
                         std::string_view(session)),
        "todos", report, [&](sqlite::Statement& row) {
          const auto status = parse_todo_status(row.text("status"));
          todos.push_back({row.text("content"), status.value_or(TodoStatus::pending), "", {}});
        });
    return report.damage.empty()
               ? Result<std::vector<Todo>>(std::move(todos))
               : fail(Code::corrupt, cat(report.damage[0].where, ": ", report.damage[0].reason));
  }

  Result<MessageLoader> each_message(
      const std::string& session, ReadReport& report,
      const std::function<void(const RawMessage&, std::int64_t key)>& each) override {
    REPRISE_ASSIGN(const auto database, copy_.current());
    const bool has_time = database->has_column("message", "time_created");
    for_each_row(database->select("message", {"id", "data"},
                                  has_time ? "WHERE session_id = ? ORDER BY time_created, id"
                                           : "WHERE session_id = ? ORDER BY id",
                                  std::string_view(session)),
                 cat("session ", session), report, [&](sqlite::Statement& row) {
                   if (const auto message = read_message(*database, row, report)) {
                     each(*message, row.integer("row_number"));
                   }
                 });
    return MessageLoader([database](std::int64_t key) { return load_message(*database, key); });
  }

  std::string state() override { return copy_.state(); }

 private:
  // Older versions name the model only in the messages.
  static void note_last_answer(Database& database, std::string_view id, SessionInfo& info) {
    if (!info.model.empty()) {
      return;
    }
    ReadReport ignored;  // damage is reported when they are read
    for_each_row(database.select("message", {"data"},
                                 database.has_column("message", "time_created")
                                     ? "WHERE session_id = ? ORDER BY time_created, id"
                                     : "WHERE session_id = ? ORDER BY id",
                                 id),
                 "message", ignored, [&](sqlite::Statement& row) {
                   const std::string json = json_column(row, "data");
                   note_answer(JsonView(json), info);
                 });
  }

  static StoredSession session_of_row(const sqlite::Statement& row) {
    StoredSession stored{
        Session{.info = {.id = session_id_of(row.text("id")), .state = SessionState::closed}},
        row.text("id"), !row.text("parent_id").empty()};
    SessionInfo& info = stored.session.info;
    info.title = title_by_tool(row.text("title"));
    info.working_dir = row.text("directory");
    info.created_at = time_column(row, "time_created");
    info.updated_at = time_column(row, "time_updated");
    if (!row.text("time_archived").empty()) {
      info.state = SessionState::archived;
    }
    const std::string model = json_column(row, "model");
    info.model = JsonView(model)["id"].text();
    info.provider = JsonView(model)["providerID"].text();
    const std::string revert = json_column(row, "revert");
    stored.reverted_from = JsonView(revert)["messageID"].text();
    stored.reverted_part = JsonView(revert)["partID"].text();
    note_parent(stored.session, row.text("parent_id"));
    add_extra(stored.session.extra, "opencode",
              row_json(row, {"project_id", "workspace_id", "parent_id", "slug", "path", "version",
                             "share_url", "revert", "agent", "model", "metadata"}));
    return stored;
  }

  DatabaseCopy copy_;
};

}  // namespace

std::unique_ptr<Storage> open_database_storage(const fs::path& file) {
  return std::make_unique<DatabaseStorage>(file);
}

Result<bool> is_opencode_database(const fs::path& file) {
  return is_database_with(file, kMarks);
}

}  // namespace reprise::source::opencode
