#include "engine/record.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "base/assert.h"
#include "base/text.h"
#include "engine/session_notes.h"
#include "model/attachment.h"
#include "model/known_time.h"
#include "model/texts.h"
#include "store/rules.h"

namespace reprise {
namespace {

constexpr std::string_view kAllIsSaved = "what came before is saved";

// The store will never accept the session.
bool is_refusal(const Error& error) {
  return error.code == Code::unsupported || error.code == Code::invalid_argument;
}

}  // namespace

Record::Record(Store* store, Session session, const ConversationOptions& options,
               std::string_view provider)
    : store_(store),
      messages_(store != nullptr && store->capabilities().messages ? store : nullptr),
      partials_(messages_ != nullptr ? messages_->capabilities().partials : nullptr),
      session_(std::move(session)),
      options_(options),
      provider_(provider),
      stored_to_(messages_ != nullptr ? session_.info.head : Seq{0}),
      initial_(session_),
      may_be_another_(options.is_new && messages_ != nullptr &&
                      !messages_->capabilities().many_sessions),
      is_stored_(!options.is_new) {
  if (store_ == nullptr) {
    memory_ = options_.earlier;
  } else if (Responses* const responses = store_->capabilities().responses; responses != nullptr) {
    responses_ = std::make_unique<ResponseLog>(*responses);
  }
}

// The last attempt to store pending messages; their loss was reported as a warning before.
Record::~Record() {
  observer_ = nullptr;
  flush();
}

void Record::start_turn(TurnObserver& observer, bool refresh) {
  observer_ = &observer;
  warned_ = false;
  has_warned_of_loss_ = false;
  has_used_outbox_ = false;
  has_reported_outbox_ = has_reported_outbox_ && store_ == nullptr;  // reported once is enough
  has_reported_outbox_failure_ = false;
  question_at_.reset();
  const bool was_lost = lease_ != nullptr && lease_->lost().stop_requested();
  if (was_lost) {
    drop_lost();
    lease_.reset();
  }
  lost_outcome_ = kAllIsSaved;
  saved_ = true;  // losses belong to the previous turn
  flush();
  if (messages_ == nullptr || has_pending()) {
    return;
  }
  if (refresh || was_lost) {
    const auto found = store_->find(session_.info.id);
    if (!found) {
      on_failed(found.error());
    } else if (const std::optional<Session>& stored = *found; stored) {
      session_.info.head = stored->info.head;
    }
  }
  forget_stored();
}

// From now on, all messages are read from the store. Nothing may be pending.
void Record::forget_stored() {
  REPRISE_ASSERT(pending_.empty());
  memory_.clear();
  stored_to_ = session_.info.head;
}

void Record::end_turn() {
  mute();
  if (answer_) {
    add({.end_answer = true});
  }
  if (pending_.empty()) {
    blobs_.clear();
  }
  place_.reset();
}

void Record::warn(std::string_view text) {
  if (!warned_ && observer_ != nullptr) {
    observer_->on_warning(text);
  }
  warned_ = true;
}

bool Record::is_ours(const OperationId& answer) const {
  return answer_ == answer || std::ranges::any_of(pending_, [&answer](const Batch& batch) {
           return batch.end == answer || (batch.begin && batch.begin->answer == answer);
         });
}

Result<> Record::wait_until_free(std::chrono::steady_clock::time_point deadline,
                                 const std::stop_token& stop) {
  if (partials_ == nullptr) {
    return {};
  }
  return reprise::wait_until_free(
      *store_, session_.info.id,
      {.deadline = deadline,
       .stop = stop,
       .clock = options_.clock,
       .is_ours = [this](const OperationId& answer) { return is_ours(answer); }});
}

// Other threads of this process need not ask the store whether it is their turn.
Result<> Record::take_place(std::chrono::steady_clock::time_point deadline,
                            const std::stop_token& stop) {
  if (partials_ == nullptr) {
    return {};
  }
  place_ = TurnPlace::wait(*store_, session_.info.id, deadline, stop);
  if (place_) {
    return {};
  }
  return std::unexpected(
      stop.stop_requested()
          ? Error{Code::cancelled, "stopped while waiting for another answer to end"}
          : busy_error(session_.info.id, this_process()));
}

void Record::begin_lease() {
  if (partials_ != nullptr && lease_ == nullptr) {
    lease_ = std::make_unique<LeaseRenewer>(*store_, session_.info.id, options_.answer_lease);
  }
}

Result<> Record::begin(RecordEntry entry, const std::stop_token& stop) {
  REPRISE_TRY(check_lease());
  begin_lease();
  const auto deadline = std::chrono::steady_clock::now() + options_.busy_timeout;
  REPRISE_TRY(take_place(deadline, stop));
  Batch batch = make_batch(std::move(entry));
  if (messages_ == nullptr) {
    add_to_memory(batch);
    keep_in_memory(std::move(batch));
    return {};
  }
  if (!pending_.empty()) {
    add_to_memory(batch);
    pending_.push_back(std::move(batch));
    flush();
    return {};
  }
  if (!is_stored_ && batch.messages.empty()) {
    answer_.reset();  // there is nothing to continue
    return {};
  }
  auto begun = is_empty(batch) ? Result<>() : begin_in_store(std::move(batch), deadline, stop);
  if (!begun) {
    answer_.reset();
  }
  return begun;
}

Result<> Record::begin_in_store(Batch batch, std::chrono::steady_clock::time_point deadline,
                                const std::stop_token& stop) {
  for (PollPause pause;;) {
    REPRISE_TRY(wait_until_free(deadline, stop));
    const auto appended = write(batch);
    if (!appended && appended.error().code == Code::busy) {
      // Another process was first, and may have ended since.
      if (std::chrono::steady_clock::now() >= deadline || stop.stop_requested()) {
        return std::unexpected(appended.error());
      }
      pause.wait();
      continue;
    }
    if (!appended && std::chrono::steady_clock::now() < deadline && look_again()) {
      begin_lease();
      REPRISE_TRY(take_place(deadline, stop));
      continue;
    }
    if (!appended && !is_stored_ && is_refusal(appended.error())) {
      return std::unexpected(appended.error());
    }
    add_to_memory(batch);
    if (appended) {
      on_stored(batch, *appended);
      stored_to_ = appended->first;
      if (!batch.messages.empty()) {
        question_at_ = appended->first;
      }
    } else {
      pending_.push_back(std::move(batch));
      on_failed(appended.error());
    }
    return {};
  }
}

// Whether the store's only session is another one than when this one was made: another process has
// begun one, or has withdrawn the first question of the one that it had begun.
bool Record::look_again() {
  if (!may_be_another_) {
    return false;
  }
  const auto page = messages_->list({.limit = 2});
  if (!page) {
    return false;
  }
  const SessionId& id = session_.info.id;
  const auto other = std::ranges::find_if(page->sessions,
                                          [&id](const SessionInfo& info) { return info.id != id; });
  if (other != page->sessions.end()) {
    auto found = messages_->find(other->id).value_or(std::nullopt);
    if (!found) {
      return false;
    }
    go_on_in(*std::move(found), true);
    return true;
  }
  if (!page->sessions.empty() || !is_stored_) {
    return false;
  }
  go_on_in(initial_, false);
  return true;
}

void Record::go_on_in(Session session, bool is_stored) {
  lease_.reset();
  place_.reset();
  session_ = std::move(session);
  is_stored_ = is_stored;
}

std::vector<Message> Record::add(RecordEntry entry) {
  if (entry.replace_from) {
    rewind_to(*entry.replace_from);
  }
  Batch batch = make_batch(std::move(entry));
  add_to_memory(batch);
  const auto first = static_cast<std::ptrdiff_t>(batch.memory_at);
  count_usage(batch.messages);
  if (check_lost()) {
    pending_.push_back(std::move(batch));
    drop_lost();
  } else if (messages_ == nullptr) {
    keep_in_memory(std::move(batch));
  } else if (!is_empty(batch)) {
    pending_.push_back(std::move(batch));
  }
  flush();
  return {memory_.begin() + first, memory_.end()};
}

bool Record::is_empty(const Batch& batch) {
  return batch.messages.empty() && !batch.end && !batch.begin && !batch.replace_from;
}

Record::Batch Record::make_batch(RecordEntry entry) {
  Batch batch{.messages = std::move(entry.messages),
              .operation = make_operation_id(options_.clock, options_.entropy),
              .end = std::nullopt,
              .begin = std::nullopt,
              .replace_from = entry.replace_from};
  for (Message& message : batch.messages) {
    model::mend(message);  // from a model or a tool: never refused
  }
  if (entry.end_answer) {
    batch.end = std::exchange(answer_, std::nullopt);
  }
  if (entry.begin_answer && partials_ != nullptr) {
    batch.begin = PartialStart{.answer = make_operation_id(options_.clock, options_.entropy),
                               .owner = this_process(options_.answer_lease),
                               .provider = provider_,
                               .model = options_.model,
                               .started_at = options_.clock.now()};
    answer_ = batch.begin->answer;
  }
  return batch;
}

void Record::add_to_memory(Batch& batch) {
  batch.memory_at = memory_.size();
  memory_.insert(memory_.end(), batch.messages.begin(), batch.messages.end());
}

void Record::record_blob(const BlobHash& hash, std::string_view bytes) {
  constexpr std::size_t kBlobBytesMax = std::size_t{256} << 20U;
  std::size_t total = bytes.size();
  for (const auto& [noted, blob_bytes] : blobs_) {
    total += blob_bytes.size();
  }
  if (options_.outbox != nullptr && total <= kBlobBytesMax) {
    blobs_.insert_or_assign(hash, std::string(bytes));
  }
}

void Record::rewind_to(Seq to) {
  REPRISE_ASSERT(pending_.empty());  // (6)
  memory_.clear();
  stored_to_ = to;
}

// If another program has dropped the running answer, or the record has grown, the message is
// appended nevertheless. If another process has settled the answer, it is lost.
Result<AppendResult> Record::write(const Batch& batch) {
  REPRISE_TRY(store_session(batch.messages.empty() ? nullptr : &batch.messages.front()));
  const auto hold = lease_ ? lease_->hold() : LeaseRenewer::Hold();
  auto appended = write_as(batch, true, true);
  const auto refused = [&appended] { return !appended && appended.error().code == Code::conflict; };
  if (refused() && batch.replace_from) {
    appended = write_as(batch, true, false);  // the record has grown, unless this is refused, too
  }
  if (refused() && batch.end) {
    if (lease_) {
      REPRISE_ASSIGN(const bool is_settled, lease_->confirm_settled(hold, *batch.end));
      if (is_settled) {
        return std::unexpected(lost_error());
      }
    }
    appended = write_as(batch, false, true);
    if (refused() && batch.replace_from) {
      appended = write_as(batch, false, false);
    }
  }
  if (appended && lease_ && (batch.end || batch.begin)) {
    lease_->set(hold, batch.begin ? std::optional(batch.begin->answer) : std::nullopt);
  }
  return appended;
}

// After a failed attempt the session may exist all the same.
Result<> Record::store_session(const Message* first) {
  if (is_stored_ || messages_ == nullptr) {
    return {};
  }
  const std::lock_guard lock(creating_);
  if (is_stored_) {
    return {};
  }
  if (options_.title_from_question && initial_.info.title.empty() && first != nullptr) {
    initial_.info.title = title_from_prompt(question_text(*first));
  }
  DeferredCreation* const beginning = messages_->capabilities().deferred_creation;
  Result<> created =
      beginning != nullptr ? beginning->begin(initial_) : messages_->create(initial_);
  if (!created && created.error().code == Code::conflict &&
      messages_->find(initial_.info.id).value_or(std::nullopt)) {
    created = {};
  }
  if (created && !is_stored_.exchange(true) && options_.on_session_stored) {
    options_.on_session_stored();
  }
  return created;
}

Result<AppendResult> Record::write_as(const Batch& batch, bool end, bool replace) {
  AppendOptions options{.operation = batch.operation, .begin_partial = batch.begin};
  if (end) {
    options.end_partial = batch.end;
  }
  const SessionId& id = session_.info.id;
  if (batch.replace_from && replace && rewriting() != nullptr) {
    options.expected_head = session_.info.head;
    return rewriting()->replace_suffix(id, *batch.replace_from, batch.messages, std::move(options));
  }
  return store_->append(id, batch.messages, std::move(options));
}

void Record::on_stored(const Batch& batch, const AppendResult& appended) {
  REPRISE_ASSERT(batch.memory_at + batch.messages.size() <= memory_.size());  // (1)
  if (batch.memory_at == 0 && !batch.messages.empty()) {
    stored_to_ = appended.first;
  }
  for (std::size_t i = 0; i < batch.messages.size(); ++i) {
    memory_.at(batch.memory_at + i).seq = appended.first.next(static_cast<std::int64_t>(i));
  }
  for (const Message& message : batch.messages) {
    for (const BlobHash& hash : store::blobs_in(message.blocks)) {
      blobs_.erase(hash);
    }
  }
  may_be_another_ = false;
  session_.info.head = appended.head;
  note_activity(session_.info, batch.messages, std::nullopt);
}

void Record::flush() {
  if (const auto stored = responses_ ? responses_->flush(session_) : Result<>(); !stored) {
    on_failed(stored.error());
  }
  if (store_ == nullptr) {
    return move_to_outbox();
  }
  while (!pending_.empty()) {
    const Batch& batch = pending_.front();
    const auto appended = write(batch);
    if (!appended && lease_ && lease_->lost().stop_requested()) {
      return drop_lost();
    }
    if (!appended) {
      on_failed(appended.error());
      return;
    }
    on_stored(batch, *appended);
    pending_.pop_front();
  }
  if (std::exchange(uses_outbox_, false)) {
    options_.outbox->clear();
  }
}

Result<> Record::store_pending() {
  const auto is_lost = [this] { return lease_ != nullptr && lease_->lost().stop_requested(); };
  const bool was_lost = is_lost();  // and reported
  flush();
  if (failure_ && store_ != nullptr &&
      (has_pending() || (responses_ != nullptr && !responses_->is_empty()))) {
    return std::unexpected(*failure_);
  }
  return is_lost() && !was_lost ? std::unexpected(lost_error()) : Result<>();
}

void Record::count_usage(const std::vector<Message>& messages) {
  for (const Message& message : messages) {
    store::count_usage(session_.usage, counted_requests_, message);
  }
}

HistorySlice Record::slice() const {
  return {.store = is_stored_ ? messages_ : nullptr,
          .session = session_.info.id,
          .from = Seq{0},
          .to = stored_to_,
          .memory = memory_,
          .unstored = memory_.size() - unstored_from(),
          .refused = refused_questions(session_.extra)};
}

std::size_t Record::unstored_from() const {
  if (messages_ == nullptr) {
    return 0;
  }
  return pending_.empty() ? memory_.size() : pending_.front().memory_at;
}

std::vector<Message> Record::unsaved_messages() const {
  if (messages_ == nullptr) {
    return memory_;
  }
  std::vector<Message> out;
  for (const Batch& batch : pending_) {
    out.insert(out.end(), batch.messages.begin(), batch.messages.end());
  }
  return out;
}

std::optional<OperationId> Record::answer() const {
  return pending_.empty() ? answer_ : std::nullopt;
}

Rewriting* Record::rewriting() const {
  return messages_ != nullptr ? messages_->capabilities().rewriting : nullptr;
}

}  // namespace reprise
