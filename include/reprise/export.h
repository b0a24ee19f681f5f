#pragma once

// Sessions in other forms: to be read by people (md, html), by programs (json, jsonl), or taken
// over by another tool (codex, claude…). Any source will do. Nothing is changed in it.
//
// What came from the tool of a format and has not changed goes back byte for byte.
//
// Messages are written as they are read: memory holds one message and the results of its calls.

#include <filesystem>  // IWYU pragma: export
#include <functional>  // IWYU pragma: export
#include <span>        // IWYU pragma: export
#include <stop_token>  // IWYU pragma: export

#include "reprise/source.h"  // IWYU pragma: export

namespace reprise {

struct ExportFormat {
  std::string_view name;     // "md"
  std::string_view ending;   // of its files: ".md"
  std::string_view summary;  // "Markdown, one file"
  // What goes back into a tool: that tool, and what its user enters with FILE or ID in it. "" for
  // the others.
  std::string_view tool = {};
  std::string_view taken_by = {};
  // Several sessions may follow each other in one file.
  bool joins = false;
  // Writes files beside the document, where there is room for them.
  bool has_files = false;
};

// All there are, in the order in which help names them. Lives as long as the program.
std::span<const ExportFormat> export_formats();
// Null: there is no such format.
const ExportFormat* find_export_format(std::string_view name);

// Where an export goes.
class ExportOutput {
 public:
  virtual ~ExportOutput() = default;
  // In order. An error ends the export, and is what it returns.
  virtual Result<> write(std::string_view bytes) = 0;
  // Whether there is room for files beside the document.
  virtual bool takes_files() const { return false; }
  // A file beside the document. `fill` calls its argument with the bytes, in pieces. Returns how
  // the document names the file ("notes.files/e3b0c442.png"). One that is there under that name and
  // was written by this output is not written again.
  using Piece = std::function<Result<>(std::string_view)>;
  virtual Result<std::string> add_file(std::string_view name,
                                       const std::function<Result<>(const Piece&)>& fill);
};

struct Exported {
  std::int64_t messages = 0;
  std::vector<std::string> losses;  // what the format cannot hold, one line each
  std::vector<Damage> damage;       // what could not be read
};

// not_found for an unknown session, cancelled when `stop` is; else the output's error. An answer
// that is still running is written as far as it has come, as an incomplete message.
Result<Exported> export_session(Source& source, const SessionId& id, const ExportFormat& format,
                                ExportOutput& output, const std::stop_token& stop = {});

enum class ExistingFile : std::uint8_t { refused, replaced };

// Into one file, which appears when all of it is written and synced, 0600; what is there under that
// name is a conflict, unless it may be replaced. A link is never followed. The sessions follow each
// other where the format joins, else there is one. `report` is told of each.
using ExportReport = std::function<void(const SessionId& id, const Exported& exported)>;
struct ExportOptions {
  ExistingFile existing = ExistingFile::refused;
  ExportReport report = [](const SessionId& /*id*/, const Exported& /*exported*/) {};
  std::stop_token stop = {};
};
Result<> export_to_file(Source& source, std::span<const SessionId> ids, const ExportFormat& format,
                        const std::filesystem::path& file, const ExportOptions& options);

// The same for one session, into a folder that is there: under a name made of its time and title
// or, for a tool, its id; with the files beside it. Returns the document's path.
Result<std::filesystem::path> export_to_folder(Source& source, const SessionId& id,
                                               const ExportFormat& format,
                                               const std::filesystem::path& folder,
                                               const ExportOptions& options);

// Where the tool of a format looks for this session ("…/.codex/sessions/2026/01/18", there or not).
// `variables` finds environment variables, of which HOME is one. unsupported, saying how, for a
// tool that takes the file by a command, and for formats of no tool.
using ToolVariables = std::function<std::optional<std::string>(std::string_view name)>;
Result<std::filesystem::path> find_tool_folder(const ExportFormat& format, const Session& session,
                                               const ToolVariables& variables);
// The tool in whose folder the path is, through links or not; nullopt for none that is known.
Result<std::optional<std::string>> find_owner_of(const std::filesystem::path& path,
                                                 const ToolVariables& variables);
// The id by which the tool of a format knows an exported session that it does not give one: that
// which it had there when it came from this tool and has not changed; else its own when it is a
// UUID, or one that follows from it.
Result<std::string> exported_id(Source& source, const Session& session, const ExportFormat& format);

// A session of the format json, read back.
struct ExportedSession {
  Session session;  // `head` is the number of messages
  std::vector<Todo> todos;
};
struct ExportedBlob {
  BlobHash hash;
  std::string bytes;
};
struct ExportedArtefact {
  Step step;
  std::string name;
  std::string bytes;
};
struct ExportReader {
  std::function<Result<>(Message&&)> on_message = {};
  std::function<Result<>(ExportedArtefact&&)> on_artefact = {};
  std::function<Result<>(ExportedBlob&&)> on_blob = {};
};
// Reads a file that was written in the format json, line by line; what `reader` returns as an error
// ends it. corrupt, naming the line, for what is no such file or was cut; unsupported for one of a
// later version.
Result<ExportedSession> read_export(const std::filesystem::path& file, const ExportReader& reader);

}  // namespace reprise
