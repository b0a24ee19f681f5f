#pragma once

// Exports sessions of any source to other formats: for people (md, html), for programs (json,
// jsonl), or for another tool (codex, claude…). The source is not changed.
//
// Sessions that were imported from the tool of a format and have not changed are exported byte for
// byte.
//
// Messages are written as they are read: memory holds one message and the results of its calls.

#include <filesystem>  // IWYU pragma: export
#include <functional>  // IWYU pragma: export
#include <span>        // IWYU pragma: export
#include <stop_token>  // IWYU pragma: export

#include "reprise/environment.h"  // IWYU pragma: export
#include "reprise/source.h"       // IWYU pragma: export

namespace reprise {

struct ExportFormat {
  std::string_view name;     // "md"
  std::string_view ending;   // file name extension: ".md"
  std::string_view summary;  // "Markdown, one file"
  // The tool that can read the file, and the command by which it does, with FILE or ID in it. ""
  // for other formats.
  std::string_view tool = {};
  std::string_view import_command = {};
  // A file may contain several sessions.
  bool holds_many_sessions = false;
  // Writes files beside the document, if the output takes them.
  bool has_files = false;
};

// All formats, in the order of the help. Static storage.
std::span<const ExportFormat> export_formats();
// Null for an unknown format.
const ExportFormat* find_export_format(std::string_view name);

// The destination of an export.
class ExportOutput {
 public:
  virtual ~ExportOutput() = default;
  // Called in order. An error ends the export, which returns it.
  virtual Result<> write(std::string_view bytes) = 0;
  // Whether files can be written beside the document.
  virtual bool accepts_files() const { return false; }
  // Writes a file beside the document. `fill` calls its argument with the bytes, in pieces. Returns
  // the name by which the document refers to the file ("notes.files/e3b0c442.png"). A file that
  // this output has already written under that name is not written again.
  using Piece = std::function<Result<>(std::string_view)>;
  virtual Result<std::string> add_file(std::string_view name,
                                       const std::function<Result<>(const Piece&)>& fill);
};

struct ExportResult {
  std::int64_t messages = 0;
  std::vector<std::string> losses;  // what the format cannot represent, one line each
  std::vector<Damage> damage;       // what could not be read
};

// not_found for an unknown session, cancelled when `stop` is requested; else the output's error. A
// running answer is written as far as it has arrived, as an incomplete message.
Result<ExportResult> export_session(Source& source, const SessionId& id, const ExportFormat& format,
                                    ExportOutput& output, const std::stop_token& stop = {});

enum class ExistingFile : std::uint8_t { refused, replaced };

// Called after each session.
using ExportReport = std::function<void(const SessionId& id, const ExportResult& exported)>;

struct ExportOptions {
  ExistingFile existing = ExistingFile::refused;
  ExportReport report = [](const SessionId& /*id*/, const ExportResult& /*exported*/) {};
  std::stop_token stop = {};
  // For export_to_folder(): files that other sessions were written to. A session whose file would
  // be one of them gets a longer name.
  std::span<const std::filesystem::path> taken = {};
};

// Writes into one file, which appears when it is complete and synced, with mode 0600. An existing
// file is a conflict, unless it may be replaced. Links are never followed. Several sessions are
// written one after the other if the format allows it (`holds_many_sessions`).
Result<> export_to_file(Source& source, std::span<const SessionId> ids, const ExportFormat& format,
                        const std::filesystem::path& file, const ExportOptions& options);

// The same for one session, into an existing folder: under a name made from its time and title or,
// for a tool, its id; with the files beside it. Returns the document's path.
Result<std::filesystem::path> export_to_folder(Source& source, const SessionId& id,
                                               const ExportFormat& format,
                                               const std::filesystem::path& folder,
                                               const ExportOptions& options);

// The folder where the tool of a format expects this session ("…/.codex/sessions/2026/01/18"),
// whether it exists or not. Of the `variables`, HOME and the tool's own are used. unsupported, with
// the command in the message, for a tool that imports the file by a command, and for formats
// without a tool.
Result<std::filesystem::path> find_tool_folder(const ExportFormat& format, const Session& session,
                                               const EnvironmentLookup& variables);
// The tool that owns the folder of the path, links resolved; nullopt for no known one.
Result<std::optional<std::string>> find_owner_of(const std::filesystem::path& path,
                                                 const EnvironmentLookup& variables);
// The id that an exported session gets in the tool of a format: its original id if it came from
// this tool and has not changed; else its own id if that is a UUID, or one derived from it.
Result<std::string> exported_id(Source& source, const Session& session, const ExportFormat& format);

// A session read back from the json format.
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
// Reads a file in the json format, line by line; an error from `reader` ends it. corrupt, naming
// the line, for malformed or truncated files; unsupported for a newer version.
Result<ExportedSession> read_export(const std::filesystem::path& file, const ExportReader& reader);

}  // namespace reprise
