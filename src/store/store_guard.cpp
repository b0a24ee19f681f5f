#include <pthread.h>
#include <unistd.h>

#include <atomic>

#include "model/texts.h"
#include "reprise/capabilities.h"
#include "store/call.h"
#include "store/provide.h"

namespace reprise::store {
namespace {

std::atomic<std::uint64_t>& fork_count() {
  static std::atomic<std::uint64_t> count = 0;
  return count;
}

// If the handler cannot be registered for lack of memory, only the pid is compared.
std::uint64_t forks_so_far() {
  static const int registered =
      ::pthread_atfork(nullptr, nullptr, [] { fork_count().fetch_add(1); });
  (void)registered;
  return fork_count().load();
}

// The process that an object was created in. A forked child has copies of all objects of its
// parent, but none of its threads, and shares its open files, locks and connections: it must not
// use them.
class CreatingProcess {
 public:
  // False in a forked child, even if its PID namespace gives it the pid of its parent. Lock-free.
  bool is_current() const { return forks_ == fork_count().load() && pid_ == ::getpid(); }

 private:
  int pid_ = ::getpid();
  std::uint64_t forks_ = forks_so_far();  // fork count when the object was created
};

Result<> check(const CreatingProcess& process) {
  if (process.is_current()) {
    return {};
  }
  return fail(Code::unsupported,
              "this store was opened before fork(), by another process: open it again in this one");
}

Result<> check(const AppendOptions& options) {
  if (const auto& begin = options.begin_partial; begin) {
    REPRISE_TRY(model::check_text("provider", begin->provider));
    REPRISE_TRY(model::check_text("model", begin->model));
  }
  return {};
}

// The edits of todos that this thread is in. They must not call their store, which would wait for
// itself.
class Edit {
 public:
  explicit Edit(const void* store) : store_(store), outer_(current()) { current() = this; }
  ~Edit() { current() = outer_; }
  Edit(const Edit&) = delete;
  Edit& operator=(const Edit&) = delete;

  static Result<> check_outside(const void* store) {
    for (const Edit* edit = current(); edit != nullptr; edit = edit->outer_) {
      if (edit->store_ == store) {
        return fail(Code::invalid_argument, "an edit of todos must not call the store");
      }
    }
    return {};
  }

 private:
  static const Edit*& current() {
    static thread_local const Edit* edit = nullptr;
    return edit;
  }

  const void* store_;
  const Edit* outer_;
};

using BlobSink = std::function<Flow(std::string_view)>;

class StoreGuard final : public Store,
                         public DeferredCreation,
                         public AtomicCreation,
                         public Rewriting,
                         public Forking,
                         public Partials,
                         public LastMessageReader,
                         public MessageFinder,
                         public ShortSessionReader,
                         public ChangeReader,
                         public Responses,
                         public Todos,
                         public Artefacts,
                         public TurnRecording,
                         public Archives,
                         public CurrentSession,
                         public Blobs,
                         public Trash,
                         public Signatures,
                         public Repair,
                         public Backup,
                         public UserReader,
                         public WordIndex,
                         public Tenants {
 public:
  StoreGuard(std::unique_ptr<Store> inner, const CallOptions& options)
      : inner_(std::move(inner)), options_(options) {
    for_each_interface(guarded_, [this]<class Interface>(Interface*& interface) {
      interface = interface != nullptr ? this : nullptr;
    });
  }
  // The child leaks its copy: the locks, connections, threads and files in it belong to the parent.
  ~StoreGuard() override {
    if (!process_.is_current()) {
      (void)inner_.release();
    }
  }
  StoreGuard(const StoreGuard&) = delete;
  StoreGuard& operator=(const StoreGuard&) = delete;
  StoreGuard(StoreGuard&&) = delete;
  StoreGuard& operator=(StoreGuard&&) = delete;

  const Capabilities& capabilities() const override { return guarded_; }

  Result<> create(const Session& session) override {
    REPRISE_TRY(model::check(session));
    return run("create", [&] { return inner_->create(session); });
  }
  Result<std::optional<Session>> find(const SessionId& id) override {
    return run("find", [&] { return inner_->find(id); });
  }
  Result<> update(const SessionId& id, const SessionPatch& patch) override {
    REPRISE_TRY(model::check(patch));
    return run("update", [&] { return inner_->update(id, patch); });
  }
  Result<SessionPage> list(const SessionQuery& query) override {
    return run("list", [&] { return inner_->list(query); });
  }
  Result<AppendResult> append(const SessionId& id, std::vector<Message> messages,
                              AppendOptions options) override {
    REPRISE_TRY(check(options));
    REPRISE_TRY(model::check(messages));
    return run("append",
               [&] { return inner_->append(id, std::move(messages), std::move(options)); });
  }
  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override {
    return run("read", sink,
               [&](const MessageSink& timed) { return inner_->read(id, range, timed); });
  }
  Result<> begin(const Session& session) override {
    REPRISE_TRY(model::check(session));
    return run("begin", [&] { return interfaces_.deferred_creation->begin(session); });
  }
  Result<> create_with(const Session& session, std::vector<Message> messages) override {
    REPRISE_TRY(model::check(session));
    REPRISE_TRY(model::check(messages));
    return run("create_with", [&] {
      return interfaces_.atomic_creation->create_with(session, std::move(messages));
    });
  }
  Result<AppendResult> replace_suffix(const SessionId& id, Seq from, std::vector<Message> messages,
                                      AppendOptions options) override {
    REPRISE_TRY(check(options));
    REPRISE_TRY(model::check(messages));
    return run("replace_suffix", [&] {
      return interfaces_.rewriting->replace_suffix(id, from, std::move(messages),
                                                   std::move(options));
    });
  }
  Result<std::int64_t> count_replaced(const SessionId& id) override {
    return run("count_replaced", [&] { return interfaces_.replaced_reader->count_replaced(id); });
  }
  Result<ReadReport> read_replaced(const SessionId& id, const MessageSink& sink) override {
    return run("read_replaced", sink, [&](const MessageSink& timed) {
      return interfaces_.replaced_reader->read_replaced(id, timed);
    });
  }
  Result<> fork(const SessionId& parent, Seq at, const Session& child) override {
    REPRISE_TRY(model::check(child));
    return run("fork", [&] { return interfaces_.forking->fork(parent, at, child); });
  }
  std::chrono::milliseconds partial_interval() const override {
    return interfaces_.partials->partial_interval();
  }
  Result<> add_partial(const SessionId& id, const OperationId& answer,
                       std::span<const Block> delta) override {
    return run("add_partial", [&] { return interfaces_.partials->add_partial(id, answer, delta); });
  }
  Result<> renew_lease(const SessionId& id, const OperationId& answer,
                       const Lease& lease) override {
    return run("renew_lease", [&] { return interfaces_.partials->renew_lease(id, answer, lease); });
  }
  Result<std::optional<Partial>> find_partial(const SessionId& id) override {
    return run("find_partial", [&] { return interfaces_.partial_reader->find_partial(id); });
  }
  Result<std::vector<std::optional<Message>>> last_messages(
      std::span<const SessionId> ids) override {
    return run("last_messages",
               [&] { return interfaces_.last_message_reader->last_messages(ids); });
  }
  Result<std::vector<std::optional<Found>>> find_messages(
      std::span<const MessageRef> messages) override {
    return run("find_messages",
               [&] { return interfaces_.message_finder->find_messages(messages); });
  }
  Result<std::vector<std::optional<std::vector<Message>>>> short_sessions(
      std::span<const SessionId> ids) override {
    return run("short_sessions",
               [&] { return interfaces_.short_session_reader->short_sessions(ids); });
  }
  Result<SessionChanges> changes_since(std::string_view position) override {
    return run("changes_since", [&] { return interfaces_.change_reader->changes_since(position); });
  }
  Result<> add_response(const Session& session, const Message& answer,
                        const OperationId& operation) override {
    REPRISE_TRY(model::check(session));
    REPRISE_TRY(model::check(answer));
    return run("add_response",
               [&] { return interfaces_.responses->add_response(session, answer, operation); });
  }
  Result<std::vector<Todo>> todos(const SessionId& id) override {
    return run("todos", [&] { return interfaces_.todo_reader->todos(id); });
  }
  Result<std::vector<Todo>> edit_todos(
      const SessionId& id, const std::function<Result<>(std::vector<Todo>&)>& edit) override {
    const auto checked = [this, &edit](std::vector<Todo>& todos) -> Result<> {
      const Edit scope(this);
      REPRISE_TRY(edit(todos));
      return model::check(todos);
    };
    return run("edit_todos", [&] { return interfaces_.todos->edit_todos(id, checked); });
  }
  Result<> save_artefact(const SessionId& id, Step step, std::string_view name,
                         std::string_view bytes) override {
    return run("save_artefact",
               [&] { return interfaces_.artefacts->save_artefact(id, step, name, bytes); });
  }
  Result<> append_artefact(const SessionId& id, Step step, std::string_view name,
                           std::string_view bytes) override {
    return run("append_artefact",
               [&] { return interfaces_.artefacts->append_artefact(id, step, name, bytes); });
  }
  Result<std::optional<std::string>> find_artefact(const SessionId& id, Step step,
                                                   std::string_view name) override {
    return run("find_artefact",
               [&] { return interfaces_.artefact_reader->find_artefact(id, step, name); });
  }
  Result<std::vector<Entry>> list_artefacts(const SessionId& id) override {
    return run("list_artefacts", [&] { return interfaces_.artefact_reader->list_artefacts(id); });
  }
  Result<std::vector<std::string>> list_unlisted(const SessionId& id) override {
    return run("list_unlisted", [&] { return interfaces_.artefact_reader->list_unlisted(id); });
  }
  Result<std::unique_ptr<TurnRecorder>> record_turn(const SessionId& id,
                                                    const RecordedTurn& turn) override {
    return run("record_turn", [&] { return interfaces_.turn_recording->record_turn(id, turn); });
  }
  Result<> archive(const SessionId& id, Time when) override {
    return run("archive", [&] { return interfaces_.archives->archive(id, when); });
  }
  Result<> unarchive(const SessionId& id) override {
    return run("unarchive", [&] { return interfaces_.archives->unarchive(id); });
  }
  Result<std::optional<SessionId>> current() override {
    return run("current", [&] { return interfaces_.current_session->current(); });
  }
  Result<> set_current(const std::optional<SessionId>& id) override {
    return run("set_current", [&] { return interfaces_.current_session->set_current(id); });
  }
  Result<BlobHash> put_blob(std::string_view bytes) override {
    return run("put_blob", [&] { return interfaces_.blobs->put_blob(bytes); });
  }
  Result<> read_blob(const BlobHash& hash,
                     const std::function<Flow(std::string_view)>& sink) override {
    return run("read_blob", sink, [&](const BlobSink& timed) {
      return interfaces_.blob_reader->read_blob(hash, timed);
    });
  }
  Result<> trash(const SessionId& id, Time when) override {
    return run("trash", [&] { return interfaces_.trash->trash(id, when); });
  }
  Result<> restore(const SessionId& id) override {
    return run("restore", [&] { return interfaces_.trash->restore(id); });
  }
  Result<> purge(const SessionId& id) override {
    return run("purge", [&] { return interfaces_.trash->purge(id); });
  }
  Result<std::vector<Remnant>> remnants() override {
    return run("remnants", [&] { return interfaces_.trash->remnants(); });
  }
  Result<Signature> signature(const SessionId& id) override {
    return run("signature", [&] { return interfaces_.signature_reader->signature(id); });
  }
  Result<> accept(const SessionId& id) override {
    return run("accept", [&] { return interfaces_.signatures->accept(id); });
  }
  Result<VerifyReport> verify() override {
    return run("verify", [&] { return interfaces_.verifier->verify(); });
  }
  Result<VerifyReport> repair_into(const std::filesystem::path& target) override {
    return run("repair_into", [&] { return interfaces_.repair->repair_into(target); });
  }
  Result<> backup(const std::filesystem::path& target) override {
    return run("backup", [&] { return interfaces_.backup->backup(target); });
  }
  Result<std::optional<Author>> user() override {
    return run("user", [&] { return interfaces_.user_reader->user(); });
  }
  Result<bool> index_words(const std::function<WordEntry(const Message&)>& entry_of,
                           const IndexProgress& on_progress) override {
    return run("index_words",
               [&] { return interfaces_.word_index->index_words(entry_of, on_progress); });
  }
  Result<std::vector<WordHit>> find_words(const WordQuery& query, std::string_view after,
                                          std::size_t limit) override {
    return run("find_words",
               [&] { return interfaces_.word_index->find_words(query, after, limit); });
  }
  Result<std::vector<double>> word_densities(const WordQuery& query) override {
    return run("word_densities", [&] { return interfaces_.word_index->word_densities(query); });
  }
  Result<std::unique_ptr<Store>> of(std::string_view tenant) override {
    return run("of", [&] { return interfaces_.tenants->of(tenant); });
  }
  Result<std::vector<std::string>> names() override {
    return run("names", [&] { return interfaces_.tenants->names(); });
  }
  Result<std::int64_t> forget_operations(std::chrono::hours age) override {
    return run("forget_operations", [&] { return interfaces_.tenants->forget_operations(age); });
  }

 private:
  // Runs `work`, but only in the process that opened the store.
  template <class Work>
  auto run(std::string_view name, const Work& work) -> decltype(work()) {
    REPRISE_TRY(check(process_));
    REPRISE_TRY(Edit::check_outside(this));
    Call call(options_, name);
    auto done = work();
    call.finish();
    return done;
  }
  // The same for functions that pass pieces to `sink`.
  template <class Sink, class Work>
  auto run(std::string_view name, const Sink& sink, const Work& work) -> decltype(work(sink)) {
    REPRISE_TRY(check(process_));
    REPRISE_TRY(Edit::check_outside(this));
    Call call(options_, name);
    auto done = work(call.without_time_of(sink));
    call.finish();
    return done;
  }

  const CreatingProcess process_;
  std::unique_ptr<Store> inner_;
  const CallOptions options_;
  const Capabilities& interfaces_ = inner_->capabilities();
  Capabilities guarded_ = interfaces_;
};

}  // namespace

std::unique_ptr<Store> guard(std::unique_ptr<Store> store, const CallOptions& options) {
  return std::make_unique<StoreGuard>(std::move(store), options);
}

}  // namespace reprise::store
