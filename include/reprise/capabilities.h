#pragma once

// What only some stores can do. A caller asks `store.capabilities()` and gets a pointer or null;
// there is nothing to cast and no function that only says no. A store implements those it can do
// itself. Threads, errors and durability are as for Store: durable on disk unless said otherwise.

#include <filesystem>  // IWYU pragma: export
#include <memory>      // IWYU pragma: export
#include <span>        // IWYU pragma: export

#include "reprise/store.h"  // IWYU pragma: export

namespace reprise {

// For a session whose first messages follow at once.
class Beginning {
 public:
  virtual ~Beginning() = default;
  // As Store::create(), but Durability::os: the first append makes both durable on disk, with one
  // sync.
  virtual Result<> begin(const Session& session) = 0;
};

// For stores whose sessions share nothing, and that can put a session there with its messages.
class Creation {
 public:
  virtual ~Creation() = default;
  // As Store::create() and then append() of the messages, in one step: the session appears with all
  // of them, or not at all. Durable on disk.
  virtual Result<> create_with(const Session& session, std::vector<Message> messages) = 0;
};

class ReplacedReader {
 public:
  virtual ~ReplacedReader() = default;
  // How many messages of the session gave way and are kept aside, without those that
  // ArtefactReader hands out. not_found for an unknown session.
  virtual Result<std::int64_t> count_replaced(const SessionId& id) = 0;
  // These messages with the seqs that they had, which several may have had; damage as with
  // Source::read().
  virtual Result<ReadReport> read_replaced(const SessionId& id, const MessageSink& sink) = 0;
};

// Retry and rewind.
class Rewriting : public ReplacedReader {
 public:
  // The messages from `from` on give way to the batch, in one step. They are not destroyed: forks
  // that share them keep them, and the store keeps them aside until the session is purged; their
  // usage stays counted. All else is as for append(). invalid_argument when `from` is beyond the
  // head.
  virtual Result<Appended> replace_suffix(const SessionId& id, Seq from,
                                          std::vector<Message> messages, AppendOptions options) = 0;
};

class Forking {
 public:
  virtual ~Forking() = default;
  // Creates `child`, which shares the parent's messages before `at`, at a cost that does not
  // depend on their number; nothing else is shared, its usage is that of its own requests. All else
  // is as for create(), forked_from apart, which follows from the call. invalid_argument when `at`
  // is beyond the parent's head.
  virtual Result<> fork(const SessionId& parent, Seq at, const Session& child) = 0;
};

struct Partial {
  OperationId answer;
  Owner owner;
  std::string provider;
  std::string model;
  Time started_at;
  std::vector<Block> blocks;  // what has come so far
};

class PartialReader {
 public:
  virtual ~PartialReader() = default;
  // nullopt while no answer is running.
  virtual Result<std::optional<Partial>> find_partial(const SessionId& id) = 0;
};

// Running answers: begun and ended by append(), kept in between so that a crash loses little.
class Partials : public PartialReader {
 public:
  // How long what came is gathered before it is worth a call of add_partial(). With the write
  // itself the default stays below the 50 ms that are promised for stores in files.
  virtual std::chrono::milliseconds partial_interval() const {
    return std::chrono::milliseconds(36);
  }
  // Adds what came since the last call: the first block continues the last stored one when both
  // are text, thinking, or the same tool use (its input's pieces as JSON strings). Durability::os.
  // conflict when this answer is not running.
  virtual Result<> add_partial(const SessionId& id, const OperationId& answer,
                               std::span<const Block> delta) = 0;
  // Its process goes on: the lease in the answer's owner becomes this one, also in what
  // Source::find() and list() say. Nothing is judged here. Durability::os. conflict when this
  // answer is not running.
  virtual Result<> renew_lease(const SessionId& id, const OperationId& answer,
                               const Lease& lease) = 0;
};

// For sources where every look costs a round trip.
class LastMessageReader {
 public:
  virtual ~LastMessageReader() = default;
  // The last message of each session, in their order. nullopt: there is none, or read() must find
  // it, as it is long or shared with another session.
  virtual Result<std::vector<std::optional<Message>>> last_messages(
      std::span<const SessionId> ids) = 0;
};

struct SessionChanges {
  // False: what changed cannot be told, and list() must be asked. All else but `position` is empty.
  bool is_known = false;
  // Those that were created, appended to, rewound or moved to another folder. A session that has
  // only changed its title or whether it is open need not be among them.
  std::vector<SessionInfo> sessions = {};
  // All that are in the trash, if those are others than before.
  std::optional<std::vector<SessionId>> trashed = std::nullopt;
  std::string position = {};  // of now
};

// For those who follow a source and would otherwise list all of it each time.
class ChangeReader {
 public:
  virtual ~ChangeReader() = default;
  // What changed since `position`, which an earlier call returned; "" before the first one. Not
  // known once a session was purged, and where `position` is of another source.
  virtual Result<SessionChanges> changes_since(std::string_view position) = 0;
};

// What a store indexes of a message, and looks for there. A word is a string of letters and digits:
// which ones, whoever searches says. Those of more than 2,000 bytes are not indexed.
struct WordEntry {
  std::vector<std::vector<std::string>> parts = {};  // at most 3: a phrase stands in one of them
  std::vector<std::string> facts = {};               // each begins with a byte that no word has
  std::int64_t bytes = 0;                            // of the texts
};
struct WordPhrase {  // words one after the other
  std::vector<std::string> words;
  bool prefix = false;   // the last one may go on
  bool without = false;  // messages that have it are not found
};
struct WordQuery {
  std::vector<WordPhrase> phrases;  // all of them; those that must be there come first
  std::vector<std::string> facts = {};
  std::optional<std::size_t> part = std::nullopt;  // phrases count there alone
  std::optional<std::string> working_dir = std::nullopt;
  std::optional<SessionId> session = std::nullopt;
  std::optional<Time> since = std::nullopt;
  std::optional<Time> until = std::nullopt;  // not included
  bool with_counts = false;
};
struct WordHit {
  SessionId session;
  Seq seq;
  Time time;  // of the message, or the nearest that is known
  std::int64_t bytes = 0;
  // With counts: about how often each phrase that must be there stands in it, a byte each.
  std::string counts = {};
  bool is_certain = true;  // false: it has all words, of its phrases only the text can tell
  std::string place = {};  // in the order of hits
};

// For stores that index the words of their messages themselves, once for all who search, so that
// nobody reads all messages to find some. No append indexes anything.
class WordIndex {
 public:
  virtual ~WordIndex() = default;
  // So many of about so many messages. After Flow::stop it ends early, and keeps what it has done.
  using IndexProgress = std::function<Flow(std::int64_t done, std::int64_t total)>;
  // Indexes what is new, in batches: whoever is killed loses one. False while another process is at
  // it, at once, and when it was stopped. Also for a store that was opened for reading.
  virtual Result<bool> index_words(const std::function<WordEntry(const Message&)>& entry_of,
                                   const IndexProgress& on_progress) = 0;
  // At most `limit`, the newest first, after the place of a hit; "" for the first. Those in the
  // trash are left out, and messages that forks share are found in one session. invalid_argument
  // for a place that is none.
  virtual Result<std::vector<WordHit>> find_words(const WordQuery& query, std::string_view after,
                                                  std::size_t limit) = 0;
  // About which part of the messages has each of the phrases that must be there.
  virtual Result<std::vector<double>> word_densities(const WordQuery& query) = 0;
};

// For stores without messages: a provider has those, and the store keeps how to go on with them.
class Responses {
 public:
  virtual ~Responses() = default;
  // The conversation goes on from this response: its id goes to the end of the session's response
  // chain, once, and updated_at becomes the answer's created_at. All else of the answer is left
  // out. A session that is not there is created as `session` in the same step: it never is without
  // a response. The same operation id adds once.
  virtual Result<> add_response(const Session& session, const Message& answer,
                                const OperationId& operation) = 0;
};

// The files in which another tool keeps a session, byte for byte.
class OriginalReader {
 public:
  virtual ~OriginalReader() = default;
  // "claude", as in its URLs.
  virtual std::string_view tool() const = 0;
  struct File {
    std::string name;  // without its folders
    std::int64_t bytes = 0;
  };
  // Those that are this session's alone: none for a branch, or for one of several in a file.
  virtual Result<std::vector<File>> originals(const SessionId& id) = 0;
  // At most `count` bytes from `at` on; fewer where the file ends. `file` counts originals().
  virtual Result<std::string> read_original(const SessionId& id, std::size_t file, std::int64_t at,
                                            std::size_t count) = 0;
};

class TodoReader {
 public:
  virtual ~TodoReader() = default;
  virtual Result<std::vector<Todo>> todos(const SessionId& id) = 0;
};

class Todos : public TodoReader {
 public:
  // Reads, lets `edit` change the list, writes; nobody else writes in between. Returns the new
  // list. `edit` must not call the store.
  virtual Result<std::vector<Todo>> edit_todos(
      const SessionId& id, const std::function<Result<>(std::vector<Todo>&)>& edit) = 0;
};

// What a turn left behind: its prompt, answer, raw stream… A name is a relative path: components of
// 1 to 255 bytes between slashes, none of them "." or "..", without NUL. A store may refuse names
// that it cannot hold with invalid_argument: those that are no UTF-8, or of files of its own.
class ArtefactReader {
 public:
  virtual ~ArtefactReader() = default;
  virtual Result<std::optional<std::string>> find_artefact(const SessionId& id, Step step,
                                                           std::string_view name) = 0;
  struct Entry {
    Step step;
    std::string name;
    std::int64_t bytes = 0;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  // Ordered by step, then name.
  virtual Result<std::vector<Entry>> list_artefacts(const SessionId& id) = 0;
};

class Artefacts : public ArtefactReader {
 public:
  virtual Result<> save_artefact(const SessionId& id, Step step, std::string_view name,
                                 std::string_view bytes) = 0;
  // Adds to the end, creating it when missing. Durability::os.
  virtual Result<> append_artefact(const SessionId& id, Step step, std::string_view name,
                                   std::string_view bytes) = 0;
};

// What is known when a turn begins.
struct RecordedTurn {
  std::vector<Block> question = {};  // empty when an answer goes on
  std::string provider = {};
  std::string model = {};
  std::optional<Seq> replaces = std::nullopt;  // the message there gives way to this turn's answer
};

// Watches one turn, and stores what other programs that use the store look for after it. Called
// from one thread; nothing but finish() waits for the store.
class TurnRecorder {
 public:
  virtual ~TurnRecorder() = default;
  virtual void on_text(std::string_view text) = 0;
  virtual void on_thinking(std::string_view text) = 0;
  virtual void on_raw(const RawJson& block) = 0;
  virtual void on_usage(const Usage& usage) = 0;
  virtual void on_answer(const Message& answer) = 0;
  virtual void on_tool_result(const ToolResultBlock& result) = 0;
  virtual void on_failure(const Error& error) = 0;
  // Stores what is left. The first failure, if there was one.
  virtual std::optional<Error> finish() = 0;
};

class TurnRecording {
 public:
  virtual ~TurnRecording() = default;
  // A turn begins. What is returned must not outlive the store.
  virtual Result<std::unique_ptr<TurnRecorder>> record_turn(const SessionId& id,
                                                            const RecordedTurn& turn) = 0;
};

// Putting sessions out of the way. One that is archived is found, listed when it is asked for, and
// read; resume_session() refuses to go on with it. A store of files packs it into one, which cannot
// be written to.
class Archives {
 public:
  virtual ~Archives() = default;
  // Where it is packed, headers that are secret are left out. Archiving twice is fine. busy while
  // an answer is running, invalid_argument for a session in the trash.
  virtual Result<> archive(const SessionId& id, Time when) = 0;
  // Back in use, or closed when its closed_at is known. invalid_argument when it is not archived,
  // conflict when another session of this id is there, corrupt for an archive that is not safe to
  // unpack.
  virtual Result<> unarchive(const SessionId& id) = 0;
};

// One session is the current one: programs that are not told otherwise go on with it.
class CurrentSession {
 public:
  virtual ~CurrentSession() = default;
  // nullopt when there is none, or no such session any more.
  virtual Result<std::optional<SessionId>> current() = 0;
  // nullopt: none. invalid_argument for a session in the archive or in the trash.
  virtual Result<> set_current(const std::optional<SessionId>& id) = 0;
};

// How long a blob stays at least after it was put, also when no message names it: whoever put it is
// about to name it.
inline constexpr std::chrono::hours kBlobPinned{24};

// Large bytes, stored once by content. A blob lives as long as a message names it, and for
// kBlobPinned after it was last put, by whomever; then the next purges, and puts, remove it.
class BlobReader {
 public:
  virtual ~BlobReader() = default;
  // In pieces of at most 1 MiB, in order. not_found when missing, corrupt when the content does
  // not have the hash (after the last piece).
  virtual Result<> read_blob(const BlobHash& hash,
                             const std::function<Flow(std::string_view)>& sink) = 0;
};

class Blobs : public BlobReader {
 public:
  // Putting what is there already pins it anew.
  virtual Result<BlobHash> put_blob(std::string_view bytes) = 0;
};

// What may still hold words of purged sessions.
struct Remnant {
  std::string where;   // a file, or what else it is
  std::string reason;  // why, and what ends it
  friend bool operator==(const Remnant&, const Remnant&) = default;
};

class Trash {
 public:
  virtual ~Trash() = default;
  // Hides the session from lists until restore(); nothing is removed. Trashing twice is fine.
  virtual Result<> trash(const SessionId& id, Time when) = 0;
  // Back to the state it had. invalid_argument when it is not in the trash. update() cannot do it.
  virtual Result<> restore(const SessionId& id) = 0;
  // For good, whether it was in the trash or not; the id is free again. conflict, naming them,
  // while other sessions share its messages. Works on a full disk. Costs what the session has, not
  // what the store has. Its words leave the store's own files, too: see remnants() for what is
  // left.
  virtual Result<> purge(const SessionId& id) = 0;
  // Looks for what may hold words of sessions purged before, and the store cannot take out or must
  // not: a log that readers keep, copies made before a migration, blobs that are pinned.
  virtual Result<std::vector<Remnant>> remnants() { return {}; }
};

struct VerifyReport {
  std::int64_t sessions = 0;
  std::int64_t messages = 0;
  std::int64_t messages_lost = 0;  // known to have been there; only damaged databases tell
  std::vector<Damage> damage;
};

class Verifying {
 public:
  virtual ~Verifying() = default;
  // Reads everything, changes nothing.
  virtual Result<VerifyReport> verify() = 0;
};

class Repair : public Verifying {
 public:
  // Writes a new store with all that can be read; what cannot is kept in it as it is, and listed.
  // The damaged one is not changed. conflict when `target` exists; corrupt, and no new store, when
  // no session and no message can be read any more.
  virtual Result<VerifyReport> repair_into(const std::filesystem::path& target) = 0;
};

class Backup {
 public:
  virtual ~Backup() = default;
  // A consistent snapshot of the whole store, while others go on writing. conflict when `target`
  // exists; it appears complete and synced, or not at all.
  virtual Result<> backup(const std::filesystem::path& target) = 0;
};

// Groups of sessions that know nothing of each other, in one store.
class Tenants {
 public:
  virtual ~Tenants() = default;
  // The sessions of another tenant, over the same connections: it opens none, so that one process
  // can serve any number of tenants. It may outlive this store. invalid_argument for a name that is
  // not one of 1 to 200 of A-Z a-z 0-9 . _ : @ + -.
  virtual Result<std::unique_ptr<Store>> of(std::string_view tenant) = 0;
};

// For stores on a server that knows who uses it.
class UserReader {
 public:
  virtual ~UserReader() = default;
  // Its name for them; nullopt when it is no name of a person's length.
  virtual Result<std::optional<Author>> user() = 0;
};

// Proof that nobody but the owner's programs wrote a session.
enum class Signature : std::uint8_t {
  verified,
  unverifiable,  // signed, but what would prove it is not here
  not_signed,
  failed,  // changed since it was signed
};
std::string_view to_string(
    Signature signature);  // "verified", "unverifiable", "unsigned", "failed"

// A session whose signature failed can be read, but every change is refused with corrupt.
class SignatureReader {
 public:
  virtual ~SignatureReader() = default;
  virtual Result<Signature> signature(const SessionId& id) = 0;
};

class Signatures : public SignatureReader {
 public:
  // Takes the session as it is: it can be changed again, and is signed where that is possible.
  virtual Result<> accept(const SessionId& id) = 0;
};

}  // namespace reprise
