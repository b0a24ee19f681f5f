
#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "source/database_copy.h"
#include "source/goose/goose.h"
#include "source/kinds.h"
#include "source/transcript.h"
#include "store/usage_sum.h"

namespace reprise::source {
namespace {

namespace fs = std::filesystem;
using Row = sqlite::Statement;

constexpr std::array<std::string_view, 3> kGooseTables = {"sessions", "messages", "usage_ledger"};
constexpr std::array<TableSignature, 2> kGooseMarks = {
    {{"sessions", "working_dir"}, {"messages", "content_json"}}};

constexpr std::string_view kInternal = "hidden";  // a type of sessions

const std::initializer_list<std::string_view> kGooseSession = {"id",
                                                               "name",
                                                               "description",
                                                               "user_set_name",
                                                               "session_type",
                                                               "working_dir",
                                                               "created_at",
                                                               "updated_at",
                                                               "extension_data",
                                                               "schedule_id",
                                                               "recipe_json",
                                                               "provider_name",
                                                               "goose_mode",
                                                               "model_config_json",
                                                               "archived_at",
                                                               "project_id",
                                                               "parent_session_id",
                                                               "accumulated_input_tokens",
                                                               "accumulated_output_tokens",
                                                               "accumulated_cache_read_tokens",
                                                               "accumulated_cache_write_tokens",
                                                               "accumulated_cost"};

struct GooseSession {
  Session session;
  bool is_child = false;
};

GooseSession goose_session(const Row& row) {
  GooseSession stored{
      Session{.info = {.id = session_id_of(row.text("id")), .state = SessionState::closed}},
      row.text("session_type") == "sub_agent"};
  SessionInfo& info = stored.session.info;
  info.title = goose::title_of_session(row.text("name"), row.text("description"),
                                       row.integer("user_set_name") != 0);
  info.working_dir = row.text("working_dir");
  info.provider = row.text("provider_name");
  const std::string model = json_column(row, "model_config_json");
  info.model = JsonView(model)["model_name"].text();
  info.created_at = time_column(row, "created_at");
  info.updated_at = time_column(row, "updated_at");
  if (!row.text("archived_at").empty()) {
    info.state = SessionState::archived;
  }
  Usage& usage = stored.session.usage;
  usage.input = {row.integer("accumulated_input_tokens")};
  usage.output = {row.integer("accumulated_output_tokens")};
  usage.cached = {row.integer("accumulated_cache_read_tokens")};
  usage.cache_written = {row.integer("accumulated_cache_write_tokens")};
  usage.cost = Money::parse(row.text("accumulated_cost"));
  usage.price_source = usage.cost ? "goose" : "";
  note_parent(stored.session, stored.is_child ? row.text("parent_session_id") : std::string());
  add_extra(stored.session.extra, "goose",
            row_json(row, {"session_type", "user_set_name", "schedule_id", "goose_mode",
                           "project_id", "parent_session_id", "extension_data", "recipe_json"}));
  return stored;
}

// `model` is that of its request; "" if it is not known.
Result<Message> goose_message(Database& database, const Node& node, const SessionInfo& info,
                              const std::string& model) {
  REPRISE_ASSIGN(Row row, database.select("messages",
                                          {"message_id", "role", "content_json",
                                           "created_timestamp", "metadata_json"},
                                          "WHERE rowid = ?", node.at));
  REPRISE_ASSIGN(const bool is_present, row.step());
  const std::string content = is_present ? json_column(row, "content_json") : "null";
  if (content == "null") {
    return fail(Code::corrupt, "the message's content is not JSON");
  }
  const std::string metadata = json_column(row, "metadata_json");
  Message message = goose::message_of(row.text("role"), JsonView(content), JsonView(metadata));
  message.created_at = time_column(row, "created_timestamp");
  goose::mark_repetition(node, message);
  if (message.role == role::kAssistant && !is_injected(message)) {
    message.provider = info.provider;
    message.model = model.empty() ? info.model : model;
  }
  return message;
}

// Assigns each recorded request to the last answer before it. Several requests of one answer (a
// compaction) are added up.
class Ledger {
 public:
  explicit Ledger(OpenSession& open) : open_(open) {}

  void add_answer(std::uint32_t node, Time time) { answers_.push_back({node, time}); }

  void take(const Row& row) {
    if (answers_.empty()) {
      return;
    }
    const Answer& found = last_before(time_column(row, "created_timestamp"));
    Usage usage;
    usage.cached = {row.integer("cache_read_tokens")};
    usage.cache_written = {row.integer("cache_write_tokens")};
    usage.input = {row.integer("input_tokens")};
    usage.output = {row.integer("output_tokens")};
    usage.cost = Money::parse(row.text("cost"));
    usage.price_source = usage.cost ? "goose" : "";
    Node& node = open_.tree.node(found.node);
    if (std::string& model = models_[node.at]; model.empty() && row.integer("is_compaction") == 0) {
      model = row.text("model");
    }
    if (node.usage == 0) {
      usage.request_id = cat("goose:", open_.session.info.id.str(), ":", row.integer("row_number"));
      open_.usages.push_back(std::move(usage));
      node.usage = static_cast<std::uint32_t>(open_.usages.size());
    } else {
      store::add_usage(open_.usages[node.usage - 1], usage);
    }
  }

  // The models of the answers by their keys.
  std::map<std::int64_t, std::string> take_models() { return std::move(models_); }

 private:
  struct Answer {
    std::uint32_t node;
    Time time;
  };

  // The last answer that is not later, else the first one.
  const Answer& last_before(Time time) {
    if (earliest_.empty()) {
      earliest_.resize(answers_.size());
      Time earliest = Time::max();
      for (std::size_t i = answers_.size(); i > 0; --i) {
        earliest_[i - 1] = earliest = std::min(earliest, answers_[i - 1].time);
      }
    }
    const auto after = std::ranges::upper_bound(earliest_, time);
    const auto count = static_cast<std::size_t>(after - earliest_.begin());
    return answers_[count == 0 ? 0 : count - 1];
  }

  OpenSession& open_;
  std::vector<Answer> answers_;
  std::map<std::int64_t, std::string> models_;
  std::vector<Time> earliest_;  // of each answer and those after it
};

const std::initializer_list<std::string_view> kGooseLedger = {
    "created_timestamp",  "input_tokens", "output_tokens", "cache_read_tokens",
    "cache_write_tokens", "cost",         "model",         "is_compaction"};

class GooseTool final : public Tool {
 public:
  GooseTool(std::optional<fs::path> database, std::vector<fs::path> files, ReadReport report)
      : files_(std::move(files)), report_(std::move(report)) {
    if (database) {
      copy_.emplace(*std::move(database), kGooseTables);
    }
  }

  Result<std::vector<Listed>> list(ReadReport& report) override {
    std::ranges::for_each(report_.damage,
                          [&](const Damage& damage) { add_damage(report, damage); });
    std::map<SessionId, Listed> sessions;
    if (copy_) {
      const auto database = copy_->refresh();
      if (database) {
        add_rows(**database, sessions, report);
      } else if (files_.empty()) {
        return std::unexpected(database.error());
      } else {
        add_damage(report, {copy_->file().native(), database.error().message, ""});
      }
    }
    for (const fs::path& file : files_) {
      const auto open = goose::open_file_session(file);
      if (open) {
        sessions.emplace((*open)->session.info.id,
                         Listed{(*open)->session.info, (*open)->is_child});
      } else {
        add_damage(report, {file.native(), open.error().message, ""});
      }
    }
    std::vector<Listed> listed;
    listed.reserve(sessions.size());
    for (auto& [id, session] : sessions) {
      listed.push_back(std::move(session));
    }
    return listed;
  }

  Result<std::shared_ptr<const OpenSession>> open(const SessionId& id) override {
    Result<> read;
    if (copy_) {
      const auto database = copy_->current();
      if (!database) {
        read = std::unexpected(database.error());
      } else if (auto open = open_row(*database, id)) {
        return open;
      }
    }
    for (const fs::path& file : files_) {
      REPRISE_ASSIGN(const SessionId of_file, goose::id_of_file(file));
      if (of_file == id) {
        return goose::open_file_session(file);
      }
    }
    REPRISE_TRY(read);
    return nullptr;
  }

  std::string state_of(const SessionId& id) override {
    std::string state = copy_ ? copy_->state() : "";
    for (const fs::path& file : files_) {
      if (const auto of_file = goose::id_of_file(file); of_file && *of_file == id) {
        state += state_text(file);
      }
    }
    return state;
  }

 private:
  static void add_rows(Database& database, std::map<SessionId, Listed>& sessions,
                       ReadReport& report) {
    std::map<std::string, std::int64_t> counts =
        count_rows(database, "messages", "session_id", report);
    for_each_row(database.select("sessions", kGooseSession, ""), "sessions", report, [&](Row& row) {
      if (row.text("session_type") == kInternal) {
        return;
      }
      GooseSession stored = goose_session(row);
      stored.session.info.head = Seq{counts[row.text("id")]};
      sessions.emplace(stored.session.info.id, Listed{stored.session.info, stored.is_child});
    });
  }

  static std::shared_ptr<const OpenSession> open_row(const std::shared_ptr<Database>& database,
                                                     const SessionId& id) {
    std::shared_ptr<OpenSession> open;
    std::string key;
    ReadReport report;
    for_session_row(*database, {"sessions", kGooseSession}, id, report, [&](Row& row) {
      key = row.text("id");
      GooseSession stored = goose_session(row);
      open = std::make_shared<OpenSession>(
          OpenSession{.session = std::move(stored.session), .is_child = stored.is_child});
    });
    if (!open) {
      return nullptr;
    }
    open->report = std::move(report);
    Ledger ledger(*open);
    goose::Repetitions repetitions;
    for_each_row(
        database->select("messages", {"role", "content_json", "metadata_json", "created_timestamp"},
                         database->has_column("messages", "created_timestamp")
                             ? "WHERE session_id = ? ORDER BY created_timestamp, rowid"
                             : "WHERE session_id = ? ORDER BY rowid",
                         std::string_view(key)),
        cat("session ", key), open->report,
        [&](Row& row) { add_row(row, *open, ledger, repetitions); });
    if (database->has_column("usage_ledger", "session_id")) {
      for_each_row(database->select("usage_ledger", kGooseLedger,
                                    "WHERE session_id = ? ORDER BY rowid", std::string_view(key)),
                   cat("usage of session ", key), open->report,
                   [&](Row& row) { ledger.take(row); });
    }
    count_messages(*open);
    open->message = [database, info = open->session.info,
                     models = ledger.take_models()](std::span<const Node> nodes) {
      const Node& node = nodes.front();
      const auto model = models.find(node.at);
      return goose_message(*database, node, info, model == models.end() ? "" : model->second);
    };
    return open;
  }

  static void add_row(const Row& row, OpenSession& open, Ledger& ledger,
                      goose::Repetitions& repetitions) {
    const std::string content = json_column(row, "content_json");
    if (content == "null") {
      return add_damage(open.report, {cat("messages row ", row.integer("row_number")), "not JSON",
                                      row.text("content_json").substr(0, 1000)});
    }
    const std::string metadata = json_column(row, "metadata_json");
    Node node{.at = row.integer("row_number")};
    node.is_message = true;
    node.is_injected =
        repetitions.is_next(row.text("role"), JsonView(content), JsonView(metadata)) ||
        goose::is_injected_message(JsonView(metadata));
    const auto index = open.tree.add(node, content);
    if (index && !node.is_injected && row.text("role") == role::kAssistant) {
      ledger.add_answer(*index, time_column(row, "created_timestamp"));
    }
    std::string& title = open.session.info.title;
    if (title.empty() && !node.is_injected) {
      title = title_of(goose::question_of(row.text("role"), JsonView(content)));
    }
  }

  std::optional<DatabaseCopy> copy_;
  std::vector<fs::path> files_;
  const ReadReport report_;  // of listing them
};

// The folder with the sessions at a location.
Result<fs::path> folder_of_sessions(const fs::path& location) {
  REPRISE_ASSIGN(const bool is_below, is_folder(location / "sessions"));
  return is_below ? location / "sessions" : location;
}

std::vector<fs::path> jsonl_files(const fs::path& folder, ReadReport& report) {
  return files_below(
      folder, 0, [](const fs::path& file) { return file.extension() == ".jsonl"; }, report);
}

}  // namespace

Result<bool> is_goose(const fs::path& location) {
  REPRISE_ASSIGN(const bool has_folder, is_folder(location));
  if (!has_folder) {
    REPRISE_ASSIGN(const bool is_database, is_database_with(location, kGooseMarks));
    return is_database ? Result<bool>(true) : goose::is_session_file(location);
  }
  REPRISE_ASSIGN(const fs::path folder, folder_of_sessions(location));
  REPRISE_ASSIGN(const bool has_database, is_database_with(folder / "sessions.db", kGooseMarks));
  ReadReport ignored;  // opening it reports the same
  const std::vector<fs::path> files = jsonl_files(folder, ignored);
  return has_database || files.empty() ? Result<bool>(has_database)
                                       : goose::is_session_file(files.front());
}

Result<std::unique_ptr<Source>> open_goose(const fs::path& location,
                                           const StoreOptions& /*options*/) {
  REPRISE_TRY(check_exists(location));
  REPRISE_ASSIGN(const bool has_folder, is_folder(location));
  std::optional<fs::path> database;
  std::vector<fs::path> files;
  ReadReport report;
  if (has_folder) {
    REPRISE_ASSIGN(const fs::path folder, folder_of_sessions(location));
    REPRISE_ASSIGN(const bool has_database, file_exists(folder / "sessions.db"));
    database = has_database ? std::optional(folder / "sessions.db") : std::nullopt;
    files = jsonl_files(folder, report);
  } else {
    REPRISE_ASSIGN(const bool is_file, location.extension() == ".jsonl"
                                           ? Result<bool>(true)
                                           : goose::is_session_file(location));
    if (is_file) {
      files.push_back(location);
    } else {
      database = location;
    }
  }
  return make_tool_source(
      std::make_unique<GooseTool>(std::move(database), std::move(files), std::move(report)));
}

}  // namespace reprise::source
