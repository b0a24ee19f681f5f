#include "store/document/document_store.h"

#include <algorithm>
#include <iterator>

#include "base/file.h"
#include "base/text.h"
#include "reprise/open_store.h"
#include "store/call.h"
#include "store/document/document_format.h"
#include "store/document/documents.h"
#include "store/document/partial_file.h"
#include "store/paths.h"
#include "store/provide.h"
#include "store/query.h"
#include "store/rules.h"
#include "store/stored_session.h"

namespace reprise::store {
namespace {

// The capabilities of the format, and those of this class that follow from them.
Capabilities capabilities_in(DocumentStore& store, const DocumentFormat& format) {
  Capabilities out = capabilities_of(store, format.capabilities());
  out.lists_at_once = true;
  if (!format.stores_whole_turns()) {
    out.deferred_creation = nullptr;
  }
  if (!out.messages || !out.many_sessions) {
    out.atomic_creation = nullptr;
  }
  if (!out.many_sessions) {
    out.archives = nullptr;  // the only session cannot be archived
  }
  if (out.messages) {
    out.responses = nullptr;
  } else {
    out.rewriting = nullptr;
    out.replaced_reader = nullptr;
    out.partials = nullptr;
    out.partial_reader = nullptr;
    out.todos = nullptr;
    out.todo_reader = nullptr;
  }
  if (!format.has_signatures()) {
    out.signatures = nullptr;
    out.signature_reader = nullptr;
  }
  return out;
}

using Outcome = Documents::Outcome;

class DocumentWriter {
 public:
  DocumentWriter(const DocumentFormat& format, const SessionId& id, DocumentWrite write)
      : format_(format), id_(id), write_(std::move(write)) {}

  Result<Outcome> change(FileSession& file) {
    REPRISE_TRY(format_.check_append(write_.messages));
    if (format_.stores_whole_turns()) {
      REPRISE_TRY(find_pending(file.stored));
      if (cancels_turn(file.stored)) {
        REPRISE_ASSIGN(const auto partial, format_.partial_file(id_));
        REPRISE_TRY(remove_if_exists(partial));
        const Seq head = file.stored.session.info.head;
        appended_ = {head, head, false};
        return Outcome::pending;
      }
      if (pending_) {
        REPRISE_TRY(add_pending_turn(file.stored, *pending_));
      }
    }
    return write(file);
  }

  Result<AppendResult> finish(Documents& documents) {
    REPRISE_ASSIGN(unsaved_, documents.encode_unsaved(id_));
    // Before the next turn can begin, whose question may be in the same file.
    const auto remove_ended = [this] {
      const auto partial = format_.partial_file(id_);
      if (partial && write_.options.end_partial && !appended_.repeated && !is_pending_) {
        // Failure is harmless: pieces of an answer that has ended are not read.
        (void)remove_if_exists(*partial);
      }
    };
    REPRISE_TRY(documents.edit(
        id_, [this](FileSession& file) { return change(file); }, Documents::Trust::signature,
        remove_ended));
    return appended_;
  }

 private:
  Result<Outcome> write(FileSession& file) {
    StoredSession& stored = file.stored;
    const Seq head = stored.session.info.head;
    const Seq from = write_.from.value_or(head);
    const bool was_running = stored.partial.has_value();
    REPRISE_ASSIGN(appended_, write_messages(stored, from, write_.messages, write_.options));
    if (appended_.repeated) {
      return Outcome::unchanged;
    }
    if (format_.stores_whole_turns() && from == head) {
      if (stored.partial && (pending_ || !was_running)) {
        REPRISE_TRY(store_pending(stored.partial->answer, from));
        return Outcome::pending;
      }
      if (pending_ && !pending_->has_content() && write_.messages.empty()) {
        return Outcome::pending;  // the turn was cancelled without an answer
      }
    }
    appended_ = format_.after_append(stored, write_.options, appended_);
    if (from < head) {
      file.encoded.truncate(from.value);
      // Raw entries between removed messages move to the end of the remaining ones.
      for (RawEntry& entry : file.raw_entries) {
        entry.before = std::min(entry.before, from.value);
      }
    }
    return Outcome::changed;
  }

  // Reads the pending turn. One that cannot be read is quarantined before it is overwritten.
  Result<> find_pending(const StoredSession& stored) {
    REPRISE_ASSIGN(const auto file, format_.partial_file(id_));
    auto turn = read_pending_turn(file, id_);
    if (!turn && turn.error().code == Code::corrupt) {
      REPRISE_ASSIGN(const std::string bytes, read_file(file));
      REPRISE_TRY(quarantine(file, bytes));
      REPRISE_TRY(remove_if_exists(file));
      return {};
    }
    REPRISE_ASSIGN(pending_, std::move(turn));
    if (pending_ && is_in_file(stored, *pending_)) {
      pending_.reset();
    }
    return {};
  }

  // Whether the write cancels the pending turn: it removes the question and adds nothing. The
  // position does not matter, since others may have written to the file meanwhile.
  bool cancels_turn(const StoredSession& stored) const {
    const AppendOptions& options = write_.options;
    if (!pending_ || pending_->batches.size() != 1 || !write_.messages.empty() ||
        write_.from != pending_->first || options.begin_partial || stored.partial) {
      return false;
    }
    const PendingBatch& batch = pending_->batches.front();
    const Seq head = pending_->first.next(std::ssize(batch.messages));
    const auto& begun = batch.options.begin_partial;
    return begun && options.end_partial && begun->answer == *options.end_partial &&
           options.expected_head.value_or(head) == head;
  }

  Result<> store_pending(const OperationId& answer, Seq first) {
    if (!pending_) {
      pending_ =
          PendingTurn{.session = id_, .first = first, .batches = {}, .unsaved_session = unsaved_};
    }
    PendingBatch batch{.messages = write_.messages,
                       .options = {.operation = write_.options.operation,
                                   .end_partial = write_.options.end_partial,
                                   .begin_partial = write_.options.begin_partial}};
    if (!batch.options.operation) {  // needed to recognise the batch in the file
      REPRISE_ASSIGN(batch.options.operation,
                     OperationId::parse(cat(answer.str(), ".", pending_->batches.size())));
    }
    const bool is_started = batch.options.begin_partial.has_value();
    pending_->batches.push_back(std::move(batch));
    is_pending_ = true;
    REPRISE_ASSIGN(const auto file, format_.partial_file(id_));
    return write_pending_turn(file, *pending_, answer, is_started);
  }

  const DocumentFormat& format_;
  const SessionId& id_;
  DocumentWrite write_;
  std::optional<PendingTurn> pending_;
  std::string unsaved_;
  AppendResult appended_{};
  bool is_pending_ = false;
};

}  // namespace

DocumentStore::DocumentStore(std::unique_ptr<DocumentFormat> format, const StoreOptions& options)
    : format_(std::move(format)),
      documents_(std::make_unique<Documents>(*format_, options)),
      capabilities_(capabilities_in(*this, *format_)) {}

DocumentStore::~DocumentStore() = default;

Result<> DocumentStore::create(const Session& session) {
  REPRISE_TRY(check_new_session(session));
  return documents_->add(new_file_session(session));
}

Result<std::optional<Session>> DocumentStore::find(const SessionId& id) {
  REPRISE_ASSIGN(const auto found, documents_->find(id));
  if (!found) {
    return std::nullopt;
  }
  const StoredSession& stored = found->session->stored;
  Session session = stored.session;
  if (stored.partial && session.info.answering) {
    REPRISE_ASSIGN(const auto file, format_->partial_file(id));
    REPRISE_ASSIGN(const auto lease, read_lease(file, stored.partial->answer));
    session.info.answering->lease = lease.value_or(session.info.answering->lease);
  }
  return session;
}

Result<> DocumentStore::update(const SessionId& id, const SessionPatch& patch) {
  return documents_->edit(id, [&patch](FileSession& file) -> Result<Documents::Outcome> {
    REPRISE_TRY(apply_patch(file.stored.session, patch));
    return Documents::Outcome::changed;
  });
}

Result<SessionPage> DocumentStore::list(const SessionQuery& query) {
  REPRISE_ASSIGN(const CheckedQuery checked, check_query(query, capabilities()));
  std::vector<Damage> damage;
  REPRISE_ASSIGN(std::vector<SessionInfo> infos, documents_->infos(damage));
  std::erase_if(infos, [&checked](const SessionInfo& info) { return !matches(info, checked); });
  for (SessionInfo& info : infos) {
    if (!info.answering) {
      continue;
    }
    if (const auto current = find(info.id); !current) {
      damage.push_back({format_->root().native(), current.error().message, ""});
    } else if (const std::optional<Session>& session = *current; session) {
      info.answering = session->info.answering;  // with the current lease
    }
  }
  SessionPage page = make_page(std::move(infos), query);
  page.damage = std::move(damage);
  return page;
}

Result<AppendResult> DocumentStore::append(const SessionId& id, std::vector<Message> messages,
                                           AppendOptions options) {
  return write_document(*format_, *documents_, id, {std::nullopt, std::move(messages), options});
}

Result<ReadReport> DocumentStore::read(const SessionId& id, ReadRange range,
                                       const MessageSink& sink) {
  REPRISE_ASSIGN(const Documents::Found found, documents_->get(id));
  const StoredSession& stored = found.session->stored;
  const Span span = clamp(range, stored.session.info.head);
  for (std::int64_t done = 0; done < span.to - span.from; ++done) {
    const std::int64_t seq = range.newest_first ? span.to - 1 - done : span.from + done;
    if (sink(Message(*stored.log->at(seq))) == Flow::stop) {
      break;
    }
  }
  ReadReport report{.damage = found.session->damage};
  std::ranges::copy(found.session->gaps, std::back_inserter(report.damage));
  report.damaged = static_cast<std::int64_t>(report.damage.size());
  return report;
}

std::unique_ptr<Store> make_document_store(std::unique_ptr<DocumentFormat> format,
                                           const StoreOptions& options) {
  return guard(std::make_unique<DocumentStore>(std::move(format), options), CallOptions(options));
}

Result<AppendResult> write_document(const DocumentFormat& format, Documents& documents,
                                    const SessionId& id, DocumentWrite write) {
  return DocumentWriter(format, id, std::move(write)).finish(documents);
}

}  // namespace reprise::store
