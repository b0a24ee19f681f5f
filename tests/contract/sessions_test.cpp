// create, find, get, update.

#include "reprise/sessions.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/testing/temporary_folder.h"
#include "contract/named_ids.h"
#include "contract/store_contract.h"
#include "reprise/conversation.h"
#include "reprise/open_store.h"
#include "reprise/provider.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

TEST_P(StoreContract, ANewStoreIsEmpty) {
  EXPECT_EQ(must(store().find(session_id("nobody"))), std::nullopt);
  EXPECT_TRUE(fails(get(store(), session_id("nobody")), Code::not_found));
  EXPECT_EQ(listed(), std::vector<SessionInfo>{});
}

TEST_P(StoreContract, ASessionIsFoundAsItWasCreated) {
  const Session whole = holdable(full_session("whole"));
  ASSERT_TRUE(works(store().create(whole)));
  EXPECT_EQ(found(whole.info.id), whole);
  reopen();
  EXPECT_EQ(found(whole.info.id), whole);
  EXPECT_EQ(stored(whole.info.id), std::vector<Message>{});
}

TEST_P(StoreContract, AnEmptySessionIsFoundAsItWasCreated) {
  const Session empty{.info = {.id = session_id("e")}};
  ASSERT_TRUE(works(store().create(empty)));
  reopen();
  EXPECT_EQ(found(empty.info.id), empty);
}

TEST_P(StoreContract, ANewSessionIsStoredWithItsFirstMessage) {
  if (!store().capabilities().messages) {
    GTEST_SKIP() << "this store holds no message text";
  }
  const auto provider = must(make_provider("echo", {}));
  Session fresh{.info = {.id = session_id("fresh"), .model = "echo"}};
  ASSERT_TRUE(works(prepare_session(store(), *provider, fresh)));
  {
    const Conversation unused(*provider, &store(), fresh, {.is_new = true});
    EXPECT_EQ(must(store().find(fresh.info.id)), std::nullopt);
  }
  EXPECT_EQ(listed(), std::vector<SessionInfo>{});
  TurnObserver observer;
  EXPECT_TRUE(
      must(Conversation(*provider, &store(), fresh, {.is_new = true}).ask("hello", observer))
          .saved);
  reopen();
  EXPECT_EQ(listed().size(), 1U);
  EXPECT_EQ(stored(fresh.info.id).size(), 2U);
}

TEST_P(StoreContract, FieldsDerivedFromMessagesAreNotCreated) {
  Session boasting = session("boasting");
  boasting.info.head = {7};
  boasting.info.answering = Owner{"host", 1, 2};
  boasting.usage = usage("req", 10, 20);
  ASSERT_TRUE(works(store().create(boasting)));
  EXPECT_EQ(found(boasting.info.id), session("boasting"));
}

TEST_P(StoreContract, AnIdIsCreatedOnce) {
  const SessionId id = create("once", messages(1));
  Session second = session("once");
  second.info.title = "another";
  EXPECT_TRUE(fails(store().create(second), Code::conflict));
  EXPECT_EQ(found(id).info.title, "Title of once");
  EXPECT_EQ(stored(id), readable(messages(1)));
}

TEST_P(StoreContract, SessionsAreNotCreatedInTheTrash) {
  Session trashed = session("trashed");
  trashed.info.state = SessionState::trashed;
  EXPECT_TRUE(fails(store().create(trashed), Code::invalid_argument));
  EXPECT_EQ(must(store().find(trashed.info.id)), std::nullopt);
}

TEST_P(StoreContract, EveryValidIdIsStored) {
  REPRISE_NEEDS(capabilities().many_sessions && capabilities().any_id);
  const std::vector<std::string> ids = {"0",    "a_b", "A_B",     "axb",
                                        "C:@+", "d..", "e-._:@+", std::string(200, 'z')};
  for (const std::string& id : ids) {
    ASSERT_TRUE(works(store().create(session(id)))) << id;
  }
  reopen();
  for (const std::string& id : ids) {
    EXPECT_EQ(found(session_id(id)).info.title, "Title of " + id);
  }
  EXPECT_EQ(must(store().find(session_id("c:@+"))), std::nullopt);
}

// One field at a time, to detect a field that changes another one.
TEST_P(StoreContract, UpdateReplacesTheFieldsThatAreSetAndNoOthers) {
  const SessionId id = create("patched", messages(2));
  Session expected = found(id);
  const Capabilities& can = capabilities();
  const auto check = [&](const SessionPatch& patch, const char* what) {
    ASSERT_TRUE(works(store().update(id, patch))) << what;
    EXPECT_EQ(found(id), expected) << what;
  };
  check({}, "nothing");
  expected.info.title = "new \"title\"";
  check({.title = "new \"title\""}, "title");
  expected.info.title = "";
  check({.title = ""}, "no title");
  if (can.modes) {
    expected.info.mode = "review";
    check({.mode = "review"}, "mode");
  }
  expected.info.provider = "openai";
  check({.provider = "openai"}, "provider");
  expected.info.model = "m-2";
  check({.model = "m-2"}, "model");
  if (can.folders) {
    expected.info.working_dir = "/elsewhere";
    check({.working_dir = "/elsewhere"}, "working_dir");
  }
  if (can.system_prompt) {
    expected.system_prompt = "Be long.";
    check({.system_prompt = "Be long."}, "system_prompt");
  }
  if (can.config) {
    expected.config = raw(R"({"b":1.0,"a":null})");
    check({.config = expected.config}, "config");
    expected.config = RawJson();
    check({.config = RawJson()}, "no config");
  }
  reopen();
  EXPECT_EQ(found(id), expected);
}

TEST_P(StoreContract, UpdateReplacesDataBesideTheMessages) {
  const SessionId id = create("patched", messages(2));
  Session expected = found(id);
  const auto check = [&](const SessionPatch& patch, const char* what) {
    ASSERT_TRUE(works(store().update(id, patch))) << what;
    EXPECT_EQ(found(id), expected) << what;
  };
  expected.info.state = SessionState::closed;
  check({.state = SessionState::closed}, "state");
  expected.info.closed_at = at(9, 7);
  check({.closed_at = expected.info.closed_at}, "closed_at");
  expected.info.updated_at = at(11, 7);
  check({.updated_at = expected.info.updated_at}, "updated_at");
  expected.info.state = SessionState::active;
  expected.info.closed_at.reset();
  check({.state = SessionState::active, .closed_at = std::optional<Time>()}, "open again");
  expected.response_chain = {{"openai", "r1"}, {"openai", "r0"}};
  check({.response_chain = expected.response_chain}, "response_chain");
  expected.response_chain.clear();
  check({.response_chain = expected.response_chain}, "no response_chain");
  for (int number = 0; number < 100; ++number) {
    expected.prompt_history.push_back("prompt " + std::to_string(number));
  }
  check({.prompt_history = expected.prompt_history}, "prompt_history");
  expected.extra = {{"b", raw("1.0")}, {"a", raw("[]")}};
  check({.extra = expected.extra}, "extra");
  expected.extra.clear();
  check({.extra = Extra()}, "no extra");
  reopen();
  EXPECT_EQ(found(id), expected);
}

TEST_P(StoreContract, ARenameIsNotActivity) {
  const SessionId id = create("renamed", messages(3));
  const Time before = found(id).info.updated_at;
  must(store().update(id, {.title = "x", .state = SessionState::closed, .closed_at = at(1000)}));
  EXPECT_EQ(found(id).info.updated_at, before);
}

TEST_P(StoreContract, UpdateSetsOnlyActiveAndClosed) {
  const SessionId id = create("s");
  for (const SessionState state : {SessionState::trashed, SessionState::archived}) {
    EXPECT_TRUE(
        fails(store().update(id, {.title = "changed", .state = state}), Code::invalid_argument));
  }
  EXPECT_EQ(found(id), session("s")) << "nothing of a refused patch is stored";
}

TEST_P(StoreContract, UnknownSessionsAreNotFound) {
  create("somebody");
  const SessionId nobody = session_id("nobody");
  EXPECT_TRUE(fails(store().update(nobody, {.title = "x"}), Code::not_found));
  EXPECT_TRUE(fails(store().append(nobody, messages(1), {}), Code::not_found));
  EXPECT_TRUE(fails(store().append(nobody, {}, {}), Code::not_found));
  EXPECT_TRUE(fails(read_all(store(), nobody), Code::not_found));
  EXPECT_EQ(must(store().find(nobody)), std::nullopt) << "nothing is created by asking";
  EXPECT_EQ(listed_ids(), std::vector<std::string>{"somebody"});
}

TEST_P(StoreContract, ABackupHasEverything) {
  REPRISE_NEEDS(capabilities().backup);
  std::vector<Message> all = messages(2);
  all.push_back(user(std::string(2'500'000, 'x'), at(9)));  // longer than any buffer
  const SessionId id = create("s", capabilities().messages ? all : std::vector<Message>{});
  const Session before = found(id);
  const TemporaryFolder folder;
  const std::filesystem::path target = folder.path() / "copy";
  must(capabilities().backup->backup(target));
  EXPECT_TRUE(fails(capabilities().backup->backup(target), Code::conflict)) << "it exists by now";
  auto copy = must(open_store(target.native(), {.access = Access::read}));
  if (!copy->capabilities().any_id) {
    copy = with_named_ids(std::move(copy));
  }
  EXPECT_EQ(must(get(*copy, id)), before);
  EXPECT_EQ(must(read_all(*copy, id)), stored(id));
}

// Two sessions are appended to alternately during the backup, so that the second never has more
// messages; then the title of the first is set to their number.
TEST_P(StoreContract, ABackupIsASnapshot) {
  REPRISE_NEEDS(capabilities().backup);
  REPRISE_NEEDS(capabilities().many_sessions && capabilities().messages);
  const std::vector<SessionId> both = {create("a"), create("b")};
  must(store().update(both[0], {.title = "0"}));
  constexpr int kBackups = 20;
  std::atomic<int> backups = 0;
  std::thread writer([&, rounds = 0]() mutable {
    while (backups < kBackups) {
      for (const SessionId& id : both) {
        append(id, {user("again")}, {.durability = Durability::os});
      }
      ++rounds;
      must(store().update(both[0], {.title = std::to_string(rounds)}));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  const TemporaryFolder folder;
  int whole = 0;
  for (; backups < kBackups; ++backups) {
    const std::filesystem::path target = folder.path() / std::to_string(backups);
    const auto done = capabilities().backup->backup(target);
    if (!done && done.error().code == Code::busy) {
      continue;  // busy: it is written faster than it can be copied
    }
    EXPECT_TRUE(works(done));
    ++whole;
    auto copy = must(open_store(target.native(), {.access = Access::read}));
    if (!copy->capabilities().any_id) {
      copy = with_named_ids(std::move(copy));
    }
    const SessionInfo named = must(get(*copy, both[0])).info;
    const std::int64_t first = named.head.value;
    const std::int64_t second = must(get(*copy, both[1])).info.head.value;
    EXPECT_TRUE(first == second || first == second + 1) << first << " and " << second;
    const std::int64_t title = std::stoll(named.title);
    EXPECT_TRUE(title == second || title == second - 1) << title << " and " << second;
    EXPECT_EQ(std::ssize(must(read_all(*copy, both[0]))), first);
    EXPECT_TRUE(must(copy->capabilities().verifier->verify()).damage.empty());
  }
  writer.join();
  EXPECT_GT(whole, 0);
}

}  // namespace
}  // namespace reprise::test
