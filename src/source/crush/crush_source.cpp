#include <algorithm>
#include <set>
#include <span>

#include "base/encode.h"
#include "base/file.h"
#include "base/text.h"
#include "base/utf8.h"
#include "source/database_copy.h"
#include "source/document_tool.h"
#include "source/kinds.h"
#include "source/tool_source.h"
#include "source/transcript.h"
#include "source/values.h"
#include "source/words.h"

namespace reprise::source::crush {
namespace {

constexpr std::string_view kCrush = "crush";

// How the prompt begins with which the program continues after a compaction.
constexpr std::string_view kContinuation =
    "The previous session was interrupted because it got too long, the initial user request was: `";

bool is_image(std::string_view type) {
  return type.starts_with("image/") || type == "application/pdf";
}

// An attached file.
void add_binary(JsonView part, std::vector<Block>& blocks) {
  const JsonView data = part["data"];
  const std::string type = data["MIMEType"].text();
  const auto text = type.starts_with("text/") ? base64_decode(data["Data"].text()) : std::nullopt;
  if (is_image(type)) {
    ImageBlock image = image_of(type, data["Data"].text());
    add_unknown_members(image.extra, kCrush, data, {"Data", "MIMEType"});
    blocks.emplace_back(std::move(image));
  } else if (text && utf8::is_valid(*text)) {
    blocks.emplace_back(TextBlock{*text, unknown_members("attachment", data, {"Data"})});
  } else {
    blocks.push_back(unknown_block(part));
  }
}

void add_tool_result(JsonView data, std::vector<Block>& blocks) {
  blocks.emplace_back(tool_result(
      data["tool_call_id"].text(), data["content"].text(), is_true(data["is_error"]),
      unknown_members(kCrush, data, {"tool_call_id", "content", "is_error", "data", "mime_type"})));
  const std::string type = data["mime_type"].text();
  if (const std::string bytes = data["data"].text(); is_image(type) && !bytes.empty()) {
    blocks.emplace_back(image_of(type, bytes));
  } else if (!bytes.empty()) {
    blocks.push_back(unknown_block(data));
  }
}

void add_part(std::string_view type, JsonView data, JsonView part, std::vector<Block>& blocks) {
  if (type == "text") {
    if (std::string text = data["text"].text(); !text.empty()) {
      blocks.emplace_back(TextBlock{std::move(text), unknown_members(kCrush, data, {"text"})});
    }
  } else if (type == "reasoning") {
    blocks.emplace_back(ThinkingBlock{data["thinking"].text(), data["signature"].text(),
                                      unknown_members(kCrush, data, {"thinking", "signature"})});
  } else if (type == "tool_call") {
    blocks.emplace_back(ToolUseBlock{data["id"].text(), data["name"].text(),
                                     json_in(data["input"].text()),
                                     unknown_members(kCrush, data, {"id", "name", "input"})});
  } else if (type == "tool_result") {
    add_tool_result(data, blocks);
  } else if (type == "image_url") {
    blocks.emplace_back(image_at("image/png", data["url"].text()));
  } else if (type == "binary") {
    add_binary(part, blocks);
  } else if (type == "shell_command") {
    // A command that the user ran.
    blocks.emplace_back(TextBlock{cat("$ ", data["command"].text(), "\n", data["output"].text()),
                                  unknown_members(kCrush, data, {"command", "output"})});
  } else {
    blocks.push_back(unknown_block(part));
  }
}

bool is_cut_by(std::string_view reason) {
  return reason == "canceled" || reason == "error" || reason == "max_tokens" || reason.empty();
}

// `parts` is an array of {type, data}.
Message message_of(std::string_view role, JsonView parts) {
  Message message{.role = std::string(role)};
  // A missing finish means that the program was killed during the answer.
  std::string reason;
  parts.each([&](JsonView part) {
    const auto [type_json, data] = part.members({"type", "data"});
    const std::string type = type_json.text();
    if (type == "finish") {
      reason = data["reason"].text();
      add_extra(message.extra, "crush_finish", raw_of(data));
    } else {
      add_part(type, data, part, message.blocks);
    }
  });
  if (role == role::kAssistant && is_cut_by(reason)) {
    message.state = MessageState::incomplete;
  }
  return message;
}

std::string question_of(std::string_view role, JsonView parts) {
  std::string text;
  if (role == role::kUser) {
    parts.each([&](JsonView part) {
      text = text.empty() && part["type"].text() == "text" ? part["data"]["text"].text() : text;
    });
  }
  return text;
}

bool is_injected_message(std::string_view role, JsonView parts, bool is_summary) {
  return is_summary || question_of(role, parts).starts_with(kContinuation);
}

}  // namespace
}  // namespace reprise::source::crush

namespace reprise::source {
namespace {

namespace fs = std::filesystem;
using Row = sqlite::Statement;

constexpr std::array<std::string_view, 2> kCrushTables = {"sessions", "messages"};
constexpr std::array<TableSignature, 2> kCrushMarks = {
    {{"sessions", "prompt_tokens"}, {"messages", "finished_at"}}};
constexpr std::string_view kTitlePrefix = "title-";
constexpr std::string_view kListOfProjects = "projects.json";
constexpr std::string_view kDataFolder = ".crush";  // in the project's

const std::initializer_list<std::string_view> kCrushSession = {"id",
                                                               "parent_session_id",
                                                               "title",
                                                               "message_count",
                                                               "prompt_tokens",
                                                               "completion_tokens",
                                                               "cost",
                                                               "updated_at",
                                                               "created_at",
                                                               "summary_message_id",
                                                               "todos"};

// The database of a project.
struct Project {
  DatabaseCopy database;
  std::string folder;
};

Session crush_session(const Row& row, const Project& project) {
  Session session{.info = {.id = session_id_of(row.text("id")), .state = SessionState::closed}};
  SessionInfo& info = session.info;
  info.title = title_by_tool(row.text("title"));
  info.working_dir = project.folder;
  info.created_at = time_column(row, "created_at");
  info.updated_at = time_column(row, "updated_at");
  // Only totals per session are stored.
  session.usage.input = {std::max<std::int64_t>(row.integer("prompt_tokens"), 0)};
  session.usage.output = {std::max<std::int64_t>(row.integer("completion_tokens"), 0)};
  session.usage.cost = Money::parse(row.text("cost"));
  session.usage.price_source = session.usage.cost ? "crush" : "";
  note_parent(session, row.text("parent_session_id"));
  add_extra(session.extra, "crush", row_json(row, {"parent_session_id", "summary_message_id"}));
  return session;
}

// The tool adds the cost of a sub-agent's session to that of the session that started it.
void subtract_children(Database& database, std::string_view id, OpenSession& open) {
  std::optional<Money>& cost = open.session.usage.cost;
  if (!cost || !database.has_column("sessions", "parent_session_id")) {
    return;
  }
  for_each_row(database.select("sessions", {"cost"}, "WHERE parent_session_id = ?", id), "sessions",
               open.report, [&](const Row& row) {
                 const Money part = Money::parse(row.text("cost")).value_or(Money{});
                 cost->nanos = std::max<std::int64_t>(cost->nanos - part.nanos, 0);
               });
}

std::vector<Todo> todos_of_row(const Row& row) {
  std::vector<Todo> todos;
  const std::string list = json_column(row, "todos");
  JsonView(list).each([&](JsonView todo) {
    const auto status = parse_todo_status(todo["status"].text());
    todos.push_back({todo["content"].text(),
                     status.value_or(TodoStatus::pending),
                     todo["active_form"].text(),
                     {}});
  });
  return todos;
}

Result<Message> crush_message(Database& database, std::int64_t key) {
  REPRISE_ASSIGN(Row row, database.select("messages",
                                          {"id", "role", "parts", "model", "provider", "created_at",
                                           "is_summary_message"},
                                          "WHERE rowid = ?", key));
  REPRISE_ASSIGN(const bool is_present, row.step());
  const std::string parts = is_present ? json_column(row, "parts") : "null";
  if (parts == "null") {
    return fail(Code::corrupt, "the message's parts are not JSON");
  }
  Message message = crush::message_of(row.text("role"), JsonView(parts));
  message.created_at = time_column(row, "created_at");
  const bool is_summary = row.integer("is_summary_message") != 0;
  if (is_summary) {
    mark_summary(message);
  }
  if (crush::is_injected_message(message.role, JsonView(parts), is_summary)) {
    mark_injected(message);
  } else if (message.role == role::kAssistant) {
    message.provider = row.text("provider");
    message.model = row.text("model");
  }
  return message;
}

void note_answerer(const Row& row, SessionInfo& info) {
  if (row.text("role") == role::kAssistant && !row.text("model").empty()) {
    info.model = row.text("model");
    info.provider = row.text("provider");
  }
}

void add_row(const Row& row, OpenSession& open) {
  const std::string parts = json_column(row, "parts");
  if (parts == "null") {
    return add_damage(open.report, {cat("messages row ", row.integer("row_number")), "not JSON",
                                    row.text("parts").substr(0, 1000)});
  }
  Node node{.at = row.integer("row_number")};
  node.is_message = true;
  node.is_injected = crush::is_injected_message(row.text("role"), JsonView(parts),
                                                row.integer("is_summary_message") != 0);
  open.tree.add(node, parts);
  SessionInfo& info = open.session.info;
  note_answerer(row, info);
  if (info.title.empty() && !node.is_injected) {
    info.title = title_of(crush::question_of(row.text("role"), JsonView(parts)));
  }
}

Project project_of(const fs::path& database) {
  const fs::path folder = database.parent_path();
  const bool is_inside = folder.filename() == kDataFolder;
  return {DatabaseCopy(database, kCrushTables),
          (is_inside ? folder.parent_path() : folder).native()};
}

// Parses projects.json: {"projects":[{"path":…,"data_dir":…}]}
Result<std::vector<Project>> listed_projects(const fs::path& file) {
  REPRISE_ASSIGN(const auto text, read_document(file));
  REPRISE_ASSIGN(const RawJson json, RawJson::parse(*text));
  std::vector<Project> projects;
  const JsonView root(json.text());
  (root.is(json::Kind::array) ? root : root["projects"]).each([&](JsonView project) {
    const std::string path = project["path"].text();
    const std::string data = project["data_dir"].text();
    const fs::path folder = fs::path(path) / (data.empty() ? std::string(kDataFolder) : data);
    const fs::path database = folder.lexically_normal() / "crush.db";
    // Projects in subfolders may have the same one.
    const bool is_known = std::ranges::any_of(
        projects, [&](const Project& known) { return known.database.file() == database; });
    if (!is_known) {
      projects.push_back(project_of(database));
      if (database.parent_path().filename() != kDataFolder) {
        projects.back().folder = path;
      }
    }
  });
  return projects;
}

class CrushTool final : public Tool {
 public:
  explicit CrushTool(Project project) { projects_.push_back(std::move(project)); }
  explicit CrushTool(fs::path list_of_projects) : list_of_projects_(std::move(list_of_projects)) {}

  // Takes over changes of the list.
  Result<> refresh_projects() {
    if (list_of_projects_.empty()) {
      return {};
    }
    REPRISE_ASSIGN(std::vector<Project> listed, listed_projects(list_of_projects_));
    std::erase_if(listed, [](const Project& project) {
      return !file_exists(project.database.file()).value_or(true);  // reading it reports the error
    });
    for (Project& project : listed) {
      const auto is_same = [&](const Project& known) {
        return known.database.file() == project.database.file();
      };
      const auto known = std::ranges::find_if(projects_, is_same);
      if (known != projects_.end()) {
        project = std::move(*known);
      }
    }
    projects_ = std::move(listed);
    return {};
  }

  Result<std::vector<Listed>> list(ReadReport& report) override {
    REPRISE_TRY(refresh_projects());
    std::vector<Listed> sessions;
    std::set<SessionId> ids;
    for (Project& project : projects_) {
      const auto database = project.database.refresh();
      if (!database) {
        if (projects_.size() == 1) {
          return std::unexpected(database.error());
        }
        add_damage(report, {project.database.file().native(), database.error().message, ""});
        continue;
      }
      std::map<std::string, std::int64_t> counts =
          count_rows(*(*database), "messages", "session_id", report);
      const std::map<std::string, SessionInfo> known = answerers_in(*(*database), report);
      const std::size_t before = sessions.size();
      for_each_row(
          (*database)->select("sessions", kCrushSession, ""), "sessions", report, [&](Row& row) {
            SessionInfo info = crush_session(row, project).info;
            info.head = Seq{counts[row.text("id")]};
            if (const auto spoken = known.find(row.text("id")); spoken != known.end()) {
              const SessionInfo& found = spoken->second;
              info.provider = found.provider;
              info.model = found.model;
            }
            // Sessions that only generate titles are internal.
            if (!row.text("id").starts_with(kTitlePrefix) && ids.insert(info.id).second) {
              sessions.push_back({std::move(info), !row.text("parent_session_id").empty()});
            }
          });
      for (Listed& listed : std::span(sessions).subspan(before)) {
        if (listed.info.title.empty()) {
          const auto open = open_in(project, *database, listed.info.id);
          listed.info.title = open ? open->session.info.title : "";
        }
      }
    }
    return sessions;
  }

  Result<std::shared_ptr<const OpenSession>> open(const SessionId& id) override {
    Result<> read;
    for (Project& project : projects_) {
      const auto database = project.database.current();
      if (!database) {
        read = std::unexpected(database.error());
        continue;
      }
      if (auto open = open_in(project, *database, id)) {
        return open;
      }
    }
    REPRISE_TRY(read);
    return nullptr;
  }

  std::string state_of(const SessionId& /*id*/) override {
    std::string state;
    for (Project& project : projects_) {
      state += project.database.state();
    }
    return state;
  }

 private:
  // Who answered last in each session, which only its messages say.
  static std::map<std::string, SessionInfo> answerers_in(Database& database, ReadReport& report) {
    std::map<std::string, SessionInfo> known;
    for_each_row(
        database.select("messages", {"session_id", "role", "model", "provider"},
                        database.has_column("messages", "created_at") ? "ORDER BY created_at, rowid"
                                                                      : "ORDER BY rowid"),
        "messages", report, [&](const Row& row) {
          const std::string id = row.text("session_id");
          note_answerer(row,
                        known.try_emplace(id, SessionInfo{.id = session_id_of(id)}).first->second);
        });
    return known;
  }

  static std::shared_ptr<const OpenSession> open_in(const Project& project,
                                                    const std::shared_ptr<Database>& database,
                                                    const SessionId& id) {
    std::shared_ptr<OpenSession> open;
    std::string key;
    ReadReport report;
    for_session_row(*database, {"sessions", kCrushSession}, id, report, [&](Row& row) {
      key = row.text("id");
      open = std::make_shared<OpenSession>(
          OpenSession{.session = crush_session(row, project),
                      .is_child = !row.text("parent_session_id").empty()});
      open->todos = todos_of_row(row);
    });
    if (!open) {
      return nullptr;
    }
    open->report = std::move(report);
    subtract_children(*database, key, *open);
    for_each_row(
        database->select("messages", {"role", "parts", "model", "provider", "is_summary_message"},
                         database->has_column("messages", "created_at")
                             ? "WHERE session_id = ? ORDER BY created_at, rowid"
                             : "WHERE session_id = ? ORDER BY rowid",
                         std::string_view(key)),
        cat("session ", key), open->report, [&](Row& row) { add_row(row, *open); });
    count_messages(*open);
    open->message = [database](std::span<const Node> nodes) {
      return crush_message(*database, nodes.front().at);
    };
    complete_title(*open);
    return open;
  }

  fs::path list_of_projects_ = {};
  std::vector<Project> projects_;
};

// The database at a location; nullopt if there is none.
Result<std::optional<fs::path>> crush_database(const fs::path& location) {
  REPRISE_ASSIGN(const bool has_folder, is_folder(location));
  if (!has_folder) {
    return location;
  }
  for (const fs::path& file : {location / "crush.db", location / kDataFolder / "crush.db"}) {
    REPRISE_ASSIGN(const bool has_file, file_exists(file));
    if (has_file) {
      return file;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<bool> is_crush(const fs::path& location) {
  REPRISE_ASSIGN(const auto database, crush_database(location));
  return database ? is_database_with(*database, kCrushMarks)
                  : file_exists(location / kListOfProjects);
}

Result<std::unique_ptr<Source>> open_crush(const fs::path& location,
                                           const StoreOptions& /*options*/) {
  REPRISE_TRY(check_exists(location));
  REPRISE_ASSIGN(const auto database, crush_database(location));
  if (database) {
    return make_tool_source(std::make_unique<CrushTool>(project_of(*database)));
  }
  REPRISE_ASSIGN(const bool has_list, file_exists(location / kListOfProjects));
  if (!has_list) {
    return fail(Code::not_found, cat("no history of crush at ", location.native()));
  }
  auto tool = std::make_unique<CrushTool>(location / kListOfProjects);
  REPRISE_TRY(tool->refresh_projects());
  return make_tool_source(std::move(tool));
}

std::vector<fs::path> crush_databases(const fs::path& location) {
  std::vector<fs::path> files;
  for (const Project& project :
       listed_projects(location / kListOfProjects).value_or(std::vector<Project>())) {
    files.push_back(project.database.file());
  }
  return files;
}

}  // namespace reprise::source
