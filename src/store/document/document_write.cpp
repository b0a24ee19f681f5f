// Appends and replaces: in the file, or beside it while the turn is incomplete.

#include "store/document/document_write.h"

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "store/document/document_format.h"
#include "store/document/documents.h"
#include "store/document/partial_file.h"
#include "store/document/pending_turn.h"
#include "store/document/quarantine.h"
#include "store/stored_session.h"

namespace reprise::store {
namespace {

using Outcome = Documents::Outcome;

class DocumentWriter {
 public:
  DocumentWriter(const DocumentFormat& files, const SessionId& id, DocumentWrite write)
      : files_(files), id_(id), write_(std::move(write)) {}

  Result<Outcome> change(FileSession& file) {
    REPRISE_TRY(files_.check_append(write_.messages));
    if (files_.stores_whole_turns()) {
      REPRISE_TRY(find_pending(file.stored));
      if (cancels_turn(file.stored)) {
        REPRISE_ASSIGN(const auto partial, files_.partial_file(id_));
        REPRISE_TRY(remove_partial(partial));
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

  Result<Appended> finish(Documents& documents) {
    REPRISE_ASSIGN(unsaved_, documents.encode_unsaved(id_));
    REPRISE_TRY(documents.edit(id_, [this](FileSession& file) { return change(file); }));
    if (write_.options.end_partial && !appended_.repeated && !runs_beside_) {
      // Failure is harmless: pieces of an answer that has ended are not read.
      if (const auto partial = files_.partial_file(id_)) {
        (void)remove_partial(*partial);
      }
    }
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
    if (files_.stores_whole_turns() && from == head) {
      if (stored.partial && (pending_ || !was_running)) {
        REPRISE_TRY(hold(stored.partial->answer, from));
        return Outcome::pending;
      }
      if (pending_ && !pending_->has_content() && write_.messages.empty()) {
        return Outcome::pending;  // the turn was cancelled without an answer
      }
    }
    appended_ = files_.after_append(stored, write_.options, appended_);
    if (from < head) {
      file.encoded.cut(from.value);
      // Raw entries between removed messages move to the end of the remaining ones.
      for (RawEntry& entry : file.raw_entries) {
        entry.before = std::min(entry.before, from.value);
      }
    }
    return Outcome::changed;
  }

  // Reads the pending turn. One that cannot be read is quarantined before it is overwritten.
  Result<> find_pending(const StoredSession& stored) {
    REPRISE_ASSIGN(const auto file, files_.partial_file(id_));
    auto turn = read_pending_turn(file, id_);
    if (!turn && turn.error().code == Code::corrupt) {
      REPRISE_ASSIGN(const std::string bytes, read_file(file));
      REPRISE_TRY(quarantine(file, bytes));
      REPRISE_TRY(remove_partial(file));
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
    const auto& unsaved_session = batch.options.begin_partial;
    return unsaved_session && options.end_partial &&
           unsaved_session->answer == *options.end_partial &&
           options.expected_head.value_or(head) == head;
  }

  Result<> hold(const OperationId& answer, Seq first) {
    if (!pending_) {
      pending_ =
          PendingTurn{.session = id_, .first = first, .batches = {}, .unsaved_session = unsaved_};
    }
    PendingBatch batch{.messages = write_.messages,
                       .options = {.operation = write_.options.operation,
                                   .end_partial = write_.options.end_partial,
                                   .begin_partial = write_.options.begin_partial}};
    if (!batch.options.operation) {  // needed to recognize the batch in the file
      REPRISE_ASSIGN(batch.options.operation,
                     OperationId::parse(cat(answer.str(), ".", pending_->batches.size())));
    }
    const bool is_started = batch.options.begin_partial.has_value();
    pending_->batches.push_back(std::move(batch));
    runs_beside_ = true;
    REPRISE_ASSIGN(const auto file, files_.partial_file(id_));
    return write_pending_turn(file, *pending_, answer, is_started);
  }

  const DocumentFormat& files_;
  const SessionId& id_;
  DocumentWrite write_;
  std::optional<PendingTurn> pending_;
  std::string unsaved_;
  Appended appended_{};
  bool runs_beside_ = false;
};

}  // namespace

Result<Appended> write_document(const DocumentFormat& files, Documents& documents,
                                const SessionId& id, DocumentWrite write) {
  return DocumentWriter(files, id, std::move(write)).finish(documents);
}

}  // namespace reprise::store
