// The capabilities of document stores.

#include <filesystem>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "base/lock_file.h"
#include "store/document/document_format.h"
#include "store/document/document_maintenance.h"
#include "store/document/document_store.h"
#include "store/document/documents.h"
#include "store/document/partial_file.h"
#include "store/rules.h"
#include "store/stored_session.h"

namespace reprise::store {
namespace {

using Outcome = Documents::Outcome;

}  // namespace

Result<> DocumentStore::create_with(const Session& session, std::vector<Message> messages) {
  REPRISE_TRY(check_new_session(session));
  FileSession file = new_file_session(session);
  REPRISE_TRY(write_messages(file.stored, {}, std::move(messages), {}));
  return documents_->add(std::move(file));
}

Result<AppendResult> DocumentStore::replace_suffix(const SessionId& id, Seq from,
                                                   std::vector<Message> messages,
                                                   AppendOptions options) {
  return write_document(*format_, *documents_, id, {from, std::move(messages), options});
}

Result<std::int64_t> DocumentStore::count_replaced(const SessionId& id) {
  REPRISE_ASSIGN(const Documents::Found found, documents_->get(id));
  return std::ssize(found.session->stored.replaced);
}

Result<ReadReport> DocumentStore::read_replaced(const SessionId& id, const MessageSink& sink) {
  REPRISE_ASSIGN(const Documents::Found found, documents_->get(id));
  return deliver_replaced(found.session->stored, sink);
}

Result<std::filesystem::path> DocumentStore::partial_file_of(const SessionId& id,
                                                             const OperationId& answer) {
  REPRISE_ASSIGN(const Documents::Found found, documents_->get(id));
  const auto& running = found.session->stored.partial;
  if (!running || running->answer != answer) {
    return std::unexpected(answer_not_running(id, answer));
  }
  return format_->partial_file(id);
}

Result<> DocumentStore::add_partial(const SessionId& id, const OperationId& answer,
                                    std::span<const Block> delta) {
  // Locked so that the answer cannot end, and another one start, in between.
  REPRISE_ASSIGN(const LockFile::Hold hold, documents_->lock());
  REPRISE_ASSIGN(const std::filesystem::path file, partial_file_of(id, answer));
  return store::add_partial(file, answer, delta);
}

Result<> DocumentStore::renew_lease(const SessionId& id, const OperationId& answer,
                                    const Lease& lease) {
  REPRISE_ASSIGN(const LockFile::Hold hold, documents_->lock());
  REPRISE_ASSIGN(const std::filesystem::path file, partial_file_of(id, answer));
  return add_lease(file, answer, lease);
}

Result<std::optional<Partial>> DocumentStore::find_partial(const SessionId& id) {
  REPRISE_ASSIGN(const Documents::Found found, documents_->get(id));
  std::optional<Partial> running = found.session->stored.partial;
  if (running) {
    REPRISE_ASSIGN(const auto file, format_->partial_file(id));
    REPRISE_ASSIGN(const auto lease, read_lease(file, running->answer));
    running->owner.lease = lease.value_or(running->owner.lease);
    REPRISE_ASSIGN(running->blocks, read_partial(file, running->answer));
  }
  return running;
}

// A missing session is created together with its first response, in one write.
Result<> DocumentStore::add_response(const Session& session, const Message& answer,
                                     const OperationId& operation) {
  Message bare = answer;
  bare.blocks.clear();
  bare.extra.clear();
  const AppendOptions options{.operation = operation};
  const auto add = [&]() -> Result<> {
    REPRISE_TRY(
        write_document(*format_, *documents_, session.info.id, {std::nullopt, {bare}, options}));
    return {};
  };
  if (auto added = add(); added || added.error().code != Code::not_found) {
    return added;
  }
  REPRISE_TRY(check_new_session(session));
  FileSession file = new_file_session(session);
  REPRISE_ASSIGN(const AppendResult written, write_messages(file.stored, Seq{0}, {bare}, options));
  format_->after_append(file.stored, options, written);
  auto created = documents_->add(std::move(file));
  // conflict: another program created it first.
  return created || created.error().code != Code::conflict ? std::move(created) : add();
}

Result<std::vector<Todo>> DocumentStore::todos(const SessionId& id) {
  REPRISE_ASSIGN(const Documents::Found found, documents_->get(id));
  return found.session->stored.todos;
}

Result<std::vector<Todo>> DocumentStore::edit_todos(
    const SessionId& id, const std::function<Result<>(std::vector<Todo>&)>& edit) {
  std::vector<Todo> todos;
  const auto change = [&](FileSession& file) -> Result<Outcome> {
    todos = file.stored.todos;
    REPRISE_TRY(edit(todos));
    file.stored.todos = todos;
    return Outcome::changed;
  };
  REPRISE_TRY(documents_->edit(id, change));
  return todos;
}

Result<> DocumentStore::archive(const SessionId& id, Time /*when*/) {
  return documents_->edit(id, [](FileSession& file) -> Result<Outcome> {
    SessionInfo& info = file.stored.session.info;
    REPRISE_ASSIGN(const bool is_to_do, check_archive(info));
    info.state = SessionState::archived;
    return is_to_do ? Outcome::changed : Outcome::unchanged;
  });
}

Result<> DocumentStore::unarchive(const SessionId& id) {
  return documents_->edit(id, [](FileSession& file) -> Result<Outcome> {
    SessionInfo& info = file.stored.session.info;
    REPRISE_ASSIGN(info.state, state_unarchived(info));
    return Outcome::changed;
  });
}

Result<> DocumentStore::trash(const SessionId& id, Time /*when*/) {
  return documents_->delete_with_reserve([&] {
    return documents_->edit(id, [](FileSession& file) -> Result<Outcome> {
      SessionState& state = file.stored.session.info.state;
      if (state == SessionState::trashed) {
        return Outcome::unchanged;
      }
      file.stored.state_before_trash = std::exchange(state, SessionState::trashed);
      return Outcome::moved;
    });
  });
}

Result<> DocumentStore::restore(const SessionId& id) {
  return documents_->edit(id, [&id](FileSession& file) -> Result<Outcome> {
    if (file.stored.session.info.state != SessionState::trashed) {
      return std::unexpected(not_in_trash(id));
    }
    file.stored.session.info.state = file.stored.state_before_trash;
    return Outcome::moved;
  });
}

Result<> DocumentStore::purge(const SessionId& id) {
  return documents_->delete_with_reserve([&] { return documents_->remove(id); });
}

Result<std::vector<Remnant>> DocumentStore::remnants() {
  return documents_->remnants();
}

Result<Signature> DocumentStore::signature(const SessionId& id) {
  REPRISE_ASSIGN(const Documents::Found found, documents_->get(id));
  return documents_->signature(found);
}

Result<> DocumentStore::accept(const SessionId& id) {
  return documents_->edit(
      id, [](FileSession& /*file*/) -> Result<Outcome> { return Outcome::changed; },
      Documents::Trust::any);
}

Result<> DocumentStore::begin(const Session& session) {
  REPRISE_TRY(check_new_session(session));
  return documents_->begin(new_file_session(session));
}

Result<VerifyReport> DocumentStore::verify() {
  return DocumentMaintenance(*format_, *documents_).verify();
}

Result<VerifyReport> DocumentStore::repair_into(const std::filesystem::path& target) {
  return DocumentMaintenance(*format_, *documents_).repair_into(target);
}

Result<> DocumentStore::backup(const std::filesystem::path& target) {
  return DocumentMaintenance(*format_, *documents_).backup(target);
}

}  // namespace reprise::store
