#pragma once

// The contract of Store and its offers, as one suite over all stores. A store is "done" when it
// passes. Tests ask capabilities() what applies to the store at hand and are skipped aloud
// where something does not. A new store adds a line in store_cases.cpp.

#include <gtest/gtest.h>

#include <atomic>
#include <iosfwd>

#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/must.h"
#include "support/print.h"
#include "support/temporary_folder.h"

namespace reprise::test {

struct StoreCase {
  std::string name;
  // Opens the one store that the empty folder is for, creating it when missing.
  std::function<Result<std::unique_ptr<Store>>(const std::filesystem::path& folder,
                                               const StoreOptions& options)>
      open;
  bool is_persistent = true;  // what was written is there after opening it again
};
// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest's name.
void PrintTo(const StoreCase& store_case, std::ostream* out);

std::vector<StoreCase> store_cases();

// Goes when it is told to.
class SetClock final : public Clock {
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
  SetClock& clock() { return clock_; }
  // Another client of the same store; null where there cannot be one.
  std::unique_ptr<Store> another();
  const Capabilities& capabilities() { return store_->capabilities(); }

  // Closes a persistent store and opens it anew; others stay as they are.
  void reopen();
  void close() { store_.reset(); }
  bool is_persistent() const { return GetParam().is_persistent; }
  // Another object of the same store, as another process would have it.
  std::unique_ptr<Store> open(const StoreOptions& options = {}) {
    return must(GetParam().open(folder_.path(), options));
  }

  // Creates session(id), and appends the messages.
  SessionId create(std::string_view id, std::vector<Message> messages = {});
  SessionId create(const Session& session, std::vector<Message> messages = {});
  // What the store can hold of it: all else is as if it had never been set.
  Session holdable(Session session);
  Message holdable(Message message);
  // Messages that can be appended; without their blocks where a store keeps no words.
  std::vector<Message> appendable(std::vector<Message> messages);
  // What can be read after they were appended: numbered, or nothing.
  std::vector<Message> readable(std::vector<Message> messages);

  Session found(const SessionId& id) { return must(get(store(), id)); }
  std::vector<Message> stored(const SessionId& id, ReadRange range = {}) {
    return must(read_all(store(), id, range));
  }
  Appended append(const SessionId& id, std::vector<Message> messages, AppendOptions options = {}) {
    return must(store().append(id, appendable(std::move(messages)), std::move(options)));
  }
  std::vector<SessionInfo> listed(const SessionQuery& query = {}) {
    return must(store().list(query)).sessions;
  }
  std::vector<std::string> listed_ids(const SessionQuery& query = {});

 private:
  SetClock clock_;
  TemporaryFolder folder_;
  std::unique_ptr<Store> store_;
};

std::vector<std::string> ids_of(const std::vector<SessionInfo>& sessions);

}  // namespace reprise::test

// Skips a test that the store at hand cannot take: REPRISE_NEEDS(capabilities().trash);
#define REPRISE_NEEDS(what)                                    \
  if (!(what)) {                                               \
    GTEST_SKIP() << "not for this store: it has no " << #what; \
  }                                                            \
  static_assert(true, "a semicolon")
