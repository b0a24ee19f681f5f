#pragma once

// The reference implementation of the contract, in memory and kept simple. One mutex guards
// everything; readers hold it only while they fetch one message.

#include <map>
#include <mutex>
#include <set>

#include "reprise/environment.h"
#include "reprise/message.h"
#include "reprise/store.h"
#include "store/provide.h"
#include "store/stored_session.h"

namespace reprise::store {

// The blobs: their bytes, the sessions that reference them, and the times of their puts.
class BlobTable {
 public:
  explicit BlobTable(Clock& clock) : clock_(clock) {}

  void put(const BlobHash& hash, std::string_view bytes);
  // Null if the blob does not exist.
  const std::string* find(const BlobHash& hash) const;
  // Records that the session references the blobs of these blocks.
  void add_references(const SessionId& id, const std::vector<Block>& blocks);
  // Drops the session's references; blobs without any other are removed unless they were put
  // recently.
  void release(const SessionId& id);

 private:
  void pin(const BlobHash& hash, Time put_at);
  void collect();

  Clock& clock_;
  std::map<BlobHash, std::string> bytes_;
  std::map<SessionId, std::set<BlobHash>> references_of_;
  std::map<BlobHash, int> reference_counts_;
  std::map<BlobHash, Time> pins_;  // of those that are unreferenced or were put recently
  std::set<std::pair<Time, BlobHash>> pins_by_time_;
};

class MemoryStore final : public Store,
                          public Rewriting,
                          public Forking,
                          public Partials,
                          public Todos,
                          public Artefacts,
                          public Archives,
                          public Blobs,
                          public Trash {
 public:
  explicit MemoryStore(Clock& clock) : blobs_(clock) {}

  Result<> create(const Session& session) override;
  Result<std::optional<Session>> find(const SessionId& id) override;
  Result<> update(const SessionId& id, const SessionPatch& patch) override;
  Result<SessionPage> list(const SessionQuery& query) override;
  Result<AppendResult> append(const SessionId& id, std::vector<Message> messages,
                              AppendOptions options) override;
  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override;
  const Capabilities& capabilities() const override { return capabilities_; }

  Result<AppendResult> replace_suffix(const SessionId& id, Seq from, std::vector<Message> messages,
                                      AppendOptions options) override;
  Result<std::int64_t> count_replaced(const SessionId& id) override;
  Result<ReadReport> read_replaced(const SessionId& id, const MessageSink& sink) override;
  Result<> fork(const SessionId& parent, Seq at, const Session& child) override;
  Result<> add_partial(const SessionId& id, const OperationId& answer,
                       std::span<const Block> delta) override;
  Result<> renew_lease(const SessionId& id, const OperationId& answer, const Lease& lease) override;
  Result<std::optional<Partial>> find_partial(const SessionId& id) override;
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
  Result<BlobHash> put_blob(std::string_view bytes) override;
  Result<> read_blob(const BlobHash& hash,
                     const std::function<Flow(std::string_view)>& sink) override;
  Result<> archive(const SessionId& id, Time when) override;
  Result<> unarchive(const SessionId& id) override;
  Result<> trash(const SessionId& id, Time when) override;
  Result<> restore(const SessionId& id) override;
  Result<> purge(const SessionId& id) override;

 private:
  // The caller holds the mutex. not_found for an unknown session.
  Result<StoredSession*> get(const SessionId& id);
  Result<StoredSession*> get_running(const SessionId& id, const OperationId& answer);
  // Like write_messages(); also records the session's references to the blobs of the batch.
  Result<AppendResult> write(StoredSession& stored, Seq from, std::vector<Message> messages,
                             const AppendOptions& options);
  Result<> check_unshared(const SessionId& id) const;

  std::mutex mutex_;  // guards the members below
  std::map<SessionId, StoredSession> sessions_;
  BlobTable blobs_;
  const Capabilities capabilities_ = capabilities_of(*this, {.lists_at_once = true});
};

}  // namespace reprise::store
