// What the record does when its store fails, or when there is none.

#include <iterator>

#include "base/text.h"
#include "engine/record.h"

namespace reprise {

void Record::failed(const Error& error) {
  saved_ = false;
  warn(cat("not saved: ", error.message, "; the conversation continues in memory"));
  move_to_outbox();
}

// Without a store nothing waits but what the outbox could not take.
void Record::keep_without_store(Batch batch) {
  if (store_ == nullptr && options_.outbox != nullptr) {
    pending_.push_back(std::move(batch));
    move_to_outbox();
  }
}

// In order, each once; the next failure tries again what could not be saved.
void Record::move_to_outbox() {
  if (options_.outbox == nullptr) {
    return;
  }
  Result<> saved;
  bool is_any = false;
  Seq after = session_.info.head;
  for (auto batch = pending_.begin(); saved && batch != pending_.end(); ++batch) {
    if (store_ == nullptr) {
      after = session_.info.head.next(static_cast<std::int64_t>(batch->memory_at));
    }
    const bool is_something = !batch->messages.empty() || batch->replace_from;
    if (is_something && !batch->in_outbox) {
      saved = put_in_outbox(*batch, after);
      is_any = is_any || saved;
    }
    batch->in_outbox = saved.has_value();
    after = batch->replace_from.value_or(after).next(std::ssize(batch->messages));
  }
  if (store_ == nullptr) {
    while (!pending_.empty() && pending_.front().in_outbox) {
      pending_.pop_front();
    }
  } else {
    uses_outbox_ = uses_outbox_ || is_any;
  }
  if (observer_ != nullptr && is_any && !std::exchange(has_reported_outbox_, true)) {
    observer_->on_warning(cat("it is saved in ", options_.outbox->where()));
  }
  if (observer_ != nullptr && !saved && !std::exchange(has_reported_outbox_failure_, true)) {
    observer_->on_warning(cat("it could not be saved elsewhere either: ", saved.error().message));
  }
}

Result<> Record::put_in_outbox(const Batch& batch, Seq after) {
  return options_.outbox->keep(session_, {.operation = batch.operation,
                                          .after = after,
                                          .messages = batch.messages,
                                          .replace_from = batch.replace_from,
                                          .end_partial = batch.end});
}

}  // namespace reprise
