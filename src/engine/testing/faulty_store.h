#pragma once

// A store with injected failures: it counts all calls, and those that the test selects fail.

#include <atomic>

#include "reprise/capabilities.h"
#include "reprise/store.h"

namespace reprise {

class FaultyStore final : public Store, public Rewriting, public Partials, public Responses {
 public:
  explicit FaultyStore(Store& inner) : inner_(inner), capabilities_(inner.capabilities()) {
    capabilities_.partials = this;
    capabilities_.partial_reader = this;
    capabilities_.rewriting = this;
    capabilities_.responses = capabilities_.responses != nullptr ? this : nullptr;
  }

  // Decides by the number of the call, from 0, whether it fails.
  std::function<bool(int)> fails = [](int) { return false; };
  bool fails_after_write = false;  // a failing create or append is applied nevertheless
  Code code = Code::io;
  int os_errno = 28;         // no space left on the device
  std::int64_t damaged = 0;  // messages that each read reports as damaged
  std::atomic<int> calls = 0;
  Capabilities& capabilities_for_test() { return capabilities_; }

  Result<> create(const Session& session) override {
    const auto allowed = check();
    if (allowed || fails_after_write) {
      REPRISE_TRY(inner_.create(session));
    }
    return allowed;
  }
  Result<std::optional<Session>> find(const SessionId& id) override {
    REPRISE_TRY(check());
    return inner_.find(id);
  }
  Result<> update(const SessionId& id, const SessionPatch& patch) override {
    REPRISE_TRY(check());
    return inner_.update(id, patch);
  }
  Result<SessionPage> list(const SessionQuery& query) override {
    REPRISE_TRY(check());
    return inner_.list(query);
  }
  Result<AppendResult> append(const SessionId& id, std::vector<Message> messages,
                              AppendOptions options) override {
    const auto allowed = check();
    if (allowed || fails_after_write) {
      auto appended = inner_.append(id, std::move(messages), std::move(options));
      REPRISE_TRY(allowed);  // applied, but reported as failed
      return appended;
    }
    return std::unexpected(allowed.error());
  }
  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override {
    REPRISE_TRY(check());
    REPRISE_ASSIGN(ReadReport report, inner_.read(id, range, sink));
    report.damaged += damaged;
    return report;
  }
  const Capabilities& capabilities() const override { return capabilities_; }
  std::chrono::milliseconds partial_interval() const override {
    return inner_.capabilities().partials->partial_interval();
  }
  Result<> add_partial(const SessionId& id, const OperationId& answer,
                       std::span<const Block> delta) override {
    REPRISE_TRY(check());
    return inner_.capabilities().partials->add_partial(id, answer, delta);
  }
  Result<> renew_lease(const SessionId& id, const OperationId& answer,
                       const Lease& lease) override {
    REPRISE_TRY(check());
    return inner_.capabilities().partials->renew_lease(id, answer, lease);
  }
  Result<std::optional<Partial>> find_partial(const SessionId& id) override {
    REPRISE_TRY(check());
    return inner_.capabilities().partials->find_partial(id);
  }
  Result<AppendResult> replace_suffix(const SessionId& id, Seq from, std::vector<Message> messages,
                                      AppendOptions options) override {
    REPRISE_TRY(check());
    return inner_.capabilities().rewriting->replace_suffix(id, from, std::move(messages),
                                                           std::move(options));
  }
  Result<std::int64_t> count_replaced(const SessionId& id) override {
    return inner_.capabilities().rewriting->count_replaced(id);
  }
  Result<ReadReport> read_replaced(const SessionId& id, const MessageSink& sink) override {
    return inner_.capabilities().rewriting->read_replaced(id, sink);
  }
  Result<> add_response(const Session& session, const Message& answer,
                        const OperationId& operation) override {
    REPRISE_TRY(check());
    return inner_.capabilities().responses->add_response(session, answer, operation);
  }

 private:
  Result<> check() {
    if (fails(calls++)) {
      return fail(code, "the call fails", os_errno);
    }
    return {};
  }

  Store& inner_;
  Capabilities capabilities_;
};

}  // namespace reprise
