#pragma once

// The store for formats whose files are read and replaced as a whole: sessions:, context: and
// chain:, each with its own DocumentFormat.

#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "reprise/store.h"

namespace reprise::store {

class DocumentFormat;
class Documents;

class DocumentStore final : public Store,
                            public DeferredCreation,
                            public AtomicCreation,
                            public Rewriting,
                            public Partials,
                            public Responses,
                            public Todos,
                            public Archives,
                            public Trash,
                            public Signatures,
                            public Repair,
                            public Backup {
 public:
  // Creates nothing until something is written.
  DocumentStore(std::unique_ptr<DocumentFormat> format, const StoreOptions& options);
  ~DocumentStore() override;
  DocumentStore(const DocumentStore&) = delete;
  DocumentStore& operator=(const DocumentStore&) = delete;

  // document_store.cpp
  Result<> create(const Session& session) override;
  Result<std::optional<Session>> find(const SessionId& id) override;
  Result<> update(const SessionId& id, const SessionPatch& patch) override;
  Result<SessionPage> list(const SessionQuery& query) override;
  Result<AppendResult> append(const SessionId& id, std::vector<Message> messages,
                              AppendOptions options) override;
  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override;
  const Capabilities& capabilities() const override { return capabilities_; }

  // document_capabilities.cpp
  Result<> begin(const Session& session) override;
  Result<> create_with(const Session& session, std::vector<Message> messages) override;
  Result<AppendResult> replace_suffix(const SessionId& id, Seq from, std::vector<Message> messages,
                                      AppendOptions options) override;
  Result<std::int64_t> count_replaced(const SessionId& id) override;
  Result<ReadReport> read_replaced(const SessionId& id, const MessageSink& sink) override;
  Result<> add_partial(const SessionId& id, const OperationId& answer,
                       std::span<const Block> delta) override;
  Result<> renew_lease(const SessionId& id, const OperationId& answer, const Lease& lease) override;
  Result<std::optional<Partial>> find_partial(const SessionId& id) override;
  Result<> add_response(const Session& session, const Message& answer,
                        const OperationId& operation) override;
  Result<std::vector<Todo>> todos(const SessionId& id) override;
  Result<std::vector<Todo>> edit_todos(
      const SessionId& id, const std::function<Result<>(std::vector<Todo>&)>& edit) override;
  Result<> archive(const SessionId& id, Time when) override;
  Result<> unarchive(const SessionId& id) override;
  Result<> trash(const SessionId& id, Time when) override;
  Result<> restore(const SessionId& id) override;
  Result<> purge(const SessionId& id) override;
  Result<std::vector<Remnant>> remnants() override;
  Result<Signature> signature(const SessionId& id) override;
  Result<> accept(const SessionId& id) override;
  Result<VerifyReport> verify() override;
  Result<VerifyReport> repair_into(const std::filesystem::path& target) override;
  Result<> backup(const std::filesystem::path& target) override;

 private:
  // conflict if this answer is not running.
  Result<std::filesystem::path> partial_file_of(const SessionId& id, const OperationId& answer);

  const std::unique_ptr<DocumentFormat> format_;
  const std::unique_ptr<Documents> documents_;
  const Capabilities capabilities_;
};

std::unique_ptr<Store> make_document_store(std::unique_ptr<DocumentFormat> format,
                                           const StoreOptions& options);

// An append, or, if `from` is set, a replacement of the messages from there on.
struct DocumentWrite {
  std::optional<Seq> from;
  std::vector<Message> messages;
  const AppendOptions& options;
};
// According to the rules of stores; in the file, or beside it while the turn is incomplete.
Result<AppendResult> write_document(const DocumentFormat& format, Documents& documents,
                                    const SessionId& id, DocumentWrite write);

}  // namespace reprise::store
