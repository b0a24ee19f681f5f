#pragma once

// One session of a tool that writes JSON lines: the positions of its messages in its files, and its
// metadata. The tool's folder parses the lines; finding, branches, counting and delivery are
// shared.

#include <filesystem>  // IWYU pragma: export
#include <map>         // IWYU pragma: export
#include <memory>      // IWYU pragma: export
#include <unordered_set>
#include <variant>  // IWYU pragma: export

#include "base/json_scan.h"      // IWYU pragma: export
#include "base/json_view.h"      // IWYU pragma: export
#include "reprise/error.h"       // IWYU pragma: export
#include "reprise/message.h"     // IWYU pragma: export
#include "reprise/open_store.h"  // IWYU pragma: export
#include "reprise/session.h"     // IWYU pragma: export
#include "reprise/source.h"      // IWYU pragma: export
#include "reprise/types.h"       // IWYU pragma: export
#include "source/branches.h"     // IWYU pragma: export
#include "source/file.h"         // IWYU pragma: export
#include "source/records.h"      // IWYU pragma: export
#include "source/tree.h"         // IWYU pragma: export
#include "source/values.h"       // IWYU pragma: export

namespace reprise::source {

// The ids of the messages of a session's current branch.
using NodeIds = std::unordered_set<std::uint64_t>;

// A session whose lines another one begins with copies of.
struct CopiedFrom {
  SessionId session;
  std::shared_ptr<const NodeIds> ids;
};

// A session of a location, identified by the names of its files.
struct Located {
  SessionId id;
  std::vector<FilePart> parts;  // in reading order
  bool is_child = false;        // a sub-agent's: listed only with branches or children
  bool is_archived = false;
  std::string title = {};  // from outside the session's files
  std::string working_dir = {};
  std::optional<CopiedFrom> copied_from = {};
};

// Strings that nodes refer to, such as models.
struct Names {
  std::vector<std::string> list;
  std::map<std::string, std::uint32_t, std::less<>> numbers;  // in `list`, from 1
  // The records with attached files, by the names that messages have for them.
  std::map<std::string, Node, std::less<>> attachments = {};
};

struct Transcript {
  Session session;
  std::vector<FilePart> parts = {};
  std::vector<std::optional<FileState>> states = {};  // of the parts' files before they were read
  std::vector<Usage> usages = {};
  // Requests without a message: the indexes of their usage, from 1, by the nodes that they follow.
  std::multimap<std::uint32_t, std::uint32_t> other_usages = {};
  Tree tree = {};
  ReadReport report = {};
  bool is_child = false;
  std::string parent = {};                // of a child; "" if its id names it
  std::string given_title = {};           // Located::title
  std::optional<SessionId> fork_of = {};  // the session that inherited nodes belong to
  std::uint64_t first_message = 0;        // its id; 0 if unknown
  bool is_whole = true;                   // false: only the ends of its files were read
  // The sub-agents in the same files, by their names.
  std::map<std::string, std::unique_ptr<Transcript>, std::less<>> agents = {};
  std::shared_ptr<Names> names = std::make_shared<Names>();  // shared with the sub-agents
  // By the number of the part; null for one that is not in memory.
  std::vector<std::shared_ptr<const ParsedPart>> parsed = {};
};

// One of the lines that make up a message.
struct Piece {
  const Node& node;
  JsonView json;
};

// Receives the records of one session in order and adds nodes and metadata to the transcript.
class Indexer {
 public:
  virtual ~Indexer() = default;
  virtual void take(const Record& record, std::size_t part) = 0;
  // Of a line between the ends of a large file, when only those are read: whether to take it.
  virtual bool adds_metadata(std::string_view /*line*/) const { return true; }
  virtual void finish() {}  // after the last record
};

class JsonlTool {
 public:
  virtual ~JsonlTool() = default;
  virtual std::string_view name() const = 0;
  // Whether it forks a session by copying its lines, with their ids, into a file beside it. The
  // indexer then sets Transcript::first_message.
  virtual bool forks_by_copying() const { return false; }
  // Opens as few files as possible. What cannot be listed is damage.
  virtual std::vector<Located> locate(ReadReport& report) const = 0;
  // Completes the parts of a session from references in its files, which it opens. Missing ones are
  // damage, unreadable ones an error.
  virtual Result<> resolve(Located& /*located*/, ReadReport& /*report*/) const { return {}; }
  // Files other than the session's parts that resolve() reads, whether or not they exist.
  virtual std::vector<std::filesystem::path> sidecar_files(const Located& /*located*/) const {
    return {};
  }
  virtual std::unique_ptr<Indexer> index(Transcript& into) const = 0;
  // The message of these lines; the caller sets its seq.
  virtual Result<Message> message(const Transcript& transcript,
                                  std::span<const Piece> pieces) const = 0;
};

// The layout of a tool with a file per session.
struct FileLayout {
  std::string_view folder;  // relative to the tool's; files are at most `depth` levels below
  int depth;
  bool (*is_session)(const std::filesystem::path& file, const std::filesystem::path& location);
  // The session id derived from the file's path.
  struct Name {
    std::string id;
    bool is_child = false;
  };
  Name (*name)(const std::filesystem::path& file);
};
// The sessions of a location, which is the tool's folder, a subfolder, or one file.
std::vector<Located> locate_files(const std::filesystem::path& location, const FileLayout& layout,
                                  ReadReport& report);

// The source for such a tool. `location` and `options` are the ones that it was opened with.
std::unique_ptr<Source> make_transcript_source(std::unique_ptr<JsonlTool> tool,
                                               const std::filesystem::path& location,
                                               const StoreOptions& options);
// Whether `is_line` accepts one of the first lines of a JSONL file, or of the first such files at
// most `depth` levels down.
Result<bool> has_lines_of(const std::filesystem::path& location, int depth,
                          bool (*is_line)(JsonView line));

// Reads only the ends of the files: for the title, the folder, the times, and a lower bound of the
// number of messages. The last piece grows until a record near its end has a time; if that is not
// found within the limit of a line, the file's time is used.
inline constexpr std::int64_t kEndBytes = 64 << 10;
Result<Transcript> read_ends(const JsonlTool& tool, const Located& located);
// The time of a node that is a message; Time{} if unknown.
Time time_of_message(const JsonlTool& tool, const Transcript& transcript, std::uint32_t node);
// Reads the whole files. `retained` also stores what is needed to deliver messages without reading
// and parsing small files again.
enum class Records : std::uint8_t { released, retained };
Result<Transcript> read_index(const JsonlTool& tool, Located located,
                              Records records = Records::released);

// The messages [from, to) of a branch, in either direction. The report includes the transcript's
// damage. conflict if the tool has changed the files since they were indexed.
Result<ReadReport> deliver(const JsonlTool& tool, const Transcript& transcript,
                           const BranchMessages& branch, ReadRange range, const MessageSink& sink);

// Extends the session's time range to include a record's time.
void note_time(SessionInfo& info, JsonView value);
// The position of a value in a record.
Node node_at(const Record& record, std::size_t part, JsonView value);
// The session of a sub-agent in the same files, made if it is new; null if its name is not valid in
// an id. What the caller leaves empty in it is set from `transcript`.
Transcript* agent_of(Transcript& transcript, const std::string& name);
// The index of a name in transcript.names, from 1; 0 for "".
std::uint32_t name_number(Transcript& transcript, std::string_view name);
std::string name_of(const Transcript& transcript, std::uint32_t number);

}  // namespace reprise::source
