// What the record does when its store fails, or when there is none.

#include <iterator>

#include "base/text.h"
#include "engine/record.h"

namespace reprise {

void Record::failed(const Error& error) {
  saved_ = false;
  warn(cat("not saved: ", error.message, "; the conversation goes on in memory"));
  spill_pending();
}

// Without a store nothing waits but what the spill could not take.
void Record::keep_without_store(Batch batch) {
  if (store_ == nullptr && options_.spill != nullptr) {
    pending_.push_back(std::move(batch));
    spill_pending();
  }
}

// In order, each once; the next failure tries again what could not be kept.
void Record::spill_pending() {
  if (options_.spill == nullptr) {
    return;
  }
  Result<> kept;
  bool is_any = false;
  Seq after = session_.info.head;
  for (auto batch = pending_.begin(); kept && batch != pending_.end(); ++batch) {
    if (store_ == nullptr) {
      after = session_.info.head.next(static_cast<std::int64_t>(batch->memory_at));
    }
    const bool is_something = !batch->messages.empty() || batch->replace_from;
    if (is_something && !batch->is_spilled) {
      kept = spill(*batch, after);
      is_any = is_any || kept;
    }
    batch->is_spilled = kept.has_value();
    after = batch->replace_from.value_or(after).next(std::ssize(batch->messages));
  }
  if (store_ == nullptr) {
    while (!pending_.empty() && pending_.front().is_spilled) {
      pending_.pop_front();
    }
  } else {
    is_spilling_ = is_spilling_ || is_any;
  }
  if (observer_ != nullptr && is_any && !std::exchange(has_said_where_, true)) {
    observer_->on_warning(cat("it is kept in ", options_.spill->where()));
  }
  if (observer_ != nullptr && !kept && !std::exchange(has_said_not_kept_, true)) {
    observer_->on_warning(cat("it is not kept elsewhere either: ", kept.error().message));
  }
}

Result<> Record::spill(const Batch& batch, Seq after) {
  return options_.spill->keep(session_, {.operation = batch.operation,
                                         .after = after,
                                         .messages = batch.messages,
                                         .replace_from = batch.replace_from,
                                         .end_partial = batch.end});
}

}  // namespace reprise
