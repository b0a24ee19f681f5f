#pragma once

// A store that fails on purpose: every call is counted, and those the test picks fail.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"

namespace reprise {

class FaultyStore final : public Store {
 public:
  explicit FaultyStore(Store& inner)
      : inner_(inner), offers_(inner.offers()), holds_(inner.holds()) {
    offers_.partials = &partials_;
    offers_.rewriting = &rewriting_;
  }

  // The number of the call, from 0, to whether it fails.
  std::function<bool(int)> fails = [](int) { return false; };
  bool after_the_fact = false;  // an append that fails has happened all the same
  std::atomic<int> calls = 0;
  StoreHolds& holds_for_test() { return holds_; }
  StoreOffers& offers_for_test() { return offers_; }

  Result<> create(const Session& session) override {
    REPRISE_TRY(check());
    return inner_.create(session);
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
  Result<Appended> append(const SessionId& id, std::vector<Message> messages,
                          AppendOptions options) override {
    const auto allowed = check();
    if (allowed || after_the_fact) {
      auto appended = inner_.append(id, std::move(messages), std::move(options));
      REPRISE_TRY(allowed);  // it is stored, and the caller never hears
      return appended;
    }
    return std::unexpected(allowed.error());
  }
  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override {
    REPRISE_TRY(check());
    return inner_.read(id, range, sink);
  }
  StoreHolds holds() const override { return holds_; }
  const StoreOffers& offers() const override { return offers_; }

 private:
  struct FaultyPartials final : Partials {
    explicit FaultyPartials(FaultyStore& owner) : store(owner) {}
    Result<> add(const SessionId& id, const OperationId& answer,
                 std::span<const Block> delta) override {
      REPRISE_TRY(store.check());
      return store.inner_.offers().partials->add(id, answer, delta);
    }
    Result<> renew(const SessionId& id, const OperationId& answer, const Lease& lease) override {
      REPRISE_TRY(store.check());
      return store.inner_.offers().partials->renew(id, answer, lease);
    }
    Result<std::optional<Partial>> find(const SessionId& id) override {
      REPRISE_TRY(store.check());
      return store.inner_.offers().partials->find(id);
    }
    FaultyStore& store;
  };
  struct FaultyRewriting final : Rewriting {
    explicit FaultyRewriting(FaultyStore& owner) : store(owner) {}
    Result<Appended> replace_suffix(const SessionId& id, Seq from, std::vector<Message> messages,
                                    AppendOptions options) override {
      REPRISE_TRY(store.check());
      return store.inner_.offers().rewriting->replace_suffix(id, from, std::move(messages),
                                                             std::move(options));
    }
    Result<std::int64_t> count_replaced(const SessionId& id) override {
      return store.inner_.offers().rewriting->count_replaced(id);
    }
    FaultyStore& store;
  };

  Result<> check() {
    if (fails(calls++)) {
      return fail(Code::io, "no space left on device", 28);
    }
    return {};
  }

  Store& inner_;
  StoreOffers offers_;
  StoreHolds holds_;
  FaultyPartials partials_{*this};
  FaultyRewriting rewriting_{*this};
};

}  // namespace reprise
