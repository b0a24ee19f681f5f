#pragma once

// One session of a tool that writes JSON lines: where its messages stand in its files, and the
// facts that stand between them. A tool's folder says what a line means; finding, branches,
// counting and delivering is the same for all of them.

#include <memory>

#include "reprise/open_store.h"
#include "source/file.h"  // IWYU pragma: export
#include "source/records.h"
#include "source/tree.h"
#include "source/values.h"  // IWYU pragma: export

namespace reprise::source {

// A session of a place, told by the names of its files.
struct Located {
  SessionId id;
  std::vector<FilePart> parts;  // in the order in which they are read
  bool is_child = false;        // of a sub-agent: listed with the branches only
  bool is_archived = false;
  std::string agent = {};  // of several sessions in one file: which one; "" for the main one
  std::string title = {};  // that stands beside the files
  std::string working_dir = {};
};

struct Transcript {
  Session session;
  std::vector<FilePart> parts = {};
  std::vector<Usage> usages = {};
  Tree tree = {};
  ReadReport report = {};
  bool is_child = false;
  std::string parent = {};  // of a child; "" where its id tells it
  std::string agent = {};
  std::string given_title = {};           // Located::title
  std::vector<std::string> agents = {};   // the sub-agents in the same file
  std::optional<SessionId> fork_of = {};  // whose messages the inherited nodes are
  std::vector<std::string> names = {};    // of models, say: what nodes refer to
  bool is_whole = true;                   // false: only the ends of its files were looked at
};

// One of the lines that make a message.
struct Piece {
  const Node& node;
  JsonView json;
};

// Takes the records of one session in their order, and notes in the transcript what is a node and
// what is a fact.
class Indexer {
 public:
  virtual ~Indexer() = default;
  virtual void take(const Record& record, std::size_t part) = 0;
  virtual void finish() {}  // after the last one
};

class JsonlTool {
 public:
  virtual ~JsonlTool() = default;
  virtual std::string_view name() const = 0;
  // Opens no file that it need not. What cannot be listed is damage.
  virtual std::vector<Located> locate(ReadReport& report) const = 0;
  // Finds the parts of a session that its files name themselves: opens them.
  virtual void resolve(Located& /*located*/, ReadReport& /*report*/) const {}
  // Files that resolve() reads beside the session's parts, there or not.
  virtual std::vector<std::filesystem::path> files_beside(const Located& /*located*/) const {
    return {};
  }
  virtual std::unique_ptr<Indexer> index(Transcript& into) const = 0;
  // The message of these lines; its seq is set by the caller.
  virtual Message message(const Transcript& transcript, std::span<const Piece> pieces) const = 0;
};

// Where a tool has a file for each session.
struct FileLayout {
  std::string_view folder;  // below its own, with the files at most `depth` folders down
  int depth;
  bool (*is_session)(const std::filesystem::path& file, const std::filesystem::path& place);
  // The id that its path gives a session.
  struct Name {
    std::string id;
    bool is_child = false;
  };
  Name (*name)(const std::filesystem::path& file);
};
// The sessions of a place, which is the tool's folder, one below it, or one file.
std::vector<Located> locate_files(const std::filesystem::path& place, const FileLayout& layout,
                                  ReadReport& report);

// The source over such a tool.
// `place` and the options are those that it was opened with.
std::unique_ptr<Source> make_transcript_source(std::unique_ptr<JsonlTool> tool,
                                               const std::filesystem::path& place,
                                               const StoreOptions& options);
// Whether one of the first lines of a JSONL file, or of one of the first such files at most `depth`
// folders down, is one that `is_line` knows.
Result<bool> has_lines_of(const std::filesystem::path& place, int depth,
                          bool (*is_line)(JsonView line));

// What the ends of the files tell: the title, the folder, the times, and how many messages there
// are at least.
inline constexpr std::int64_t kEndBytes = 64 << 10;
Result<Transcript> read_ends(const JsonlTool& tool, Located located);
// All of it.
Result<Transcript> read_index(const JsonlTool& tool, Located located);

// The messages [from, to) of a branch, or backwards. Reports the transcript's damage, and theirs.
ReadReport deliver(const JsonlTool& tool, const Transcript& transcript, const Branch& branch,
                   ReadRange range, const MessageSink& sink);

// Widens the session's times by a record's.
void note_time(SessionInfo& info, JsonView value);
// Where a value of a record stands.
Node node_at(const Record& record, std::size_t part, JsonView value);
// The place of a name in transcript.names, from 1; 0 for "".
std::uint32_t name_number(Transcript& transcript, std::string_view name);
std::string name_of(const Transcript& transcript, std::uint32_t number);

}  // namespace reprise::source
