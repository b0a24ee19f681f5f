
#include <algorithm>
#include <span>

#include "base/file.h"
#include "base/text.h"
#include "source/document_tool.h"
#include "source/elements.h"
#include "source/opencode/opencode_storage.h"
#include "source/reuse_time.h"
#include "source/transcript.h"

namespace reprise::source::opencode {
namespace {

namespace fs = std::filesystem;

// Reads a JSON object; reports damage if it is none.
Result<std::optional<std::string>> read_object(const fs::path& file, ReadReport& report) {
  auto text = read_document(file);
  if (text && !is_json_object(**text)) {
    text = fail(Code::corrupt, "not a JSON object");
  }
  if (!text) {
    REPRISE_TRY(report_damage(report, file.native(), std::move(text).error()));
    return std::nullopt;
  }
  return **text;
}

bool is_json_file(const fs::path& file) {
  return file.extension() == ".json";
}

// The JSON files in a folder, sorted by name: names are ids, which sort by time.
std::vector<fs::path> json_files(const fs::path& folder, ReadReport& report, int depth = 0) {
  return files_below(folder, depth, is_json_file, report);
}

std::vector<Todo> todos_of(JsonView list) {
  std::vector<Todo> todos;
  list.each([&](JsonView todo) {
    const auto status = parse_todo_status(todo["status"].text());
    todos.push_back({todo["content"].text(), status.value_or(TodoStatus::pending), "", {}});
  });
  return todos;
}

StoredSession stored_session(JsonView info, const std::string& id) {
  return {session_of(info, id), id, !info["parentID"].text().empty(),
          info["revert"]["messageID"].text(), info["revert"]["partID"].text()};
}

// Messages of a session beyond this size are read again when they are needed.
constexpr std::size_t kLoadedBytesMax = std::size_t{16} << 20;

std::size_t bytes_of(const RawMessage& message) {
  std::size_t bytes = message.json.size();
  for (const RawPart& part : message.parts) {
    bytes += part.json.size();
  }
  return bytes;
}

// A file per session, message and part. Paths tell which session each belongs to. The first
// versions had a folder "session" in each project's, with the folders "info", "message" and "part".
class FolderStorage final : public Storage {
 public:
  FolderStorage(const fs::path& folder, bool is_of_project)
      : is_of_project_(is_of_project),
        folder_(is_of_project_ ? folder / "session" : folder),
        sessions_(folder_ / (is_of_project_ ? "info" : "session")) {}

  Result<std::vector<StoredSession>> sessions(ReadReport& report) override {
    std::vector<StoredSession> sessions;
    for (const fs::path& file : json_files(sessions_, report, 1)) {
      const auto text = read_or_report(file, report);
      if (text) {
        const std::string id = file.stem().native();
        sessions.push_back(stored_session(JsonView(*text), id));
        const std::vector<fs::path> messages = json_files(folder_ / "message" / id, report);
        SessionInfo& info = sessions.back().session.info;
        info.head = Seq{static_cast<std::int64_t>(messages.size())};
        info.is_head_known = false;
        note_last_answer(messages, info);
      }
    }
    return sessions;
  }

  Result<std::optional<StoredSession>> find(const SessionId& id) override {
    ReadReport report;
    for (const fs::path& file : json_files(sessions_, report, 1)) {
      const auto text =
          session_id_of(file.stem().native()) == id ? read_or_report(file, report) : std::nullopt;
      if (text) {
        return stored_session(JsonView(*text), file.stem().native());
      }
    }
    if (!report.damage.empty()) {
      return fail(Code::io, cat(report.damage[0].where, ": ", report.damage[0].reason));
    }
    return std::nullopt;
  }

  Result<std::vector<Todo>> todos(const std::string& session) override {
    REPRISE_ASSIGN(const auto text,
                   if_exists(read_document(folder_ / "todo" / (session + ".json"))));
    const auto list = text ? RawJson::parse(**text) : Result<RawJson>();
    return list ? todos_of(JsonView(list->text())) : std::vector<Todo>();
  }

  Result<MessageLoader> each_message(
      const std::string& session, ReadReport& report,
      const std::function<void(const RawMessage&, std::int64_t key)>& each) override {
    struct Indexed {
      fs::path file;
      std::size_t parts;
      std::optional<RawMessage> loaded;
    };
    const auto start = ReuseTime::Clock::now();
    auto indexed = std::make_shared<std::vector<Indexed>>();
    std::size_t loaded = 0;
    REPRISE_ASSIGN(const std::vector<fs::path> message_files,
                   all_files_below(folder_ / "message" / session, 0, is_json_file));
    for (const fs::path& file : message_files) {
      REPRISE_ASSIGN(auto message, read(file, report));
      if (message) {
        each(*message, static_cast<std::int64_t>(indexed->size()));
        indexed->push_back({file, message->parts.size(), std::nullopt});
        loaded += bytes_of(*message);
        if (loaded <= kLoadedBytesMax) {
          indexed->back().loaded = std::move(message);
        }
      }
    }
    reuse_.begin(start);
    return MessageLoader([indexed, files = *this](std::int64_t key) -> Result<RawMessage> {
      const auto& [file, parts, message] = indexed->at(static_cast<std::size_t>(key));
      if (message) {
        return *message;
      }
      ReadReport known;  // damage was reported when it was indexed
      REPRISE_ASSIGN(auto again, files.read(file, known));
      return again && again->parts.size() >= parts
                 ? Result<RawMessage>(*std::move(again))
                 : fail(Code::corrupt, "the message can no longer be read");
    });
  }

  // There are too many files to check.
  std::string state() override { return cat(reuse_.is_over() ? ++reads_ : reads_); }

 private:
  // The model is only in the messages.
  static void note_last_answer(std::span<const fs::path> messages, SessionInfo& info) {
    constexpr std::size_t kTriedMax = 8;
    ReadReport ignored;  // damage is reported when they are read
    for (std::size_t i = 0; i < std::min(messages.size(), kTriedMax); ++i) {
      const auto text = read_object(messages[messages.size() - 1 - i], ignored);
      const std::string object = text ? text->value_or("") : "";
      if (!object.empty() && note_answer(JsonView(object), info)) {
        return;
      }
    }
  }

  // Of a list, which reports all that it lacks.
  static std::optional<std::string> read_or_report(const fs::path& file, ReadReport& report) {
    auto text = read_object(file, report);
    if (!text) {
      add_damage(report, {file.native(), text.error().message, ""});
    }
    return std::move(text).value_or(std::nullopt);
  }

  Result<std::optional<RawMessage>> read(const fs::path& file, ReadReport& report) const {
    REPRISE_ASSIGN(auto text, read_object(file, report));
    if (!text) {
      return std::nullopt;
    }
    RawMessage message{file.stem().native(), *std::move(text), {}};
    fs::path parts = folder_ / "part";
    if (is_of_project_) {
      parts /= file.parent_path().filename();
    }
    REPRISE_ASSIGN(const std::vector<fs::path> part_files,
                   all_files_below(parts / message.id, 0, is_json_file));
    for (const fs::path& part : part_files) {
      REPRISE_ASSIGN(auto json, read_object(part, report));
      if (json) {
        message.parts.push_back({part.stem().native(), *std::move(json)});
      }
    }
    return message;
  }

  bool is_of_project_;
  fs::path folder_;
  fs::path sessions_;
  ReuseTime reuse_;
  std::int64_t reads_ = 0;
};

// A file with one session.
class ExportStorage final : public Storage {
 public:
  explicit ExportStorage(fs::path file) : file_(std::move(file)) {}

  Result<std::vector<StoredSession>> sessions(ReadReport& report) override {
    std::vector<StoredSession> sessions;
    REPRISE_ASSIGN(const auto text, read_object(file_, report));
    if (text) {
      const auto [info, messages] = JsonView(*text).members({"info", "messages"});
      sessions.push_back(stored_session(info, info["id"].text()));
      std::int64_t count = 0;
      messages.each([&](JsonView message) {
        note_answer(message["info"], sessions.back().session.info);
        ++count;
      });
      sessions.back().session.info.head = Seq{count};
      sessions.back().session.info.is_head_known = false;
    }
    return sessions;
  }

  Result<std::optional<StoredSession>> find(const SessionId& id) override {
    ReadReport ignored;
    REPRISE_ASSIGN(std::vector<StoredSession> stored, sessions(ignored));
    const bool is_this = !stored.empty() && stored.front().session.info.id == id;
    return is_this ? std::optional(std::move(stored.front())) : std::nullopt;
  }

  Result<std::vector<Todo>> todos(const std::string& /*session*/) override {
    return std::vector<Todo>();
  }

  Result<MessageLoader> each_message(
      const std::string& /*session*/, ReadReport& report,
      const std::function<void(const RawMessage&, std::int64_t key)>& each) override {
    auto messages = std::make_shared<std::vector<RawMessage>>();
    REPRISE_ASSIGN(const auto text, read_object(file_, report));
    if (text) {
      JsonView(*text)["messages"].each([&](JsonView json) {
        const auto [info, parts] = json.members({"info", "parts"});
        if (!info.is(json::Kind::object)) {
          return add_damage(report, {file_.native(), "not a message", std::string(json.raw())});
        }
        RawMessage message{info["id"].text(), std::string(info.raw()), {}};
        parts.each([&](JsonView part) {
          message.parts.push_back({part["id"].text(), std::string(part.raw())});
        });
        each(message, static_cast<std::int64_t>(messages->size()));
        messages->push_back(std::move(message));
      });
    }
    return MessageLoader([messages](std::int64_t key) -> Result<RawMessage> {
      return messages->at(static_cast<std::size_t>(key));
    });
  }

  std::string state() override { return state_text(file_); }

 private:
  fs::path file_;
};

}  // namespace

Result<std::unique_ptr<Storage>> open_folder_storage(const fs::path& folder) {
  REPRISE_ASSIGN(const bool is_of_project, is_folder(folder / "session/info"));
  return std::make_unique<FolderStorage>(folder, is_of_project);
}

std::unique_ptr<Storage> open_export_storage(const fs::path& file) {
  return std::make_unique<ExportStorage>(file);
}

bool is_opencode_export(const fs::path& file) {
  const std::string beginning = read_beginning(file, 64U << 10).value_or("");
  return begins_with_element(beginning, "info") &&
         (beginning.contains("\"projectID\"") || beginning.contains("\"ses_"));
}

}  // namespace reprise::source::opencode
