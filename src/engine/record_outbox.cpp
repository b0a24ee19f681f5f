// The record's handling of a failing or missing store.

#include <algorithm>
#include <functional>
#include <iterator>

#include "base/text.h"
#include "base/utf8.h"
#include "engine/record.h"
#include "store/rules.h"

namespace reprise {

void Record::on_failed(const Error& error) {
  saved_ = false;
  failure_ = error;
  if (!std::exchange(has_warned_of_loss_, true) && observer_ != nullptr) {
    warned_ = true;
    observer_->on_warning(cat("not saved: ", error.message, "; the session continues in memory"));
  }
  move_to_outbox();
}

// Without a store, only batches that the outbox could not save are pending.
void Record::keep_in_memory(Batch batch) {
  if (store_ == nullptr && options_.outbox != nullptr) {
    pending_.push_back(std::move(batch));
    move_to_outbox();
  }
}

// In order, each one once; the next failure retries what could not be saved.
void Record::move_to_outbox() {
  if (options_.outbox == nullptr) {
    return;
  }
  Result<> saved;
  bool has_saved = false;
  Seq after = session_.info.head;
  for (auto batch = pending_.begin(); saved && batch != pending_.end(); ++batch) {
    if (store_ == nullptr) {
      after = session_.info.head.next(static_cast<std::int64_t>(batch->memory_at));
    }
    const bool has_content = !batch->messages.empty() || batch->replace_from;
    if (has_content && !batch->in_outbox) {
      saved = add_to_outbox(*batch, after);
      has_saved = has_saved || saved;
    }
    batch->in_outbox = saved.has_value();
    after = batch->replace_from.value_or(after).next(std::ssize(batch->messages));
  }
  if (store_ == nullptr) {
    while (!pending_.empty() && pending_.front().in_outbox) {
      pending_.pop_front();
    }
  } else {
    uses_outbox_ = uses_outbox_ || has_saved;
  }
  if (has_saved && !std::exchange(has_used_outbox_, true) && options_.statistics != nullptr) {
    options_.statistics->record([](StoreCounts& counts) { ++counts.spilled_turns; });
  }
  if (observer_ != nullptr && has_saved && !std::exchange(has_reported_outbox_, true)) {
    observer_->on_warning(cat("it is saved in ", options_.outbox->where()));
  }
  if (observer_ != nullptr && !saved && !std::exchange(has_reported_outbox_failure_, true)) {
    observer_->on_warning(cat("it could not be saved elsewhere either: ", saved.error().message));
  }
}

// Another process has continued the session.
void Record::drop_lost() {
  const bool has_content =
      std::ranges::any_of(pending_, [](const Batch& batch) { return !batch.messages.empty(); });
  if (has_content) {
    lost_outcome_ = options_.outbox != nullptr ? save_lost() : describe_lost();
  }
  if (std::exchange(uses_outbox_, false)) {
    options_.outbox->rotate();  // delivered as a fork
  }
  pending_.clear();
  answer_.reset();
  saved_ = false;
}

std::string Record::save_lost() {
  has_reported_outbox_ = true;  // the error reports it
  move_to_outbox();
  const bool is_in_outbox =
      std::ranges::all_of(pending_, [](const Batch& batch) { return batch.in_outbox; });
  return is_in_outbox ? cat("its unsaved messages are in ", options_.outbox->where())
                      : describe_lost();
}

// Describes what was lost, compared to what is stored instead.
std::string Record::describe_lost() {
  std::string displayed;
  std::int64_t results = 0;
  for (const Batch& batch : pending_) {
    for (const Message& message : batch.messages) {
      displayed += message.role == role::kAssistant ? plain_text(message) : "";
      results += message.role == role::kTool ? 1 : 0;
    }
  }
  std::string stored;
  const auto sink = [&](Message&& message) {
    stored += message.role == role::kAssistant ? plain_text(message) : "";
    return stored.size() < displayed.size() ? Flow::proceed : Flow::stop;
  };
  const Seq first = pending_.front().replace_from.value_or(session_.info.head);
  if (const auto read = store_->read(session_.info.id, {.from = first}, sink); !read) {
    return cat("what was shown since then may not be saved: ", read.error().message);
  }
  const auto unsaved = std::ranges::mismatch(displayed, stored).in1;
  const auto characters =
      std::count_if(unsaved, displayed.end(), std::not_fn(utf8::is_continuation));
  if (characters == 0 && results == 0) {
    return "everything shown so far is saved";
  }
  return cat("not saved: ", characters > 0 ? cat("the last ", characters, " characters shown") : "",
             characters > 0 && results > 0 ? ", " : "",
             results > 0 ? cat("results of tools: ", results) : "");
}

Result<> Record::add_to_outbox(const Batch& batch, Seq after) {
  std::vector<OutboxBlob> blobs;
  for (const Message& message : batch.messages) {
    for (const BlobHash& hash : store::blobs_in(message.blocks)) {
      if (const auto blob = blobs_.find(hash);
          blob != blobs_.end() &&
          std::ranges::find(blobs, hash, &OutboxBlob::hash) == blobs.end()) {
        blobs.push_back({hash, blob->second});
      }
    }
  }
  return options_.outbox->add(session_, {.operation = batch.operation,
                                         .after = after,
                                         .messages = batch.messages,
                                         .replace_from = batch.replace_from,
                                         .end_partial = batch.end,
                                         .blobs = std::move(blobs)});
}

}  // namespace reprise
