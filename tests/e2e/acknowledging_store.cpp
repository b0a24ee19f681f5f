#include "e2e/acknowledging_store.h"

#include <memory>

#include "base/text.h"
#include "reprise/store.h"

namespace reprise::e2e {

AcknowledgingStore::AcknowledgingStore(std::unique_ptr<Store> store, Say say)
    : store_(std::move(store)), say_(std::move(say)), capabilities_(store_->capabilities()) {
  if (capabilities_.rewriting != nullptr) {
    capabilities_.rewriting = this;
  }
}

void AcknowledgingStore::acknowledge(const Result<AppendResult>& appended,
                                     const std::vector<Message>& messages) {
  if (!appended) {
    return;
  }
  Seq seq = appended->first;
  for (const Message& message : messages) {
    say_(cat("stored ", seq.value, " ", message_to_json(message)));
    seq = seq.next();
  }
}

Result<AppendResult> AcknowledgingStore::append(const SessionId& id, std::vector<Message> messages,
                                                AppendOptions options) {
  auto appended = store_->append(id, messages, std::move(options));
  acknowledge(appended, messages);
  return appended;
}

Result<AppendResult> AcknowledgingStore::replace_suffix(const SessionId& id, Seq from,
                                                        std::vector<Message> messages,
                                                        AppendOptions options) {
  say_(cat("replacing ", from.value));
  auto appended =
      store_->capabilities().rewriting->replace_suffix(id, from, messages, std::move(options));
  acknowledge(appended, messages);
  return appended;
}

}  // namespace reprise::e2e
