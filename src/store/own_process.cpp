#include "store/own_process.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/own_process.h"
#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"

namespace reprise::store {
namespace {

Result<> check(const OwnProcess& process) {
  if (process.is_here()) {
    return {};
  }
  return fail(Code::unsupported,
              "this store was opened before fork(), by another process: open it again in this one");
}

// What a store offers; nothing when it does not.
template <class Offer>
class Guarded : public Offer {
 public:
  Guarded(Offer* inner, const OwnProcess& process) : inner_(inner), process_(process) {}
  Offer* offered() { return inner_ != nullptr ? this : nullptr; }

 protected:
  Offer& inner() { return *inner_; }
  Result<> check() const { return store::check(process_); }

 private:
  Offer* inner_;
  const OwnProcess& process_;
};

class OwnBeginning final : public Guarded<Beginning> {
 public:
  using Guarded::Guarded;
  Result<> begin(const Session& session) override {
    REPRISE_TRY(check());
    return inner().begin(session);
  }
};

class OwnCreation final : public Guarded<Creation> {
 public:
  using Guarded::Guarded;
  Result<> create_with(const Session& session, std::vector<Message> messages) override {
    REPRISE_TRY(check());
    return inner().create_with(session, std::move(messages));
  }
};

class OwnRewriting final : public Guarded<Rewriting> {
 public:
  using Guarded::Guarded;
  Result<Appended> replace_suffix(const SessionId& id, Seq from, std::vector<Message> messages,
                                  AppendOptions options) override {
    REPRISE_TRY(check());
    return inner().replace_suffix(id, from, std::move(messages), std::move(options));
  }
  Result<std::int64_t> count_replaced(const SessionId& id) override {
    REPRISE_TRY(check());
    return inner().count_replaced(id);
  }
};

class OwnForking final : public Guarded<Forking> {
 public:
  using Guarded::Guarded;
  Result<> fork(const SessionId& parent, Seq at, const Session& child) override {
    REPRISE_TRY(check());
    return inner().fork(parent, at, child);
  }
};

class OwnPartials final : public Guarded<Partials> {
 public:
  using Guarded::Guarded;
  Result<> add(const SessionId& id, const OperationId& answer,
               std::span<const Block> delta) override {
    REPRISE_TRY(check());
    return inner().add(id, answer, delta);
  }
  Result<> renew(const SessionId& id, const OperationId& answer, const Lease& lease) override {
    REPRISE_TRY(check());
    return inner().renew(id, answer, lease);
  }
  Result<std::optional<Partial>> find(const SessionId& id) override {
    REPRISE_TRY(check());
    return inner().find(id);
  }
};

class OwnTodos final : public Guarded<Todos> {
 public:
  using Guarded::Guarded;
  Result<std::vector<Todo>> todos(const SessionId& id) override {
    REPRISE_TRY(check());
    return inner().todos(id);
  }
  Result<std::vector<Todo>> edit_todos(
      const SessionId& id, const std::function<Result<>(std::vector<Todo>&)>& edit) override {
    REPRISE_TRY(check());
    return inner().edit_todos(id, edit);
  }
};

class OwnArtefacts final : public Guarded<Artefacts> {
 public:
  using Guarded::Guarded;
  Result<> save_artefact(const SessionId& id, Step step, std::string_view name,
                         std::string_view bytes) override {
    REPRISE_TRY(check());
    return inner().save_artefact(id, step, name, bytes);
  }
  Result<> append_artefact(const SessionId& id, Step step, std::string_view name,
                           std::string_view bytes) override {
    REPRISE_TRY(check());
    return inner().append_artefact(id, step, name, bytes);
  }
  Result<std::optional<std::string>> find_artefact(const SessionId& id, Step step,
                                                   std::string_view name) override {
    REPRISE_TRY(check());
    return inner().find_artefact(id, step, name);
  }
  Result<std::vector<Entry>> list_artefacts(const SessionId& id) override {
    REPRISE_TRY(check());
    return inner().list_artefacts(id);
  }
};

class OwnArchives final : public Guarded<Archives> {
 public:
  using Guarded::Guarded;
  Result<> archive(const SessionId& id, Time when) override {
    REPRISE_TRY(check());
    return inner().archive(id, when);
  }
  Result<> restore(const SessionId& id) override {
    REPRISE_TRY(check());
    return inner().restore(id);
  }
};

class OwnCurrentSession final : public Guarded<CurrentSession> {
 public:
  using Guarded::Guarded;
  Result<std::optional<SessionId>> current() override {
    REPRISE_TRY(check());
    return inner().current();
  }
  Result<> set_current(const std::optional<SessionId>& id) override {
    REPRISE_TRY(check());
    return inner().set_current(id);
  }
};

class OwnBlobs final : public Guarded<Blobs> {
 public:
  using Guarded::Guarded;
  Result<BlobHash> put_blob(std::string_view bytes) override {
    REPRISE_TRY(check());
    return inner().put_blob(bytes);
  }
  Result<> read_blob(const BlobHash& hash,
                     const std::function<Flow(std::string_view)>& sink) override {
    REPRISE_TRY(check());
    return inner().read_blob(hash, sink);
  }
};

class OwnTrash final : public Guarded<Trash> {
 public:
  using Guarded::Guarded;
  Result<> trash(const SessionId& id, Time when) override {
    REPRISE_TRY(check());
    return inner().trash(id, when);
  }
  Result<> restore(const SessionId& id) override {
    REPRISE_TRY(check());
    return inner().restore(id);
  }
  Result<> purge(const SessionId& id) override {
    REPRISE_TRY(check());
    return inner().purge(id);
  }
  Result<std::vector<Remnant>> remnants() override {
    REPRISE_TRY(check());
    return inner().remnants();
  }
};

class OwnSignatures final : public Guarded<Signatures> {
 public:
  using Guarded::Guarded;
  Result<Signature> signature(const SessionId& id) override {
    REPRISE_TRY(check());
    return inner().signature(id);
  }
  Result<> accept(const SessionId& id) override {
    REPRISE_TRY(check());
    return inner().accept(id);
  }
};

class OwnVerifying final : public Guarded<Verifying> {
 public:
  using Guarded::Guarded;
  Result<VerifyReport> verify() override {
    REPRISE_TRY(check());
    return inner().verify();
  }
};

class OwnRepair final : public Guarded<Repair> {
 public:
  using Guarded::Guarded;
  Result<VerifyReport> verify() override {
    REPRISE_TRY(check());
    return inner().verify();
  }
  Result<VerifyReport> repair_into(const std::filesystem::path& target) override {
    REPRISE_TRY(check());
    return inner().repair_into(target);
  }
};

class OwnBackup final : public Guarded<Backup> {
 public:
  using Guarded::Guarded;
  Result<> backup(const std::filesystem::path& target) override {
    REPRISE_TRY(check());
    return inner().backup(target);
  }
};

static_assert(sizeof(StoreOffers) == 15 * sizeof(void*), "what is new is guarded here, too");

class OwnStore final : public Store {
 public:
  explicit OwnStore(std::unique_ptr<Store> inner) : inner_(std::move(inner)) {}
  // The child's copy stays behind: what it would close, unlock, stop or remove is the parent's.
  ~OwnStore() override {
    if (!process_.is_here()) {
      (void)inner_.release();
    }
  }
  OwnStore(const OwnStore&) = delete;
  OwnStore& operator=(const OwnStore&) = delete;
  OwnStore(OwnStore&&) = delete;
  OwnStore& operator=(OwnStore&&) = delete;

  Result<> create(const Session& session) override {
    REPRISE_TRY(check(process_));
    return inner_->create(session);
  }
  Result<std::optional<Session>> find(const SessionId& id) override {
    REPRISE_TRY(check(process_));
    return inner_->find(id);
  }
  Result<> update(const SessionId& id, const SessionPatch& patch) override {
    REPRISE_TRY(check(process_));
    return inner_->update(id, patch);
  }
  Result<SessionPage> list(const SessionQuery& query) override {
    REPRISE_TRY(check(process_));
    return inner_->list(query);
  }
  Result<Appended> append(const SessionId& id, std::vector<Message> messages,
                          AppendOptions options) override {
    REPRISE_TRY(check(process_));
    return inner_->append(id, std::move(messages), std::move(options));
  }
  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override {
    REPRISE_TRY(check(process_));
    return inner_->read(id, range, sink);
  }
  StoreHolds holds() const override { return inner_->holds(); }
  const StoreOffers& offers() const override { return offers_; }

 private:
  const OwnProcess process_;
  std::unique_ptr<Store> inner_;
  OwnBeginning beginning_{inner_->offers().beginning, process_};
  OwnCreation creation_{inner_->offers().creation, process_};
  OwnRewriting rewriting_{inner_->offers().rewriting, process_};
  OwnForking forking_{inner_->offers().forking, process_};
  OwnPartials partials_{inner_->offers().partials, process_};
  OwnTodos todos_{inner_->offers().todos, process_};
  OwnArtefacts artefacts_{inner_->offers().artefacts, process_};
  OwnArchives archives_{inner_->offers().archives, process_};
  OwnCurrentSession current_{inner_->offers().current, process_};
  OwnBlobs blobs_{inner_->offers().blobs, process_};
  OwnTrash trash_{inner_->offers().trash, process_};
  OwnSignatures signatures_{inner_->offers().signatures, process_};
  OwnVerifying verifying_{inner_->offers().verifying, process_};
  OwnRepair repair_{inner_->offers().repair, process_};
  OwnBackup backup_{inner_->offers().backup, process_};
  StoreOffers offers_{.beginning = beginning_.offered(),
                      .creation = creation_.offered(),
                      .rewriting = rewriting_.offered(),
                      .forking = forking_.offered(),
                      .partials = partials_.offered(),
                      .todos = todos_.offered(),
                      .artefacts = artefacts_.offered(),
                      .archives = archives_.offered(),
                      .current = current_.offered(),
                      .blobs = blobs_.offered(),
                      .trash = trash_.offered(),
                      .signatures = signatures_.offered(),
                      .verifying = verifying_.offered(),
                      .repair = repair_.offered(),
                      .backup = backup_.offered()};
};

}  // namespace

std::unique_ptr<Store> in_own_process(std::unique_ptr<Store> store) {
  return std::make_unique<OwnStore>(std::move(store));
}

}  // namespace reprise::store
