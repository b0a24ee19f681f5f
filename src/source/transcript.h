#pragma once

// One session of a tool that writes JSON lines: where its messages stand in its files, and the
// facts that stand between them. A tool's folder says what a line means; finding, branches,
// counting and delivering is the same for all of them.

#include <memory>
#include <string>
#include <vector>

#include "reprise/session.h"
#include "source/file.h"
#include "source/records.h"
#include "source/tree.h"

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
  virtual std::unique_ptr<Indexer> index(Transcript& into) const = 0;
  // The message of these lines; its seq is set by the caller.
  virtual Message message(const Transcript& transcript, std::span<const Piece> pieces) const = 0;
};

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
// The members of an object but for those that are known.
Extra extra_without(JsonView object, std::initializer_list<std::string_view> known);
// Tool input that is JSON in a string, or any text.
RawJson input_of(std::string text);
// The value as it stands; null for none.
RawJson raw_of(JsonView value);
// An image as a data URL.
ImageBlock image_of(std::string_view media_type, std::string_view base64);
// Adds to what is there.
void add_extra(Extra& extra, std::string_view name, std::optional<RawJson> value);
// Marks what no person and no model wrote.
void mark_injected(Message& message);
// A time that a record names: ISO 8601, or a number of milliseconds.
std::optional<Time> time_of(JsonView value);
// The members that are not in `known`, as they stand; nothing when there is none.
std::optional<RawJson> members_without(JsonView object, std::span<const std::string_view> known);
// A title of a person's text: one line of at most 80 characters.
std::string title_of(std::string_view text);

}  // namespace reprise::source
