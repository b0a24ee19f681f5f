#pragma once

// The contract of Store and its capabilities, as one suite for all stores. A store is complete when
// it passes. Tests check capabilities() and are skipped with a message if they do not apply to the
// store. A new store needs a line in store_cases.cpp.

#include <gtest/gtest.h>

#include <atomic>
#include <iosfwd>

#include "base/testing/temporary_folder.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/must.h"
#include "support/print.h"

namespace reprise::test {

struct StoreCase {
  std::string name;
  // Opens the store in the given folder, which initially is empty; creates it if it does not exist.
  std::function<Result<std::unique_ptr<Store>>(const std::filesystem::path& folder,
                                               const StoreOptions& options)>
      open;
  bool is_persistent = true;  // whether data survives reopening
};
// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest's name.
void PrintTo(const StoreCase& store_case, std::ostream* out);

std::vector<StoreCase> store_cases();

// A clock that is set by hand.
class ManualClock final : public Clock {
 public:
  Time now() override { return Time(now_.load()); }
  void pass(std::chrono::microseconds time) { now_ = now_.load() + time; }

 private:
  std::atomic<std::chrono::microseconds> now_ = std::chrono::microseconds(1'790'000'000'000'000);
};

class StoreContract : public testing::TestWithParam<StoreCase> {
 protected:
  StoreContract();

  Store& store() { return *store_; }
  ManualClock& clock() { return clock_; }
  // Another client of the same store; null if that is impossible.
  std::unique_ptr<Store> another();
  const Capabilities& capabilities() { return store_->capabilities(); }

  // Closes and reopens a persistent store; does nothing for others.
  void reopen();
  void close() { store_.reset(); }
  bool is_persistent() const { return GetParam().is_persistent; }
  // Opens another object for the same store, like another process would.
  std::unique_ptr<Store> open(const StoreOptions& options = {}) {
    return must(GetParam().open(folder_.path(), options));
  }

  // Creates session(id), and appends the messages.
  SessionId create(std::string_view id, std::vector<Message> messages = {});
  SessionId create(const Session& session, std::vector<Message> messages = {});
  // The session without the fields that the store cannot hold.
  Session holdable(Session session);
  Message holdable(Message message);
  // The messages in a form that can be appended: without blocks if the store holds no text.
  std::vector<Message> appendable(std::vector<Message> messages);
  // The messages that can be read after appending these: numbered, or none.
  std::vector<Message> readable(std::vector<Message> messages);

  Session found(const SessionId& id) { return must(get(store(), id)); }
  std::vector<Message> stored(const SessionId& id, ReadRange range = {}) {
    return must(read_all(store(), id, range));
  }
  AppendResult append(const SessionId& id, std::vector<Message> messages,
                      AppendOptions options = {}) {
    return must(store().append(id, appendable(std::move(messages)), std::move(options)));
  }
  std::vector<SessionInfo> listed(const SessionQuery& query = {}) {
    return must(store().list(query)).sessions;
  }
  std::vector<std::string> listed_ids(const SessionQuery& query = {});

 private:
  ManualClock clock_;
  TemporaryFolder folder_;
  std::unique_ptr<Store> store_;
};

std::vector<std::string> ids_of(const std::vector<SessionInfo>& sessions);

}  // namespace reprise::test

// Skips a test that does not apply to the store: REPRISE_NEEDS(capabilities().trash);
#define REPRISE_NEEDS(what)                                    \
  if (!(what)) {                                               \
    GTEST_SKIP() << "not for this store: it has no " << #what; \
  }                                                            \
  static_assert(true, "a semicolon")
