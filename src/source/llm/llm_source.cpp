#include <algorithm>
#include <map>

#include "base/file.h"
#include "base/text.h"
#include "source/file.h"
#include "source/kinds.h"
#include "source/llm/llm_rows.h"

namespace reprise::source {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 15> kLlmTables = {"conversations",
                                                         "responses",
                                                         "attachments",
                                                         "prompt_attachments",
                                                         "fragments",
                                                         "tool_calls",
                                                         "tool_results",
                                                         "prompt_fragments",
                                                         "system_fragments",
                                                         "schemas",
                                                         "threads",
                                                         "turns",
                                                         "messages",
                                                         "parts",
                                                         "tool_results_attachments"};
constexpr std::array<TableSignature, 2> kLlmMarks = {
    {{"conversations", "model"}, {"responses", "conversation_id"}}};
constexpr std::array<TableSignature, 2> kThreadMarks = {
    {{"threads", "tip_message_hash"}, {"messages", "parent_hash"}}};

// The conversation that a thread with its id continues.
void add_older(const SessionInfo& conversation, SessionInfo& thread) {
  thread.title = conversation.title.empty() ? thread.title : conversation.title;
  if (conversation.created_at != Time{}) {
    thread.created_at = std::min(thread.created_at, conversation.created_at);
  }
}

// The tool's id of a session.
std::string foreign_id(Database& database, const SessionId& id) {
  std::string foreign = id.str();
  if (!is_generated_id(id)) {
    return foreign;
  }
  ReadReport ignored;  // listing the sessions reports the same
  constexpr std::pair<std::string_view, std::string_view> kIds[] = {
      {"threads", "id"},
      {"conversations", "id"},
      {"responses", "conversation_id"},
      {"responses", "id"}};
  for (const auto& [table, column] : kIds) {
    if (database.has_table(table)) {
      for_each_row(database.select(table, {column}, ""), table, ignored,
                   [&](const sqlite::Statement& row) {
                     const std::string candidate = row.text(column);
                     foreign = session_id_of(candidate) == id ? candidate : foreign;
                   });
    }
  }
  return foreign;
}

class LlmTool final : public Tool {
 public:
  explicit LlmTool(fs::path file) : copy_(std::move(file), kLlmTables) {}

  Result<std::vector<Listed>> list(ReadReport& report) override {
    REPRISE_ASSIGN(const auto database, copy_.refresh());
    std::vector<Listed> sessions;
    std::map<SessionId, std::size_t> threads;
    for (SessionInfo& info : llm::list_threads(*database, report)) {
      threads.emplace(info.id, sessions.size());
      sessions.push_back({std::move(info)});
    }
    for (SessionInfo& info : llm::list_conversations(*database, report)) {
      if (const auto thread = threads.find(info.id); thread != threads.end()) {
        add_older(info, sessions[thread->second].info);
      } else {
        sessions.push_back({std::move(info)});
      }
    }
    return sessions;
  }

  Result<std::shared_ptr<const OpenSession>> open(const SessionId& id) override {
    REPRISE_ASSIGN(const auto database, copy_.current());
    const std::string foreign = foreign_id(*database, id);
    if (database->has_table("threads")) {
      if (auto thread = llm::open_thread(database, foreign)) {
        return thread;
      }
    }
    if (!database->has_table("responses")) {
      return nullptr;
    }
    return llm::open_conversation(database, foreign);
  }

  std::string state_of(const SessionId& /*id*/) override { return copy_.state(); }

 private:
  DatabaseCopy copy_;
};

Result<fs::path> llm_database_at(const fs::path& location) {
  REPRISE_ASSIGN(const bool has_folder, is_folder(location));
  return has_folder ? location / "logs.db" : location;
}

}  // namespace

Result<bool> is_llm(const fs::path& location) {
  REPRISE_ASSIGN(const fs::path file, llm_database_at(location));
  REPRISE_ASSIGN(const bool has_conversations, is_database_with(file, kLlmMarks));
  return has_conversations ? Result<bool>(true) : is_database_with(file, kThreadMarks);
}

Result<std::unique_ptr<Source>> open_llm(const fs::path& location,
                                         const StoreOptions& /*options*/) {
  REPRISE_ASSIGN(const fs::path file, llm_database_at(location));
  REPRISE_TRY(check_exists(file));
  return make_tool_source(std::make_unique<LlmTool>(file));
}

}  // namespace reprise::source
