#pragma once

// Optional interfaces of stores. `store.capabilities()` returns a pointer to each one that the
// store implements, or null; there are no casts, and no function exists only to return an error.
// Threads, errors and durability are as for Store: changes are durable on disk unless stated
// otherwise.

#include <cstddef>      // IWYU pragma: export
#include <cstdint>      // IWYU pragma: export
#include <filesystem>   // IWYU pragma: export
#include <functional>   // IWYU pragma: export
#include <memory>       // IWYU pragma: export
#include <optional>     // IWYU pragma: export
#include <span>         // IWYU pragma: export
#include <string>       // IWYU pragma: export
#include <string_view>  // IWYU pragma: export
#include <utility>      // IWYU pragma: export
#include <variant>      // IWYU pragma: export
#include <vector>       // IWYU pragma: export

#include "reprise/source.h"  // IWYU pragma: export

namespace reprise {

class Store;
struct AppendResult;
struct AppendOptions;

// Creates a session whose first messages are appended right afterwards.
class DeferredCreation {
 public:
  virtual ~DeferredCreation() = default;
  // Like Store::create(), but with Durability::os: the first append makes session and messages
  // durable on disk, with one sync.
  virtual Result<> begin(const Session& session) = 0;
};

// For stores whose sessions share nothing and that can create a session together with its messages.
class AtomicCreation {
 public:
  virtual ~AtomicCreation() = default;
  // Store::create() followed by append() of the messages, as one atomic step: readers see the
  // session with all messages, or not at all. Durable on disk.
  virtual Result<> create_with(const Session& session, std::vector<Message> messages) = 0;
};

class ReplacedReader {
 public:
  virtual ~ReplacedReader() = default;
  // The number of replaced messages of the session that the store retains, without those that
  // ArtefactReader returns, too. not_found for an unknown session.
  virtual Result<std::int64_t> count_replaced(const SessionId& id) = 0;
  // Reads all replaced messages with the seqs that they had, in the order in which they were
  // replaced; several may have the same seq. Damage is reported as by Source::read().
  virtual Result<ReadReport> read_replaced(const SessionId& id, const MessageSink& sink) = 0;
};

// Retry and rewind.
class Rewriting : public ReplacedReader {
 public:
  // Replaces the messages from `from` on with the batch, in one step. Replaced messages are not
  // destroyed: forks that share them keep them, the store retains them until the session is purged,
  // and their usage stays in the sums. Everything else is as for append(). invalid_argument when
  // `from` is beyond the head.
  virtual Result<AppendResult> replace_suffix(const SessionId& id, Seq from,
                                              std::vector<Message> messages,
                                              AppendOptions options) = 0;
};

class Forking {
 public:
  virtual ~Forking() = default;
  // Creates `child`, which shares the parent's messages before `at`, in constant time. Nothing else
  // is shared: the child's usage counts its own requests only. Everything else is as for create(),
  // except that forked_from is derived from the arguments. invalid_argument when `at` is beyond the
  // parent's head.
  virtual Result<> fork(const SessionId& parent, Seq at, const Session& child) = 0;
};

struct Partial {
  OperationId answer;
  Owner owner;
  std::string provider;
  std::string model;
  Time started_at;
  std::vector<Block> blocks;  // received so far
};

class PartialReader {
 public:
  virtual ~PartialReader() = default;
  // nullopt while no answer is running.
  virtual Result<std::optional<Partial>> find_partial(const SessionId& id) = 0;
};

// Running answers: started and ended by append(), saved in between so that a crash loses little.
class Partials : public PartialReader {
 public:
  // How long received blocks are buffered before add_partial() is called. Including the write
  // itself, the default stays below the 50 ms promised for stores in files.
  virtual std::chrono::milliseconds partial_interval() const {
    return std::chrono::milliseconds(36);
  }
  // Appends what was received since the last call: the first block continues the last stored one
  // when both are text, thinking, or the same tool use (the pieces of its input as JSON strings).
  // Durability::os. conflict when this answer is not running.
  virtual Result<> add_partial(const SessionId& id, const OperationId& answer,
                               std::span<const Block> delta) = 0;
  // Replaces the lease in the answer's owner, as returned by Source::find() and list(). Does not
  // check who calls. Durability::os. conflict when this answer is not running.
  virtual Result<> renew_lease(const SessionId& id, const OperationId& answer,
                               const Lease& lease) = 0;
};

// For sources where each call costs a round trip.
class LastMessageReader {
 public:
  virtual ~LastMessageReader() = default;
  // The last message of each session, in the order of `ids`. nullopt: there is none, or it must be
  // fetched with read() because it is long or shared with another session.
  virtual Result<std::vector<std::optional<Message>>> last_messages(
      std::span<const SessionId> ids) = 0;
};

// For callers that need single messages of many sessions, such as search results.
class MessageFinder {
 public:
  struct MessageRef {
    SessionId session;
    Seq seq;
  };
  struct Found {
    SessionInfo session;
    Message message;
    bool has_unique_short_id = false;  // no other session has its short_id(); false if unknown
  };
  virtual ~MessageFinder() = default;
  // In the order of `messages`. nullopt: there is no such message, or it must be fetched with
  // find() and read() because it is long, damaged or shared with another session.
  virtual Result<std::vector<std::optional<Found>>> find_messages(
      std::span<const MessageRef> messages) = 0;
};

// For callers that read many sessions, such as statistics.
class ShortSessionReader {
 public:
  virtual ~ShortSessionReader() = default;
  // The messages of each session, in the order of `ids`, of which 64 are fetched at a time.
  // nullopt: they must be fetched with read() because they are many, long, damaged or shared with
  // another session, or there is no such session.
  virtual Result<std::vector<std::optional<std::vector<Message>>>> short_sessions(
      std::span<const SessionId> ids) = 0;
};

struct SessionChanges {
  // False: the changes are unknown, and the caller must list(). All members but `position` are
  // empty.
  bool is_known = false;
  // Sessions that were created, appended to, rewound or moved to another folder. Sessions of which
  // only the title or the open or closed state changed may be missing.
  std::vector<SessionInfo> sessions = {};
  // All sessions in the trash, when that set has changed.
  std::optional<std::vector<SessionId>> trashed = std::nullopt;
  std::string position = {};  // for the next call
};

// For callers that follow a source and would otherwise list all of it each time.
class ChangeReader {
 public:
  virtual ~ChangeReader() = default;
  // The changes since `position`, which an earlier call returned ("" for the first call). The
  // changes are unknown after a purge, and when `position` is from another source.
  virtual Result<SessionChanges> changes_since(std::string_view position) = 0;
};

// What a store indexes of a message, and queries of that index. A word is a string of letters and
// digits, as split by the caller. Words of more than 2,000 bytes are not indexed.
struct WordEntry {
  std::vector<std::vector<std::string>> parts = {};  // at most 3; a phrase is within one of them
  std::vector<std::string> attributes = {};  // each starts with a byte that no word contains
  std::int64_t bytes = 0;                    // of the texts
};
struct WordPhrase {  // consecutive words
  std::vector<std::string> words;
  bool prefix = false;   // the last word is a prefix
  bool without = false;  // exclude messages with it
};
struct WordQuery {
  std::vector<WordPhrase> phrases;  // all must match; the included ones come first
  std::vector<std::string> attributes = {};
  std::optional<std::size_t> part = std::nullopt;  // phrases are matched in this part only
  std::optional<std::string> working_dir = std::nullopt;
  std::optional<SessionId> session = std::nullopt;
  std::optional<Time> since = std::nullopt;
  std::optional<Time> until = std::nullopt;  // exclusive
  bool with_counts = false;
};
struct WordHit {
  SessionId session;
  Seq seq;
  Time time;  // of the message, or the nearest known time
  std::int64_t bytes = 0;
  // With counts: roughly how often each included phrase occurs, one byte each.
  std::string counts = {};
  bool is_certain = true;  // false: all words occur, but only the text tells whether phrases do
  std::string place = {};  // position in the order of hits
};

// For stores that index the words of their messages themselves, shared by all clients. append()
// does not index.
class WordIndex {
 public:
  virtual ~WordIndex() = default;
  // `done` of about `total` messages. After Flow::stop indexing ends early; the work done is kept.
  using IndexProgress = std::function<Flow(std::int64_t done, std::int64_t total)>;
  // Indexes new messages, in batches: a killed process loses at most one batch. Returns false at
  // once while another process is indexing, and when it was stopped. Also works for a store that
  // was opened for reading.
  virtual Result<bool> index_words(const std::function<WordEntry(const Message&)>& entry_of,
                                   const IndexProgress& on_progress) = 0;
  // At most `limit` hits, newest first, after `place` of an earlier hit; "" for the first page.
  // Sessions in the trash are left out, and messages shared by forks are returned for one session
  // only. invalid_argument for a malformed place.
  virtual Result<std::vector<WordHit>> find_words(const WordQuery& query, std::string_view after,
                                                  std::size_t limit) = 0;
  // The estimated fraction of the messages that contains each included phrase.
  virtual Result<std::vector<double>> word_densities(const WordQuery& query) = 0;
};

// For stores without messages: the provider holds those, and the store holds the response ids.
class Responses {
 public:
  virtual ~Responses() = default;
  // Makes this response the last one of the conversation: its id is appended to the session's
  // response chain, unless it is in there already, and updated_at becomes the answer's created_at.
  // Everything else of the answer is ignored. A missing session is created as `session` in the same
  // step, so that it never exists without a response. Retries under the same operation id are
  // applied once.
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
  // The files that belong to this session alone: none for a branch, or for one of several in a
  // file.
  virtual Result<std::vector<File>> originals(const SessionId& id) = 0;
  // At most `count` bytes from `at` on; fewer at the end of the file. `file` is an index of
  // originals().
  virtual Result<std::string> read_original(const SessionId& id, std::size_t file, std::int64_t at,
                                            std::size_t count) = 0;
};

class TodoReader {
 public:
  virtual ~TodoReader() = default;
  // In order; not_found for an unknown session.
  virtual Result<std::vector<Todo>> todos(const SessionId& id) = 0;
};

class Todos : public TodoReader {
 public:
  // Reads, applies `edit` and writes, excluding other writers in between. Returns the new list.
  // `edit` must not call the store: its call returns invalid_argument.
  virtual Result<std::vector<Todo>> edit_todos(
      const SessionId& id, const std::function<Result<>(std::vector<Todo>&)>& edit) = 0;
};

// Files that a turn leaves behind: its prompt, answer, raw stream… A name is a relative path:
// components of 1 to 255 bytes between slashes, none of them "." or "..", without NUL. A store may
// reject names that it cannot hold with invalid_argument: names that are not UTF-8, and names of
// its own files.
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
  // What is not listed because it has no bytes of its own (links, pipes, empty folders), one line
  // each: "steps/001/x, a link".
  virtual Result<std::vector<std::string>> list_unlisted(const SessionId& /*id*/) {
    return std::vector<std::string>();
  }
};

class Artefacts : public ArtefactReader {
 public:
  virtual Result<> save_artefact(const SessionId& id, Step step, std::string_view name,
                                 std::string_view bytes) = 0;
  // Appends, creating the artefact when missing. Durability::os.
  virtual Result<> append_artefact(const SessionId& id, Step step, std::string_view name,
                                   std::string_view bytes) = 0;
};

// What is known when a turn starts.
struct RecordedTurn {
  std::vector<Block> question = {};  // empty when an answer is continued
  std::string provider = {};
  std::string model = {};
  std::optional<Seq> replaces = std::nullopt;  // this turn's answer replaces the message there
};

// Observes one turn, and stores what other programs that use the store expect to find afterwards.
// Called from one thread; only finish() waits for the store.
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
  // Stores everything that is still buffered. Returns the first failure, if any.
  virtual std::optional<Error> finish() = 0;
};

class TurnRecording {
 public:
  virtual ~TurnRecording() = default;
  // Starts recording a turn. The recorder must not outlive the store.
  virtual Result<std::unique_ptr<TurnRecorder>> record_turn(const SessionId& id,
                                                            const RecordedTurn& turn) = 0;
};

// Archived sessions can be found, read, and listed on request; resume_session() refuses them. A
// store of files packs an archived session into one file, which is read-only.
class Archives {
 public:
  virtual ~Archives() = default;
  // Secret headers are left out when the session is packed. Archiving twice is not an error. busy
  // while an answer is running, invalid_argument for a session in the trash.
  virtual Result<> archive(const SessionId& id, Time when) = 0;
  // Restores the session to active, or closed when it has a closed_at. invalid_argument when it is
  // not archived, conflict when another session has this id, corrupt for an archive that is not
  // safe to unpack.
  virtual Result<> unarchive(const SessionId& id) = 0;
};

// The current session is the one that programs continue by default.
class CurrentSession {
 public:
  virtual ~CurrentSession() = default;
  // nullopt when there is none, or when that session no longer exists.
  virtual Result<std::optional<SessionId>> current() = 0;
  // nullopt clears it. invalid_argument for a session in the archive or in the trash.
  virtual Result<> set_current(const std::optional<SessionId>& id) = 0;
};

// The minimum lifetime of a blob after it was put, even without a message that references it: the
// message may still be about to be stored.
inline constexpr std::chrono::hours kBlobPinned{24};

// Large bytes, stored once by content. A blob lives as long as a message references it, and for
// kBlobPinned after it was last put by any client; then the next purge or put removes it.
class BlobReader {
 public:
  virtual ~BlobReader() = default;
  // In pieces of at most 1 MiB, in order. not_found when missing, corrupt when the content does not
  // match the hash (reported after the last piece).
  virtual Result<> read_blob(const BlobHash& hash,
                             const std::function<Flow(std::string_view)>& sink) = 0;
};

class Blobs : public BlobReader {
 public:
  // Putting an existing blob pins it again.
  virtual Result<BlobHash> put_blob(std::string_view bytes) = 0;
};

// A place that may still contain words of purged sessions.
struct Remnant {
  std::string where;   // a file, or another place
  std::string reason;  // why, and what removes it
  friend bool operator==(const Remnant&, const Remnant&) = default;
};

class Trash {
 public:
  virtual ~Trash() = default;
  // Hides the session from lists until restore(); nothing is removed. Trashing twice is not an
  // error.
  virtual Result<> trash(const SessionId& id, Time when) = 0;
  // Restores the previous state. invalid_argument when it is not in the trash. update() cannot do
  // this.
  virtual Result<> restore(const SessionId& id) = 0;
  // Deletes the session permanently, whether it is in the trash or not; its id becomes free.
  // conflict, naming them, while other sessions share its messages. Works on a full disk. Takes
  // time proportional to the session, not to the store. The words are also erased from the store's
  // own files; remnants() returns the exceptions.
  virtual Result<> purge(const SessionId& id) = 0;
  // Finds what may contain words of purged sessions and cannot or must not be removed by the store:
  // a log in use by readers, copies made before a migration, pinned blobs.
  virtual Result<std::vector<Remnant>> remnants() { return {}; }
};

struct VerifyReport {
  std::int64_t sessions = 0;
  std::int64_t messages = 0;
  std::int64_t messages_lost = 0;  // known to have existed; only damaged databases report it
  std::vector<Damage> damage;
};

class Verifier {
 public:
  virtual ~Verifier() = default;
  // Reads everything and changes nothing.
  virtual Result<VerifyReport> verify() = 0;
};

class Repair : public Verifier {
 public:
  // Writes a new store with everything readable; unreadable parts are copied as they are, and
  // listed. The damaged store is not changed. conflict when `target` exists; corrupt, without a new
  // store, when neither a session nor a message is readable.
  virtual Result<VerifyReport> repair_into(const std::filesystem::path& target) = 0;
};

class Backup {
 public:
  virtual ~Backup() = default;
  // A consistent snapshot of the whole store, concurrent with other writers. conflict when `target`
  // exists; it appears complete and synced, or not at all.
  virtual Result<> backup(const std::filesystem::path& target) = 0;
};

// Isolated groups of sessions in one store.
class Tenants {
 public:
  virtual ~Tenants() = default;
  // The store of another tenant, over the same connections: it opens none, so that one process can
  // serve any number of tenants. It may outlive this store. invalid_argument for a name that is not
  // 1 to 200 characters of A-Z a-z 0-9 . _ : @ + -.
  virtual Result<std::unique_ptr<Store>> of(std::string_view tenant) = 0;
  // The tenants that have sessions and that the connected user may see, in order.
  virtual Result<std::vector<std::string>> names() = 0;
  // Deletes the operation ids of this tenant's sessions that have not changed for `age`, in small
  // transactions. Returns their number. A retry of a deleted operation is applied again.
  virtual Result<std::int64_t> forget_operations(std::chrono::hours age) = 0;
};

// For stores on a server that authenticates its users.
class UserReader {
 public:
  virtual ~UserReader() = default;
  // The name of the connected user; nullopt when it is too long for an Author.
  virtual Result<std::optional<Author>> user() = 0;
};

// Proof that only the owner's programs wrote a session.
enum class Signature : std::uint8_t {
  verified,
  unverifiable,  // signed, but the key is not available here
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
  // Accepts the session as it is: it can be changed again, and is signed if possible.
  virtual Result<> accept(const SessionId& id) = 0;
};

}  // namespace reprise
