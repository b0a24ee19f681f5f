#pragma once

// The store for one PostgreSQL database (docs/formats/postgres.md).

#include "reprise/capabilities.h"
#include "reprise/store.h"
#include "store/postgres/sessions.h"
#include "store/provide.h"

namespace reprise::postgres {

class Database;

class PostgresStore final : public Store,
                            public Rewriting,
                            public Forking,
                            public Partials,
                            public LastMessageReader,
                            public MessageFinder,
                            public ShortSessionReader,
                            public Todos,
                            public Artefacts,
                            public Archives,
                            public Blobs,
                            public Trash,
                            public Verifier,
                            public UserReader,
                            public WordIndex,
                            public Tenants {
 public:
  explicit PostgresStore(std::unique_ptr<Database> database);
  ~PostgresStore() override;
  PostgresStore(const PostgresStore&) = delete;
  PostgresStore& operator=(const PostgresStore&) = delete;

  // postgres_store.cpp
  Result<> create(const Session& session) override;
  Result<std::optional<Session>> find(const SessionId& id) override;
  Result<> update(const SessionId& id, const SessionPatch& patch) override;
  Result<AppendResult> append(const SessionId& id, std::vector<Message> messages,
                              AppendOptions options) override;
  const Capabilities& capabilities() const override { return capabilities_; }
  Result<AppendResult> replace_suffix(const SessionId& id, Seq from, std::vector<Message> messages,
                                      AppendOptions options) override;
  Result<std::int64_t> count_replaced(const SessionId& id) override;
  Result<> fork(const SessionId& parent, Seq at, const Session& child) override;
  Result<std::unique_ptr<Store>> of(std::string_view tenant) override;
  Result<std::optional<Author>> user() override;

  // list.cpp
  Result<SessionPage> list(const SessionQuery& query) override;

  // read.cpp
  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override;
  Result<ReadReport> read_replaced(const SessionId& id, const MessageSink& sink) override;
  Result<std::vector<std::optional<Message>>> last_messages(
      std::span<const SessionId> ids) override;
  Result<std::vector<std::optional<Found>>> find_messages(
      std::span<const MessageRef> refs) override;
  Result<std::vector<std::optional<std::vector<Message>>>> short_sessions(
      std::span<const SessionId> ids) override;

  // partials.cpp
  std::chrono::milliseconds partial_interval() const override;
  Result<> add_partial(const SessionId& id, const OperationId& answer,
                       std::span<const Block> delta) override;
  Result<> renew_lease(const SessionId& id, const OperationId& answer, const Lease& lease) override;
  Result<std::optional<Partial>> find_partial(const SessionId& id) override;

  // extras.cpp
  Result<std::vector<Todo>> todos(const SessionId& id) override;
  Result<std::vector<Todo>> edit_todos(
      const SessionId& id, const std::function<Result<>(std::vector<Todo>&)>& edit) override;
  Result<> save_artefact(const SessionId& id, Step step, std::string_view name,
                         std::string_view bytes) override;
  Result<> append_artefact(const SessionId& id, Step step, std::string_view name,
                           std::string_view bytes) override;
  Result<std::optional<std::string>> find_artefact(const SessionId& id, Step step,
                                                   std::string_view name) override;
  Result<std::vector<Entry>> list_artefacts(const SessionId& id) override;

  // sessions.cpp
  Result<> archive(const SessionId& id, Time when) override;
  Result<> unarchive(const SessionId& id) override;

  // trash.cpp
  Result<> trash(const SessionId& id, Time when) override;
  Result<> restore(const SessionId& id) override;
  Result<> purge(const SessionId& id) override;
  Result<std::vector<Remnant>> remnants() override;
  Result<BlobHash> put_blob(std::string_view bytes) override;
  Result<> read_blob(const BlobHash& hash,
                     const std::function<Flow(std::string_view)>& sink) override;

  // maintenance.cpp
  Result<std::vector<std::string>> names() override;
  Result<std::int64_t> forget_operations(std::chrono::hours age) override;

  // index_words.cpp
  Result<bool> index_words(const std::function<WordEntry(const Message&)>& entry_of,
                           const IndexProgress& on_progress) override;

  // find_words.cpp
  Result<std::vector<WordHit>> find_words(const WordQuery& query, std::string_view after,
                                          std::size_t limit) override;
  Result<std::vector<double>> word_densities(const WordQuery& query) override;

  // verify.cpp
  Result<VerifyReport> verify() override;

 private:
  Key key(const SessionId& id) const;
  void note_answers(const SessionId& id, const AppendOptions& options);
  Capabilities capabilities_here();

  const std::unique_ptr<Database> owned_;
  Database& database_ = *owned_;
  const Capabilities capabilities_ = capabilities_here();
};

}  // namespace reprise::postgres
