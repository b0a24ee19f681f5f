#include "store/file/document_offers.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/lock_file.h"
#include "base/text.h"
#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"
#include "store/facts.h"
#include "store/file/document_care.h"
#include "store/file/document_store.h"
#include "store/file/documents.h"
#include "store/file/file_session.h"
#include "store/file/partial_file.h"
#include "store/file/session_files.h"
#include "store/stored_session.h"

namespace reprise::store {
namespace {

using Outcome = Documents::Outcome;

class DocumentRewriting final : public Rewriting {
 public:
  DocumentRewriting(const SessionFiles& files, Documents& documents)
      : files_(files), documents_(documents) {}

  Result<Appended> replace_suffix(const SessionId& id, Seq from, std::vector<Message> messages,
                                  AppendOptions options) override {
    return write_document(files_, documents_, id, {from, std::move(messages), options});
  }

  Result<std::int64_t> count_replaced(const SessionId& id) override {
    REPRISE_ASSIGN(const Documents::Found found, documents_.get(id));
    return std::ssize(found.session->stored.replaced);
  }

 private:
  const SessionFiles& files_;
  Documents& documents_;
};

class DocumentPartials final : public Partials {
 public:
  DocumentPartials(const SessionFiles& files, Documents& documents)
      : files_(files), documents_(documents) {}

  Result<> add(const SessionId& id, const OperationId& answer,
               std::span<const Block> delta) override {
    // So that the answer does not end, and another one begin, in between.
    REPRISE_ASSIGN(const LockFile::Hold hold, documents_.lock());
    REPRISE_ASSIGN(const Documents::Found found, documents_.get(id));
    const auto& running = found.session->stored.partial;
    if (!running || running->answer != answer) {
      return std::unexpected(answer_not_running(id, answer));
    }
    return add_partial(files_.partial_file(id), answer, delta);
  }

  Result<> renew(const SessionId& id, const OperationId& answer, const Lease& lease) override {
    REPRISE_ASSIGN(const LockFile::Hold hold, documents_.lock());
    REPRISE_ASSIGN(const Documents::Found found, documents_.get(id));
    const auto& running = found.session->stored.partial;
    if (!running || running->answer != answer) {
      return std::unexpected(answer_not_running(id, answer));
    }
    return add_lease(files_.partial_file(id), answer, lease);
  }

  Result<std::optional<Partial>> find(const SessionId& id) override {
    REPRISE_ASSIGN(const Documents::Found found, documents_.get(id));
    std::optional<Partial> running = found.session->stored.partial;
    if (running) {
      REPRISE_ASSIGN(const auto lease, read_lease(files_.partial_file(id), running->answer));
      running->owner.lease = lease.value_or(running->owner.lease);
      REPRISE_ASSIGN(running->blocks, read_partial(files_.partial_file(id), running->answer));
    }
    return running;
  }

 private:
  const SessionFiles& files_;
  Documents& documents_;
};

class DocumentTodos final : public Todos {
 public:
  explicit DocumentTodos(Documents& documents) : documents_(documents) {}

  Result<std::vector<Todo>> todos(const SessionId& id) override {
    REPRISE_ASSIGN(const Documents::Found found, documents_.get(id));
    return found.session->stored.todos;
  }

  Result<std::vector<Todo>> edit_todos(
      const SessionId& id, const std::function<Result<>(std::vector<Todo>&)>& edit) override {
    std::vector<Todo> todos;
    const auto change = [&](FileSession& file) -> Result<Outcome> {
      todos = file.stored.todos;
      REPRISE_TRY(edit(todos));
      file.stored.todos = todos;
      return Outcome::changed;
    };
    REPRISE_TRY(documents_.edit(id, change));
    return todos;
  }

 private:
  Documents& documents_;
};

class DocumentTrash final : public Trash {
 public:
  explicit DocumentTrash(Documents& documents) : documents_(documents) {}

  Result<> trash(const SessionId& id, Time /*when*/) override {
    return documents_.make_room([&] {
      return documents_.edit(id, [](FileSession& file) -> Result<Outcome> {
        SessionState& state = file.stored.session.info.state;
        if (state == SessionState::trashed) {
          return Outcome::unchanged;
        }
        file.stored.state_before_trash = std::exchange(state, SessionState::trashed);
        return Outcome::moved;
      });
    });
  }

  Result<> restore(const SessionId& id) override {
    return documents_.edit(id, [&id](FileSession& file) -> Result<Outcome> {
      if (file.stored.session.info.state != SessionState::trashed) {
        return fail(Code::invalid_argument, cat("session ", id.str(), " is not in the trash"));
      }
      file.stored.session.info.state = file.stored.state_before_trash;
      return Outcome::moved;
    });
  }

  Result<> purge(const SessionId& id) override {
    return documents_.make_room([&] { return documents_.remove(id); });
  }

  Result<std::vector<Remnant>> remnants() override { return documents_.remnants(); }

 private:
  Documents& documents_;
};

class DocumentSignatures final : public Signatures {
 public:
  explicit DocumentSignatures(Documents& documents) : documents_(documents) {}

  Result<Signature> signature(const SessionId& id) override {
    REPRISE_ASSIGN(const Documents::Found found, documents_.get(id));
    return documents_.signature(found);
  }

  Result<> accept(const SessionId& id) override {
    return documents_.edit(
        id, [](FileSession& /*file*/) -> Result<Outcome> { return Outcome::changed; },
        Documents::Trust::anyhow);
  }

 private:
  Documents& documents_;
};

class DocumentBeginning final : public Beginning {
 public:
  explicit DocumentBeginning(Documents& documents) : documents_(documents) {}

  Result<> begin(const Session& session) override {
    REPRISE_TRY(check_new_session(session));
    return documents_.begin(new_file_session(session));
  }

 private:
  Documents& documents_;
};

class DocumentCreation final : public Creation {
 public:
  explicit DocumentCreation(Documents& documents) : documents_(documents) {}

  Result<> create_with(const Session& session, std::vector<Message> messages) override {
    REPRISE_TRY(check_new_session(session));
    FileSession file = new_file_session(session);
    REPRISE_TRY(write_messages(file.stored, {}, std::move(messages), {}));
    return documents_.add(std::move(file));
  }

 private:
  Documents& documents_;
};

}  // namespace

struct DocumentParts::Parts {
  Parts(const SessionFiles& files, Documents& documents, const DocumentOffers& can)
      : beginning(documents),
        creation(documents),
        rewriting(files, documents),
        partials(files, documents),
        todos(documents),
        trash(documents),
        signatures(documents),
        care(files, documents),
        offers{.beginning = files.holds_whole_turns() ? &beginning : nullptr,
               .creation = files.holds().words && files.holds().many_sessions ? &creation : nullptr,
               .rewriting = can.rewriting ? &rewriting : nullptr,
               .partials = can.partials ? &partials : nullptr,
               .todos = can.todos ? &todos : nullptr,
               .trash = &trash,
               .signatures = can.signatures ? &signatures : nullptr,
               .verifying = &care,
               .repair = &care,
               .backup = &care} {}

  DocumentBeginning beginning;
  DocumentCreation creation;
  DocumentRewriting rewriting;
  DocumentPartials partials;
  DocumentTodos todos;
  DocumentTrash trash;
  DocumentSignatures signatures;
  DocumentCare care;
  StoreOffers offers;
};

DocumentParts::DocumentParts(const SessionFiles& files, Documents& documents,
                             const DocumentOffers& offers)
    : parts_(std::make_unique<Parts>(files, documents, offers)) {}
DocumentParts::~DocumentParts() = default;

const StoreOffers& DocumentParts::offers() const {
  return parts_->offers;
}

}  // namespace reprise::store
