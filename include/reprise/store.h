#pragma once

// Where sessions live. `Store` is the required core; what only some stores can do are the small
// interfaces of `store_offers.h`, which a store hands out through offers().
//
// Every store keeps these promises, and the contract suite checks them:
//  (1) append() returns only when the batch is as durable as asked; a batch is seen whole or not
//      at all, its messages have consecutive seqs.
//  (2) The same operation id appends once, however often it is tried.
//  (3) Readers never see half a write and never wait for a writer. A writer waits for others at
//      most `busy_timeout`, then gets Code::busy.
//  (4) Damage costs the damaged part: it is reported, the rest is delivered, the bytes stay.
//  (5) Facts are stored as they are handed in: times, titles and order are the caller's policy.
//      A time that is not known is Time{}, in what is stored and in what is read.
//
// All functions may be called from several threads at once, and only in the process that opened the
// store: after fork() they answer unsupported in the child, at once, and destroying the store there
// leaves all that is the parent's alone. A child opens a store of its own (one over SQLite after
// exec() only, when its parent had the same file open: a rule of SQLite's). Errors common to all of
// them: busy, corrupt, io (full disk, no permission, vanished folder: os_errno says which),
// not_found for an unknown session where one is needed, unsupported for facts this store cannot
// hold.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "reprise/types.h"

namespace reprise {

struct StoreOffers;

enum class Durability : std::uint8_t {
  disk,  // survives a power cut
  os,    // survives the death of the process
};

// The beginning of a running answer, stored with the message that asks for it.
struct PartialStart {
  OperationId answer;  // names the running answer until it ends
  Owner owner;
  std::string provider;
  std::string model;
  Time started_at = {};
};

struct AppendOptions {
  // The session's head must still be this, or nothing happens and the error is conflict.
  std::optional<Seq> expected_head = std::nullopt;
  // A second append (or replacement) to this session with this id changes nothing and returns what
  // the first one did, whatever else it asks for. One that was refused may be tried again.
  std::optional<OperationId> operation = std::nullopt;
  Durability durability = Durability::disk;
  // Ends the running answer of this name with the batch; conflict when it is not running.
  // Together with begin_partial, one answer ends and the next begins in the same step.
  std::optional<OperationId> end_partial = std::nullopt;
  // Begins a running answer after the batch; busy while another one is running.
  std::optional<PartialStart> begin_partial = std::nullopt;
};

struct Appended {
  Seq first;              // of the batch
  Seq head;               // after it
  bool repeated = false;  // the operation had been done before
};

// Fields that are set replace the stored ones. updated_at is not touched: a rename is no activity.
struct SessionPatch {
  std::optional<std::string> title = std::nullopt;
  std::optional<std::string> mode = std::nullopt;
  std::optional<std::string> provider = std::nullopt;
  std::optional<std::string> model = std::nullopt;
  std::optional<std::string> working_dir = std::nullopt;
  std::optional<std::string> system_prompt = std::nullopt;
  std::optional<RawJson> config = std::nullopt;
  // active or closed, all else is invalid_argument; so is any for a session in the trash.
  std::optional<SessionState> state = std::nullopt;
  std::optional<std::optional<Time>> closed_at = std::nullopt;
  std::optional<std::vector<ResponseLink>> response_chain = std::nullopt;
  std::optional<std::vector<std::string>> prompt_history = std::nullopt;
  std::optional<Extra> extra = std::nullopt;
};

// Which sessions, in the order of activity: newest updated_at first, then id descending.
struct SessionQuery {
  std::optional<std::string> working_dir = std::nullopt;  // exactly this folder
  std::optional<std::string> mode = std::nullopt;
  std::vector<SessionState> states = {SessionState::active, SessionState::closed};  // one of these
  std::string title_contains = {};  // ASCII letters match in either case
  std::string id_prefix = {};
  bool answering_only = false;  // only those with a running or interrupted answer
  std::string after = {};       // SessionPage::next of the page before; "" for the first
  std::size_t limit = 50;       // 1 to kPageMax
};
inline constexpr std::size_t kPageMax = 1000;

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

// What a store can hold. What it cannot is refused with unsupported (and is a line in the list of
// losses when copying), never dropped in silence.
struct StoreHolds {
  bool many_sessions = true;
  bool any_id = true;  // not only UUIDs
  // The messages. A store without words keeps titles and response ids only: append() takes messages
  // without blocks, whose response ids go to the end of the response chain, each once; there is
  // nothing to read, and the head stays 0. Messages with blocks are unsupported.
  bool words = true;
  // The sessions of many folders, of which a list usually shows one folder's.
  bool many_folders = true;
  bool open_questions = true;   // questions that got no answer, in a session's record
  bool blocks = true;           // all block types, not only text
  bool message_details = true;  // model, usage, response id and state of each message
  bool config = true;
  bool modes = true;
  bool folders = true;
  bool system_prompt = true;
  // Not what it can hold, but what its other programs look for: the artefacts of each turn.
  bool step_artefacts = false;
  // The same for the ids that new sessions are given; it holds all that any_id allows.
  UuidVersion new_ids = UuidVersion::v7;
};

class Store {
 public:
  virtual ~Store() = default;

  // Stores a new session as it is given, but for `head`, `usage` and `answering`, which follow
  // from what is appended. conflict when the id exists (in the trash, too); invalid_argument for
  // one that is created in the trash. Durable on disk.
  virtual Result<> create(const Session& session) = 0;

  virtual Result<std::optional<Session>> find(const SessionId& id) = 0;

  // Durable on disk.
  virtual Result<> update(const SessionId& id, const SessionPatch& patch) = 0;

  // invalid_argument for a limit or cursor out of range.
  virtual Result<SessionPage> list(const SessionQuery& query) = 0;

  // Adds the messages at the end, in one step. The session's updated_at becomes the last
  // message's created_at. Usage is added to the session's sums once per request id, and each time
  // when it has none. An empty batch is allowed (it can begin or end a running answer).
  virtual Result<Appended> append(const SessionId& id, std::vector<Message> messages,
                                  AppendOptions options) = 0;

  // Delivers the messages of the range that are there now, one by one; memory stays bounded by one
  // message. The sink may use the store.
  virtual Result<ReadReport> read(const SessionId& id, ReadRange range,
                                  const MessageSink& sink) = 0;

  virtual StoreHolds holds() const = 0;
  virtual const StoreOffers& offers() const = 0;
};

// find(), with absence as not_found.
Result<Session> get(Store& store, const SessionId& id);

// The whole session in memory, damage left out. For sessions known to be small.
Result<std::vector<Message>> read_all(Store& store, const SessionId& id, ReadRange range = {});

}  // namespace reprise
