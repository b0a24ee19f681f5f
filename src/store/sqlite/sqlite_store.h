#pragma once

// The store for one SQLite database (docs/formats/sqlite.md).

#include "reprise/capabilities.h"
#include "reprise/store.h"
#include "store/provide.h"
#include "store/sqlite/database.h"
#include "store/sqlite/original.h"

namespace reprise::sqlite {

class SqliteStore final : public Store,
                          public DeferredCreation,
                          public ChangeReader,
                          public MessageFinder,
                          public Rewriting,
                          public Forking,
                          public Partials,
                          public Todos,
                          public Artefacts,
                          public Archives,
                          public Blobs,
                          public Trash,
                          public Repair,
                          public Backup {
 public:
  explicit SqliteStore(std::unique_ptr<Database> database) : owned_(std::move(database)) {}

  // sqlite_store.cpp
  Result<> create(const Session& session) override;
  Result<std::optional<Session>> find(const SessionId& id) override;
  Result<> update(const SessionId& id, const SessionPatch& patch) override;
  Result<AppendResult> append(const SessionId& id, std::vector<Message> messages,
                              AppendOptions options) override;
  const Capabilities& capabilities() const override { return capabilities_; }
  Result<> begin(const Session& session) override;
  Result<AppendResult> replace_suffix(const SessionId& id, Seq from, std::vector<Message> messages,
                                      AppendOptions options) override;
  Result<std::int64_t> count_replaced(const SessionId& id) override;
  Result<> fork(const SessionId& parent, Seq at, const Session& child) override;
  Result<> backup(const std::filesystem::path& target) override;

  // changes.cpp
  Result<SessionChanges> changes_since(std::string_view position) override;

  // list.cpp
  Result<SessionPage> list(const SessionQuery& query) override;

  // read.cpp
  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override;
  Result<ReadReport> read_replaced(const SessionId& id, const MessageSink& sink) override;
  Result<std::vector<std::optional<Found>>> find_messages(
      std::span<const MessageRef> messages) override;

  // partials.cpp
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

  // blobs.cpp
  Result<BlobHash> put_blob(std::string_view bytes) override;
  Result<> read_blob(const BlobHash& hash,
                     const std::function<Flow(std::string_view)>& sink) override;

  // sessions.cpp
  Result<> archive(const SessionId& id, Time when) override;
  Result<> unarchive(const SessionId& id) override;

  // trash.cpp
  Result<> trash(const SessionId& id, Time when) override;
  Result<> restore(const SessionId& id) override;
  Result<> purge(const SessionId& id) override;
  Result<std::vector<Remnant>> remnants() override;

  // verify.cpp
  Result<VerifyReport> verify() override;

  // repair.cpp
  Result<VerifyReport> repair_into(const std::filesystem::path& target) override;

 private:
  Result<> create(const Session& session, Durability durability);
  Result<VerifyReport> repair(const Database::Reader& reader, const std::filesystem::path& target);

  const std::unique_ptr<Database> owned_;
  Database& database_ = *owned_;
  ResultBlobs result_blobs_;
  const Capabilities capabilities_ = store::capabilities_of(*this, {.lists_by_author = true});
};

}  // namespace reprise::sqlite
