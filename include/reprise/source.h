#pragma once

// The reading half of a store: lists sessions and reads them. Code that only reads takes a
// `Source`; code that writes takes a `Store`, which is one (store.h has the guarantees of both).
// Histories of other tools are sources only.

#include "reprise/message.h"  // IWYU pragma: export
#include "reprise/session.h"  // IWYU pragma: export

namespace reprise {

class ArtefactReader;
class BlobReader;
class ChangeReader;
class LastMessageReader;
class MessageFinder;
class OriginalReader;
class PartialReader;
class ReplacedReader;
class ShortSessionReader;
class SignatureReader;
class TodoReader;
class UserReader;
class Verifier;
class WordIndex;

// A part that could not be read, with its location.
struct Damage {
  std::string where;    // "reprise.db: messages row 17", "a.jsonl: line 3"
  std::string reason;   // one line
  std::string excerpt;  // the bytes, at most 10 KB of them
  friend bool operator==(const Damage&, const Damage&) = default;
};

struct SessionPage {
  std::vector<SessionInfo> sessions;
  std::string next;  // "" for the last page
  std::vector<Damage> damage;
};

struct ReadRange {
  Seq from{0};
  Seq to = kSeqEnd;           // exclusive
  bool newest_first = false;  // the same messages in reverse
};

enum class Flow : std::uint8_t { proceed, stop };

// The progress of a long operation.
struct Progress {
  std::string_view work;   // "verifying"
  std::int64_t done = 0;   // of `total`; the unit depends on the operation
  std::int64_t total = 0;  // 0 when unknown
};
using ProgressSink = std::function<void(const Progress&)>;

// Called once for each message, in order. The message may be moved from. An exception ends the
// reading and propagates to the caller of read(); this holds for all functions passed to a store.
using MessageSink = std::function<Flow(Message&&)>;

struct ReadReport {
  std::vector<Damage> damage;  // at most 1,000; `damaged` counts all
  std::int64_t damaged = 0;
};

// What a source can hold, and its optional readers, declared in capabilities.h; null: not
// supported. They live as long as the source.
//
// A store rejects what it cannot hold with unsupported (copying lists it as a loss); it never drops
// data silently.
struct SourceCapabilities {
  bool many_sessions = true;
  bool any_id = true;  // not only UUIDs
  // Without messages there is nothing to read and the head stays 0: the source has titles and
  // response ids only, and the provider has the messages (see Responses).
  bool messages = true;
  // Sessions of many folders; a list usually shows those of one folder.
  bool many_folders = true;
  // Programs that share the store keep at most one session per folder open.
  bool one_open_per_folder = false;
  bool open_questions = true;   // stores questions without an answer
  bool blocks = true;           // all block types, not only text
  bool message_details = true;  // model, usage, response id and state of each message
  bool config = true;
  bool modes = true;
  bool folders = true;
  bool system_prompt = true;
  bool lists_by_author = false;  // list() supports SessionQuery::author
  // list() takes the same time for a page as for all sessions, which kAllSessions requests.
  bool lists_at_once = false;
  // Reading up to three sessions in turns costs no more than reading one after the other.
  bool parallel_reads = false;
  // The UUID version of new sessions; a store holds all ids that any_id allows.
  UuidVersion new_ids = UuidVersion::v7;

  TodoReader* todo_reader = nullptr;
  ArtefactReader* artefact_reader = nullptr;
  BlobReader* blob_reader = nullptr;
  ChangeReader* change_reader = nullptr;
  PartialReader* partial_reader = nullptr;
  LastMessageReader* last_message_reader = nullptr;
  MessageFinder* message_finder = nullptr;
  ShortSessionReader* short_session_reader = nullptr;
  ReplacedReader* replaced_reader = nullptr;
  OriginalReader* original_reader = nullptr;
  SignatureReader* signature_reader = nullptr;
  UserReader* user_reader = nullptr;
  WordIndex* word_index = nullptr;
  Verifier* verifier = nullptr;
};

class Source {
 public:
  virtual ~Source() = default;

  virtual Result<std::optional<Session>> find(const SessionId& id) = 0;

  // invalid_argument for a limit or cursor out of range.
  virtual Result<SessionPage> list(const SessionQuery& query) = 0;

  // Delivers the messages of the range that exist now, one by one; memory is bounded by one
  // message. The sink may call the source.
  virtual Result<ReadReport> read(const SessionId& id, ReadRange range,
                                  const MessageSink& sink) = 0;

  // Constant for the lifetime of the source.
  virtual const SourceCapabilities& capabilities() const = 0;
};

// find(), with not_found for a missing session.
Result<Session> get(Source& source, const SessionId& id);

// The limit with which all sessions are listed in the shortest time.
std::size_t largest_page(const Source& source);

// The readable messages of a session; unreadable ones are left out and not reported. For sessions
// known to be small.
Result<std::vector<Message>> read_all(Source& source, const SessionId& id, ReadRange range = {});

}  // namespace reprise
