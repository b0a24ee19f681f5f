#pragma once

// Where sessions are stored. A `Store` is a writable `Source`. The functions of these two are
// supported by every store; capabilities() tells what it cannot hold, and what else it supports.
//
// Every store gives these guarantees, checked by the contract suite:
// (1) append() returns only when the batch is as durable as requested; batches are atomic, and
//     their messages have consecutive seqs.
// (2) An operation id is applied once, however often it is retried.
// (3) Readers never see partial writes and never wait for a writer. A writer waits for others at
//     most `busy_timeout`, then returns Code::busy.
// (4) Damage affects only the damaged part: it is reported, the remaining messages are delivered,
//     the damaged bytes are preserved.
// (5) Times, titles and order are stored as given; they are the caller's policy. An unknown time is
//     Time{}, both stored and read.
// (6) What a store cannot return as it was given is refused with invalid_argument, which names the
//     field, before anything changes: text that is not UTF-8 (but a working_dir is a path, and may
//     be any bytes without NUL), and a message without a role.
//
// All functions may be called from several threads at once, and only in the process that opened the
// store: after fork() they return unsupported in the child, and destroying the store there does not
// affect the parent. A child opens a store of its own (over SQLite only after exec() if its parent
// had the same file open, a restriction of SQLite). Errors common to all functions: busy, corrupt,
// io (full disk, no permission, vanished folder: see os_errno), not_found for an unknown session
// where one is needed, unsupported for data this store cannot hold.

#include <cstdint>  // IWYU pragma: export
#include <utility>  // IWYU pragma: export

#include "reprise/source.h"  // IWYU pragma: export

namespace reprise {

class Archives;
class Artefacts;
class Backup;
class Tenants;
class DeferredCreation;
class Blobs;
class AtomicCreation;
class CurrentSession;
class Forking;
class Partials;
class Repair;
class Responses;
class Rewriting;
class Signatures;
class Todos;
class Trash;
class TurnRecording;

enum class Durability : std::uint8_t {
  disk,  // survives a power cut
  os,    // survives a crash of the process
};

// The start of a running answer, stored together with its question.
struct PartialStart {
  OperationId answer;  // identifies the running answer until it ends
  Owner owner;
  std::string provider;
  std::string model;
  Time started_at = {};
};

struct AppendOptions {
  // The expected head of the session; if it differs, nothing changes and the error is conflict.
  std::optional<Seq> expected_head = std::nullopt;
  // A second append (or replacement) to this session with this id changes nothing and returns the
  // first one's result, whatever its arguments. A failed one may be retried.
  std::optional<OperationId> operation = std::nullopt;
  Durability durability = Durability::disk;
  // Ends this running answer together with the batch; conflict when it is not running. With
  // begin_partial, one answer ends and the next starts in the same step.
  std::optional<OperationId> end_partial = std::nullopt;
  // Starts a running answer after the batch; busy while another one is running.
  std::optional<PartialStart> begin_partial = std::nullopt;
  // The time of the append by this machine's clock, for messages from elsewhere: the session's
  // arrived_at if theirs is later. Without it the session has none after the append.
  std::optional<Time> now = std::nullopt;
};

struct AppendResult {
  Seq first;              // of the batch
  Seq head;               // after it
  bool repeated = false;  // the operation had been applied before
};

// What else a store supports; null when it does not. Anything writable is also readable: a store
// with todos has a todo_reader, one with repair has a verifier. The interfaces are in
// capabilities.h and live as long as the store.
struct Capabilities : SourceCapabilities {
  DeferredCreation* deferred_creation = nullptr;
  AtomicCreation* atomic_creation = nullptr;
  Rewriting* rewriting = nullptr;
  Forking* forking = nullptr;
  Partials* partials = nullptr;
  Responses* responses = nullptr;  // of stores without messages
  Todos* todos = nullptr;
  Artefacts* artefacts = nullptr;
  TurnRecording* turn_recording = nullptr;
  Archives* archives = nullptr;
  CurrentSession* current_session = nullptr;
  Blobs* blobs = nullptr;
  Trash* trash = nullptr;
  Signatures* signatures = nullptr;
  Repair* repair = nullptr;
  Backup* backup = nullptr;
  Tenants* tenants = nullptr;
};

class Store : public Source {
 public:
  // Stores a new session as given, except for `head`, `usage` and `answering`, which are derived
  // from appends. conflict when the id exists (in the trash, too); invalid_argument for a trashed
  // session. Durable on disk.
  virtual Result<> create(const Session& session) = 0;

  // Durable on disk.
  virtual Result<> update(const SessionId& id, const SessionPatch& patch) = 0;

  // Appends the messages in one step. The session's updated_at becomes the last message's
  // created_at. Usage is added to the session's sums once per request id, or always if it has none.
  // The batch may be empty (to start or end a running answer).
  //
  // A store without messages accepts messages without blocks, and appends each of their response
  // ids to the response chain once; messages with blocks are unsupported.
  virtual Result<AppendResult> append(const SessionId& id, std::vector<Message> messages,
                                      AppendOptions options) = 0;

  const Capabilities& capabilities() const override = 0;
};

}  // namespace reprise
