// A store object after fork(): the child's copy is unusable and harmless.

#include <gtest/gtest.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <stop_token>
#include <thread>

#include "contract/store_contract.h"
#include "reprise/capabilities.h"
#include "reprise/store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

constexpr unsigned kLongestSeconds = 60;

template <class Value>
bool is_refused(const Result<Value>& result) {
  return !result && result.error().code == Code::unsupported;
}

// Whether every call of a store's copy in a child is refused; `what` is the name of the last call.
bool refuses_all_calls(Store& store, const SessionId& id, const char*& what) {
  const Capabilities& capabilities = store.capabilities();
  const std::pair<const char*, bool> refused[] = {
      {"find", is_refused(store.find(id))},
      {"list", is_refused(store.list({}))},
      {"append", is_refused(store.append(id, {}, {}))},
      {"update", is_refused(store.update(id, {.title = "child's"}))},
      {"create", is_refused(store.create(session("child")))},
      {"read", is_refused(store.read(id, {}, [](Message&&) { return Flow::proceed; }))},
      {"find_partial",
       !capabilities.partials || is_refused(capabilities.partials->find_partial(id))},
      {"add_partial", !capabilities.partials || is_refused(capabilities.partials->add_partial(
                                                    id, operation_id("a"), {}))},
      {"renew_lease", !capabilities.partials || is_refused(capabilities.partials->renew_lease(
                                                    id, operation_id("a"), {}))},
      {"trash", !capabilities.trash || is_refused(capabilities.trash->trash(id, at(1)))},
      {"restore", !capabilities.trash || is_refused(capabilities.trash->restore(id))},
      {"purge", !capabilities.trash || is_refused(capabilities.trash->purge(id))},
      {"archive", !capabilities.archives || is_refused(capabilities.archives->archive(id, at(1)))},
      {"unarchive", !capabilities.archives || is_refused(capabilities.archives->unarchive(id))},
      {"replace_suffix",
       !capabilities.rewriting ||
           is_refused(capabilities.rewriting->replace_suffix(id, Seq{0}, {}, {}))},
      {"fork", !capabilities.forking ||
                   is_refused(capabilities.forking->fork(id, Seq{0}, session("child")))},
      {"todos", !capabilities.todos || is_refused(capabilities.todos->todos(id))},
      {"edit_todos", !capabilities.todos || is_refused(capabilities.todos->edit_todos(
                                                id, [](auto& /*todos*/) { return Result<>(); }))},
      {"put_blob", !capabilities.blobs || is_refused(capabilities.blobs->put_blob("child"))},
      {"list_artefacts",
       !capabilities.artefacts || is_refused(capabilities.artefacts->list_artefacts(id))},
      {"save_artefact", !capabilities.artefacts || is_refused(capabilities.artefacts->save_artefact(
                                                       id, {1}, "a.md", "a"))},
      {"verify", !capabilities.verifier || is_refused(capabilities.verifier->verify())},
      {"backup",
       !capabilities.backup || is_refused(capabilities.backup->backup("/nowhere/at/all"))},
  };
  for (const auto& [name, is_so] : refused) {
    if (!is_so) {
      what = name;
      return false;
    }
  }
  return true;
}

// The child has no threads and possibly their locks: an alarm ends a call that waits for them.
TEST_P(StoreContract, AChildOfForkCannotUseItsParentsStore) {
  const SessionId id = create("s");
  append(id, messages(1), {});
  std::atomic<int> appended = 0;
  std::atomic<bool> fails = false;
  std::jthread writer([&](const std::stop_token& stop) {
    while (!stop.stop_requested() && !fails) {
      const bool done = store().append(id, appendable(messages(1, "w")), {}).has_value();
      appended += done ? 1 : 0;
      fails = !done;
    }
  });
  for (int forks = 0; forks < 8; ++forks) {
    for (const int before = appended; appended == before && !fails;) {
      std::this_thread::yield();
    }
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(kLongestSeconds);
      const char* what = "";
      const bool is_good = refuses_all_calls(store(), id, what);
      if (!is_good) {
        (void)!::write(STDERR_FILENO, what, std::string_view(what).size());
      }
      close();
      ::_exit(is_good ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  }
  writer.request_stop();
  writer.join();
  EXPECT_FALSE(fails);
  append(id, messages(1, "last"), {});
  reopen();
  EXPECT_EQ(found(id).info.title, session("s").info.title);
  if (capabilities().messages) {
    EXPECT_EQ(stored(id).size(), static_cast<std::size_t>(appended) + 2);
  }
}

// The child must not release the parent's locks or close its connections.
TEST_P(StoreContract, AParentContinuesAfterItsChildHasClosedTheStore) {
  const SessionId id = create("s");
  constexpr int kEach = 5;
  for (int i = 0; i < kEach; ++i) {
    append(id, messages(2, std::to_string(i)), {});
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(kLongestSeconds);
      close();
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    append(id, messages(2, std::to_string(i)), {});
  }
  reopen();
  EXPECT_EQ(stored(id).size(), capabilities().messages ? kEach * std::size_t{4} : 0);
}

}  // namespace
}  // namespace reprise::test
