#pragma once

// Where sessions live. A `Store` is a `Source` that can be written to. These two are what every
// store has; what it cannot hold, and what else it can do, is asked in one place: capabilities().
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

#include "reprise/source.h"  // IWYU pragma: export

namespace reprise {

class Archives;
class Artefacts;
class Backup;
class Tenants;
class Beginning;
class Blobs;
class Creation;
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

// What a store can do besides: null when it cannot. What can be changed can be read, too: a store
// with todos has a todo_reader, one with repair has verifying. The interfaces are in capabilities.h
// and live as long as the store.
struct Capabilities : SourceCapabilities {
  Beginning* beginning = nullptr;
  Creation* creation = nullptr;
  Rewriting* rewriting = nullptr;
  Forking* forking = nullptr;
  Partials* partials = nullptr;
  Responses* responses = nullptr;  // of those without messages
  Todos* todos = nullptr;
  Artefacts* artefacts = nullptr;
  TurnRecording* turn_recording = nullptr;
  Archives* archives = nullptr;
  CurrentSession* current = nullptr;
  Blobs* blobs = nullptr;
  Trash* trash = nullptr;
  Signatures* signatures = nullptr;
  Repair* repair = nullptr;
  Backup* backup = nullptr;
  Tenants* tenants = nullptr;
};

class Store : public Source {
 public:
  // Stores a new session as it is given, but for `head`, `usage` and `answering`, which follow
  // from what is appended. conflict when the id exists (in the trash, too); invalid_argument for
  // one that is created in the trash. Durable on disk.
  virtual Result<> create(const Session& session) = 0;

  // Durable on disk.
  virtual Result<> update(const SessionId& id, const SessionPatch& patch) = 0;

  // Adds the messages at the end, in one step. The session's updated_at becomes the last
  // message's created_at. Usage is added to the session's sums once per request id, and each time
  // when it has none. An empty batch is allowed (it can begin or end a running answer).
  //
  // A store without messages takes those without blocks, whose response ids go to the end of the
  // response chain, each once; messages with blocks are unsupported.
  virtual Result<Appended> append(const SessionId& id, std::vector<Message> messages,
                                  AppendOptions options) = 0;

  const Capabilities& capabilities() const override = 0;
};

}  // namespace reprise
