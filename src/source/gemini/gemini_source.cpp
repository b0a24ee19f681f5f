#include <algorithm>
#include <map>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/text.h"
#include "source/gemini/gemini.h"
#include "source/kinds.h"
#include "source/transcript.h"

namespace reprise::source {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSessionPrefix = "session-";
constexpr std::string_view kCheckpointPrefix = "checkpoint-";
constexpr std::size_t kFirstBytes = 64 << 10;

bool is_gemini_line(JsonView line) {
  bool is_qwen = false;
  line["messages"].each(
      [&](JsonView message) { is_qwen = is_qwen || message["type"].text() == "qwen"; });
  return gemini::is_chat(line) && !is_qwen;
}

// Whether `/chat save TAG` wrote the file.
bool is_checkpoint(const fs::path& file) {
  return file.filename().native().starts_with(kCheckpointPrefix) && file.extension() == ".json";
}

bool is_chat_file(const fs::path& file) {
  const fs::path suffix = file.extension();
  const bool is_named = file.filename().native().starts_with(kSessionPrefix) ||
                        is_checkpoint(file) ||
                        file.parent_path().parent_path().filename() == "chats";
  return (suffix == ".jsonl" || suffix == ".json") && is_named;
}

// The session id in a file; "" if there is none.
Result<std::string> session_in(const fs::path& file) {
  REPRISE_ASSIGN(const std::string bytes, read_beginning(file, kFirstBytes));
  // The first member of that name, even if the object is truncated.
  constexpr std::string_view kName = "\"sessionId\"";
  const std::size_t at = bytes.find(kName);
  if (at == std::string::npos) {
    return "";
  }
  json::Scanner scanner(std::string_view(bytes).substr(at + kName.size()));
  std::string id;
  return scanner.word(":") && scanner.string(id) ? id : "";
}

// The project of a file's folder.
Result<std::string> root_of(const fs::path& file, ReadReport& report) {
  constexpr std::int64_t kPathBytesMax = 64 << 10;
  for (fs::path folder = file.parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    if (folder.filename() == "chats" || is_checkpoint(file)) {
      const fs::path project = is_checkpoint(file) ? folder : folder.parent_path();
      REPRISE_ASSIGN(const std::string root,
                     read_sibling(project / ".project_root", kPathBytesMax, report));
      return std::string(trimmed(root));
    }
  }
  return std::string();
}

class Gemini final : public JsonlTool {
 public:
  explicit Gemini(fs::path location) : location_(std::move(location)) {}

  std::string_view name() const override { return "gemini"; }

  std::vector<Located> locate(ReadReport& report) const override {
    return gemini::locate_chats(location_, report);
  }

  std::unique_ptr<Indexer> index(Transcript& into) const override {
    return gemini::make_indexer(gemini::kGemini, into);
  }

  Result<Message> message(const Transcript& transcript,
                          std::span<const Piece> pieces) const override {
    return gemini::message_of(gemini::kGemini, transcript, pieces.front().node,
                              pieces.front().json);
  }

 private:
  fs::path location_;
};

}  // namespace

namespace gemini {

bool is_chat(JsonView line) {
  return line["sessionId"] && line["projectHash"];
}

std::vector<Located> locate_chats(const fs::path& location, ReadReport& report) {
  std::vector<fs::path> files;
  if (const auto kind = kind_of(location); kind && *kind == FileKind::file) {
    files.push_back(location);
  } else {
    const fs::path tmp = location / "tmp";
    files = files_below(has_folder(tmp, report) ? tmp : location, 3, is_chat_file, report);
  }
  std::vector<Located> sessions;
  std::map<std::string, std::size_t> indexes;
  for (const fs::path& file : files) {
    auto read = is_checkpoint(file) ? Result<std::string>(file.stem().native()) : session_in(file);
    if (!read) {
      add_damage(report, {file.native(), read.error().message, ""});
      continue;
    }
    std::string& session = *read;
    std::ranges::replace(session, '%', '_');  // '%' is not allowed in ids
    if (session.empty()) {
      add_damage(report, {file.native(), "no session id in it", ""});
      continue;
    }
    // Resuming a session starts another file with the same session id.
    const std::string key = is_checkpoint(file) ? file.native() : session;
    const auto [entry, is_new] = indexes.emplace(key, sessions.size());
    if (is_new) {
      // A tag of the user is unique in a project.
      sessions.push_back(
          {.id = is_checkpoint(file) ? session_id_in_folder(session, file) : session_id_of(session),
           .parts = {}});
      if (auto root = root_of(file, report); root) {
        sessions.back().working_dir = *std::move(root);
      } else {
        add_damage(report, {file.native(), root.error().message, ""});
      }
      sessions.back().is_child = file.parent_path().filename() != "chats" &&
                                 file.parent_path().parent_path().filename() == "chats";
    }
    sessions[entry->second].parts.push_back({.file = file});
  }
  return sessions;
}

}  // namespace gemini

Result<bool> is_gemini(const fs::path& location) {
  return has_lines_of(location, 4, is_gemini_line);
}

Result<std::unique_ptr<Source>> open_gemini(const fs::path& location, const StoreOptions& options) {
  return make_transcript_source(std::make_unique<Gemini>(location), location, options);
}

}  // namespace reprise::source
