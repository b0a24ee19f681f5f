#pragma once

// A store that prints what it has stored, one line at a time:
//   stored SEQ MESSAGE   append() has returned: from here on, the message must not be lost
//   replacing SEQ        from here on, the messages from SEQ on may have been replaced
// MESSAGE is its JSON. All calls are passed on unchanged.

#include "reprise/capabilities.h"
#include "reprise/store.h"

namespace reprise::e2e {

class AcknowledgingStore final : public Store, private Rewriting {
 public:
  using Say = std::function<void(const std::string& line)>;

  AcknowledgingStore(std::unique_ptr<Store> store, Say say);

  Result<> create(const Session& session) override { return store_->create(session); }
  Result<std::optional<Session>> find(const SessionId& id) override { return store_->find(id); }
  Result<> update(const SessionId& id, const SessionPatch& patch) override {
    return store_->update(id, patch);
  }
  Result<SessionPage> list(const SessionQuery& query) override { return store_->list(query); }
  Result<AppendResult> append(const SessionId& id, std::vector<Message> messages,
                              AppendOptions options) override;
  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override {
    return store_->read(id, range, sink);
  }
  const Capabilities& capabilities() const override { return capabilities_; }

 private:
  Result<AppendResult> replace_suffix(const SessionId& id, Seq from, std::vector<Message> messages,
                                      AppendOptions options) override;
  Result<std::int64_t> count_replaced(const SessionId& id) override {
    return store_->capabilities().rewriting->count_replaced(id);
  }
  Result<ReadReport> read_replaced(const SessionId& id, const MessageSink& sink) override {
    return store_->capabilities().rewriting->read_replaced(id, sink);
  }
  void acknowledge(const Result<AppendResult>& appended, const std::vector<Message>& messages);

  std::unique_ptr<Store> store_;
  Say say_;
  Capabilities capabilities_;
};

}  // namespace reprise::e2e
