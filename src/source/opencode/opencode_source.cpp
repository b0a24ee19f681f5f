#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "reprise/message.h"
#include "source/file.h"
#include "source/kinds.h"
#include "source/opencode/opencode_storage.h"
#include "source/tool_source.h"
#include "source/tree.h"

namespace reprise::source {
namespace {

namespace fs = std::filesystem;
using opencode::Storage;
using opencode::StoredSession;

// All storage forms at the location. If several have an id, the first one wins.
class OpencodeTool final : public Tool {
 public:
  OpencodeTool(std::vector<std::unique_ptr<Storage>> storages, ReadReport report)
      : storages_(std::move(storages)), report_(std::move(report)) {}

  Result<std::vector<Listed>> list(ReadReport& report) override {
    std::ranges::for_each(report_.damage,
                          [&](const Damage& damage) { add_damage(report, damage); });
    std::vector<Listed> listed;
    std::set<SessionId> ids;
    for (const auto& storage : storages_) {
      const auto sessions = storage->sessions(report);
      if (!sessions) {
        if (storages_.size() == 1) {
          return std::unexpected(sessions.error());
        }
        add_damage(report, {"sessions", sessions.error().message, ""});
        continue;
      }
      for (const StoredSession& stored : *sessions) {
        if (ids.insert(stored.session.info.id).second) {
          listed.push_back({stored.session.info, stored.is_child});
          complete(listed.back().info, *storage, stored);
        }
      }
    }
    return listed;
  }

  Result<std::shared_ptr<const OpenSession>> open(const SessionId& id) override {
    Result<> read;
    for (const auto& storage : storages_) {
      const auto found = storage->find(id);
      if (!found) {
        read = std::unexpected(found.error());
      } else if (const std::optional<StoredSession>& stored = *found; stored) {
        return open_stored(*storage, *stored);
      }
    }
    REPRISE_TRY(read);
    return nullptr;
  }

  std::string state_of(const SessionId& /*id*/) override {
    std::string state;
    for (const auto& storage : storages_) {
      state += storage->state() + " ";
    }
    return state;
  }

 private:
  // The first question is the title of a session that the tool has given none.
  static void complete(SessionInfo& info, Storage& storage, const StoredSession& stored) {
    if (!info.title.empty()) {
      return;
    }
    if (const auto open = open_stored(storage, stored)) {  // reading it reports the error
      info.title = (*open)->session.info.title;
    }
  }

  static Result<std::shared_ptr<const OpenSession>> open_stored(Storage& storage,
                                                                const StoredSession& stored) {
    auto open = std::make_shared<OpenSession>(
        OpenSession{.session = stored.session, .is_child = stored.is_child});
    open->session.info.is_head_known = true;
    open->tree.add({.id = node_id("root")}, "");  // before the first message, which may be undone
    // An undone tail is an abandoned branch; the tool deletes it at the next prompt.
    std::optional<std::size_t> count;  // nodes before it
    const auto add = [&](const opencode::RawMessage& message, std::int64_t key) {
      if (message.id == stored.reverted_from) {
        count =
            open->tree.nodes().size() + opencode::segments_before(message, stored.reverted_part);
      }
      opencode::add_message(*open, message, key);
    };
    REPRISE_ASSIGN(const auto load, storage.each_message(stored.id, open->report, add));
    if (count) {
      open->tree.set_leaf(static_cast<std::uint32_t>(*count - 1));
    }
    open->todos = storage.todos(stored.id);
    count_messages(*open);
    open->message = [load](std::span<const Node> nodes) -> Result<Message> {
      REPRISE_ASSIGN(const opencode::RawMessage raw, load(nodes.front().at));
      return opencode::message_of(raw, nodes.front().detail);
    };
    complete_title(*open);
    return open;
  }

  std::vector<std::unique_ptr<Storage>> storages_;
  const ReadReport report_;  // of opening them
};

std::vector<fs::path> databases_in(const fs::path& folder, ReadReport& report) {
  return files_below(
      folder, 0, [](const fs::path& file) { return file.extension() == ".db"; }, report);
}

// Channels other than the usual one have a suffix: opencode-dev.db.
bool is_named_by_tool(const fs::path& file) {
  const std::string name = file.stem().native();
  return name.starts_with("opencode") || name.starts_with("kilo");
}

// The storage folders of the first versions: project/<name>/storage
std::set<fs::path> project_storages(const fs::path& location, ReadReport& report) {
  std::set<fs::path> folders;
  for (const fs::path& file : files_below(
           location / "project", 4,
           [](const fs::path& file) {
             return file.parent_path().filename() == "info" && file.extension() == ".json";
           },
           report)) {
    folders.insert(file.parent_path().parent_path().parent_path());
  }
  return folders;
}

struct Storages {
  std::vector<std::unique_ptr<Storage>> storages;
  ReadReport report;  // of folders that cannot be listed
};

Result<Storages> storages_at(const fs::path& location) {
  Storages found;
  const auto add_folder = [&found](const fs::path& folder) -> Result<> {
    REPRISE_ASSIGN(auto storage, opencode::open_folder_storage(folder));
    found.storages.push_back(std::move(storage));
    return {};
  };
  REPRISE_ASSIGN(const bool is_whole, is_folder(location));
  if (!is_whole) {
    REPRISE_ASSIGN(const bool is_database, opencode::is_opencode_database(location));
    found.storages.push_back(is_database ? opencode::open_database_storage(location)
                                         : opencode::open_export_storage(location));
    return found;
  }
  for (const fs::path& file : databases_in(location, found.report)) {
    // Listing it reports the damage.
    if (is_named_by_tool(file) || opencode::is_opencode_database(file).value_or(true)) {
      found.storages.push_back(opencode::open_database_storage(file));
    }
  }
  for (const fs::path& folder : {location / "storage", location}) {
    REPRISE_ASSIGN(const bool has_sessions, is_folder(folder / "session"));
    if (has_sessions) {
      REPRISE_TRY(add_folder(folder));
    }
  }
  for (const fs::path& folder : project_storages(location, found.report)) {
    REPRISE_TRY(add_folder(folder));
  }
  return found;
}

// Both tools have the same tables; the names of files and folders tell them apart.
bool is_kilo_location(const fs::path& location) {
  return location.filename() == "kilo" || location.stem().native().starts_with("kilo");
}

Result<bool> has_sessions(const fs::path& location) {
  REPRISE_ASSIGN(const bool is_whole, is_folder(location));
  if (!is_whole) {
    REPRISE_ASSIGN(const bool is_database, opencode::is_opencode_database(location));
    return is_database || opencode::is_opencode_export(location);
  }
  ReadReport ignored;  // opening it reports the same
  for (const fs::path& storage : {location, location / "storage"}) {
    if (has_folder(storage / "session", ignored) && has_folder(storage / "message", ignored)) {
      return true;
    }
  }
  if (!project_storages(location, ignored).empty()) {
    return true;
  }
  Result<bool> is_any = false;
  for (const fs::path& file : databases_in(location, ignored)) {
    auto is_database = opencode::is_opencode_database(file);
    if (!is_database) {
      is_any = std::move(is_database);
    } else if (*is_database) {
      return true;
    }
  }
  return is_any;
}

}  // namespace

Result<bool> is_opencode(const fs::path& location) {
  return is_kilo_location(location) ? Result<bool>(false) : has_sessions(location);
}

Result<bool> is_kilo(const fs::path& location) {
  return is_kilo_location(location) ? has_sessions(location) : Result<bool>(false);
}

Result<std::unique_ptr<Source>> open_opencode(const fs::path& location,
                                              const StoreOptions& /*options*/) {
  REPRISE_TRY(check_exists(location));
  REPRISE_ASSIGN(Storages storages, storages_at(location));
  if (storages.storages.empty() && storages.report.damage.empty()) {
    return fail(Code::not_found, cat("no history of opencode or Kilo at ", location.native()));
  }
  return make_tool_source(
      std::make_unique<OpencodeTool>(std::move(storages.storages), std::move(storages.report)));
}

}  // namespace reprise::source
