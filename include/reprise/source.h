#pragma once

// The reading half of a store: which sessions there are, and what is in them. What only reads takes
// a `Source`; what writes takes a `Store`, which is one (store.h, where the promises of both are).
// Sources that nobody can write to are nothing more than this.

#include "reprise/session.h"  // IWYU pragma: export

namespace reprise {

class ArtefactReader;
class BlobReader;
class ChangeReader;
class LastMessageReader;
class OriginalReader;
class PartialReader;
class ReplacedReader;
class SignatureReader;
class TodoReader;
class UserReader;
class Verifying;
class WordIndex;

// A part that could not be read, and where its bytes are.
struct Damage {
  std::string where;    // "reprise.db: messages row 17", "a.jsonl: line 3"
  std::string reason;   // one line
  std::string excerpt;  // the bytes, at most 10 KB of them
  friend bool operator==(const Damage&, const Damage&) = default;
};

struct SessionPage {
  std::vector<SessionInfo> sessions;
  std::string next;  // "" when this was the last page
  std::vector<Damage> damage;
};

struct ReadRange {
  Seq from{0};
  Seq to = kSeqEnd;           // not included
  bool newest_first = false;  // the same messages, backwards
};

enum class Flow : std::uint8_t { go_on, stop };

// Called once for each message, in order. The message is the callee's to keep. What it throws ends
// the reading and goes on to the caller of read(), as it does for all functions a store is given.
using MessageSink = std::function<Flow(Message&&)>;

struct ReadReport {
  std::vector<Damage> damage;  // at most 1,000; `damaged` counts all
  std::int64_t damaged = 0;
};

// What a source holds, and what of it can be read besides sessions and messages. The interfaces are
// in capabilities.h; null: there is none. They live as long as the source.
//
// What a store cannot hold it refuses with unsupported (and it is a line in the list of losses when
// copying), never dropped in silence.
struct SourceCapabilities {
  bool many_sessions = true;
  bool any_id = true;  // not only UUIDs
  // Without messages there is nothing to read and the head stays 0: the source has titles and the
  // ids of responses only, and the messages are with a provider (see Responses).
  bool messages = true;
  // The sessions of many folders, of which a list usually shows one folder's.
  bool many_folders = true;
  // Its programs keep at most one session of a folder open at a time.
  bool one_open_per_folder = false;
  bool open_questions = true;   // questions that got no answer, in a session's record
  bool blocks = true;           // all block types, not only text
  bool message_details = true;  // model, usage, response id and state of each message
  bool config = true;
  bool modes = true;
  bool folders = true;
  bool system_prompt = true;
  bool lists_by_author = false;  // list() takes SessionQuery::author
  // Sessions read by turns, three at most, cost no more than one after the other.
  bool parallel_reads = false;
  // Which ids its programs give new sessions; it holds all that any_id allows.
  UuidVersion new_ids = UuidVersion::v7;

  TodoReader* todo_reader = nullptr;
  ArtefactReader* artefact_reader = nullptr;
  BlobReader* blob_reader = nullptr;
  ChangeReader* change_reader = nullptr;
  PartialReader* partial_reader = nullptr;
  LastMessageReader* last_message_reader = nullptr;
  ReplacedReader* replaced_reader = nullptr;
  OriginalReader* original_reader = nullptr;
  SignatureReader* signature_reader = nullptr;
  UserReader* user_reader = nullptr;
  WordIndex* word_index = nullptr;
  Verifying* verifying = nullptr;
};

class Source {
 public:
  virtual ~Source() = default;

  virtual Result<std::optional<Session>> find(const SessionId& id) = 0;

  // invalid_argument for a limit or cursor out of range.
  virtual Result<SessionPage> list(const SessionQuery& query) = 0;

  // Delivers the messages of the range that are there now, one by one; memory stays bounded by one
  // message. The sink may use the source.
  virtual Result<ReadReport> read(const SessionId& id, ReadRange range,
                                  const MessageSink& sink) = 0;

  // The same for as long as the source lives.
  virtual const SourceCapabilities& capabilities() const = 0;
};

// find(), with absence as not_found.
Result<Session> get(Source& source, const SessionId& id);

// The whole session in memory, damage left out. For sessions known to be small.
Result<std::vector<Message>> read_all(Source& source, const SessionId& id, ReadRange range = {});

}  // namespace reprise
