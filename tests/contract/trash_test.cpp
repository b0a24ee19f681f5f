// Trash: hidden, restored, purged.

#include <gtest/gtest.h>

#include "contract/store_contract.h"
#include "reprise/capabilities.h"
#include "reprise/store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

using std::chrono_literals::operator""s;
using Ids = std::vector<std::string>;

TEST_P(StoreContract, TrashHidesAndRestoreBringsBack) {
  REPRISE_NEEDS(capabilities().trash);
  for (const SessionState state : {SessionState::active, SessionState::closed}) {
    Session given = holdable(full_session("s-" + std::string(to_string(state))));
    given.info.state = state;
    const SessionId id = create(given, messages(2));
    const Session before = found(id);
    ASSERT_TRUE(works(capabilities().trash->trash(id, at(500))));
    ASSERT_TRUE(works(capabilities().trash->trash(id, at(600)))) << "twice is fine";
    reopen();
    Session hidden = before;
    hidden.info.state = SessionState::trashed;
    EXPECT_EQ(found(id), hidden) << "nothing else changes";
    EXPECT_EQ(stored(id), readable(messages(2)));
    EXPECT_EQ(listed_ids(), Ids{});
    EXPECT_EQ(listed({.states = {SessionState::trashed}}), std::vector{hidden.info});
    ASSERT_TRUE(works(capabilities().trash->restore(id)));
    reopen();
    EXPECT_EQ(found(id), before);
    EXPECT_EQ(listed(), std::vector{before.info});
    must(capabilities().trash->purge(id));
  }
}

TEST_P(StoreContract, RestoringNeedsATrashedSession) {
  REPRISE_NEEDS(capabilities().trash);
  const SessionId id = create("s");
  EXPECT_TRUE(fails(capabilities().trash->restore(id), Code::invalid_argument));
  must(capabilities().trash->trash(id, at(1)));
  must(capabilities().trash->restore(id));
  EXPECT_TRUE(fails(capabilities().trash->restore(id), Code::invalid_argument));
}

TEST_P(StoreContract, TrashingUnknownSessionsIsNotFound) {
  REPRISE_NEEDS(capabilities().trash);
  const SessionId nobody = session_id("nobody");
  EXPECT_TRUE(fails(capabilities().trash->trash(nobody, at(1)), Code::not_found));
  EXPECT_TRUE(fails(capabilities().trash->restore(nobody), Code::not_found));
  EXPECT_TRUE(fails(capabilities().trash->purge(nobody), Code::not_found));
}

TEST_P(StoreContract, AnUpdateDoesNotRestore) {
  REPRISE_NEEDS(capabilities().trash);
  const SessionId id = create("s");
  must(capabilities().trash->trash(id, at(1)));
  EXPECT_TRUE(fails(store().update(id, {.state = SessionState::active}), Code::invalid_argument));
  EXPECT_TRUE(works(store().update(id, {.title = "renamed"})));
  EXPECT_EQ(found(id).info.state, SessionState::trashed);
  must(capabilities().trash->restore(id));
  EXPECT_EQ(found(id).info.title, "renamed");
}

TEST_P(StoreContract, ATrashedIdCannotBeReused) {
  REPRISE_NEEDS(capabilities().trash);
  const SessionId id = create("s");
  must(capabilities().trash->trash(id, at(1)));
  EXPECT_TRUE(fails(store().create(session("s")), Code::conflict));
}

TEST_P(StoreContract, PurgingLeavesNothing) {
  REPRISE_NEEDS(capabilities().trash);
  const SessionId id = create(holdable(full_session("s")));
  append(id, messages(2), {.operation = operation_id("op")});
  if (capabilities().partials != nullptr) {
    append(id, {}, {.begin_partial = PartialStart{operation_id("a"), this_process(), "p", "m"}});
  }
  if (capabilities().todos != nullptr) {
    must(capabilities().todos->edit_todos(id, [](std::vector<Todo>& todos) -> Result<> {
      todos.push_back({"x", TodoStatus::pending, "", {}});
      return {};
    }));
  }
  if (capabilities().artefacts != nullptr) {
    must(capabilities().artefacts->save_artefact(id, {1}, "x", "x"));
  }
  if (capabilities().rewriting != nullptr) {
    must(capabilities().rewriting->replace_suffix(id, {1}, messages(2, "new"), {}));
  }
  must(capabilities().trash->trash(id, at(1)));
  ASSERT_TRUE(works(capabilities().trash->purge(id)));
  reopen();
  EXPECT_EQ(must(store().find(id)), std::nullopt);
  EXPECT_TRUE(fails(read_all(store(), id), Code::not_found));
  EXPECT_EQ(
      listed_ids({.states = {SessionState::active, SessionState::closed, SessionState::trashed}}),
      Ids{});
  // The id can be used again, and nothing of the old session reappears.
  create("s");
  EXPECT_EQ(found(id), session("s"));
  EXPECT_EQ(stored(id), std::vector<Message>{});
  EXPECT_FALSE(append(id, messages(1), {.operation = operation_id("op")}).repeated);
  if (capabilities().partials != nullptr) {
    EXPECT_FALSE(must(capabilities().partials->find_partial(id)));
  }
  if (capabilities().todos != nullptr) {
    EXPECT_EQ(must(capabilities().todos->todos(id)), std::vector<Todo>{});
  }
  if (capabilities().artefacts != nullptr) {
    EXPECT_EQ(must(capabilities().artefacts->find_artefact(id, {1}, "x")), std::nullopt);
  }
}

TEST_P(StoreContract, PurgingOneKeepsTheOthers) {
  REPRISE_NEEDS(capabilities().trash && capabilities().many_sessions);
  const SessionId one = create("one", messages(3, "one"));
  const SessionId two = create("two", messages(3, "two"));
  must(capabilities().trash->purge(one));
  reopen();
  EXPECT_EQ(stored(two), readable(messages(3, "two")));
  EXPECT_EQ(append(two, messages(1)).first, capabilities().messages ? Seq{3} : Seq{0});
}

TEST_P(StoreContract, SharedMessagesAreNotPurged) {
  REPRISE_NEEDS(capabilities().trash && capabilities().forking);
  Trash& trash = *capabilities().trash;
  const SessionId a = create("family-a", messages(2, "a"));
  must(capabilities().forking->fork(a, {1}, session("family-b")));
  must(capabilities().forking->fork(a, {2}, session("family-c")));
  const SessionId b = session_id("family-b");
  const SessionId c = session_id("family-c");
  append(b, messages(2, "b"));
  must(capabilities().forking->fork(b, {3}, session("family-d")));
  must(trash.trash(a, at(1)));
  must(trash.trash(c, at(1)));

  const auto refused = trash.purge(a);
  ASSERT_TRUE(fails(refused, Code::conflict));
  EXPECT_NE(refused.error().message.find("family-b"), std::string::npos) << refused.error().message;
  EXPECT_NE(refused.error().message.find("family-c"), std::string::npos)
      << "in the trash, and can be restored: " << refused.error().message;
  EXPECT_TRUE(fails(trash.purge(b), Code::conflict));
  EXPECT_EQ(texts(stored(session_id("family-d"))), (Ids{"a 0", "b 0", "b 1"}));

  for (const char* last_first : {"family-d", "family-c", "family-b", "family-a"}) {
    EXPECT_TRUE(works(trash.purge(session_id(last_first)))) << last_first;
  }
}

TEST_P(StoreContract, AForkThatSharesNothingDoesNotPreventAPurge) {
  REPRISE_NEEDS(capabilities().trash && capabilities().forking);
  const SessionId parent = create("parent", messages(2));
  must(capabilities().forking->fork(parent, {0}, session("child")));
  Session created = session("told");  // set by an import, nothing is shared
  created.info.forked_from = ForkOrigin{parent, {1}};
  create(created);
  EXPECT_TRUE(works(capabilities().trash->purge(parent)));
  EXPECT_EQ(found(session_id("child")).info.forked_from, (ForkOrigin{parent, {0}}));
  EXPECT_EQ(found(created.info.id), created);
}

bool has_blob(Blobs& blobs, const BlobHash& hash) {
  return blobs.read_blob(hash, [](std::string_view) { return Flow::proceed; }).has_value();
}

Message naming(const BlobHash& hash) {
  Message message = user("see");
  message.blocks.emplace_back(ImageBlock{"image/png", hash, "", {}});
  return message;
}

TEST_P(StoreContract, BlobsLiveAsLongAsTheyAreReferenced) {
  REPRISE_NEEDS(capabilities().trash && capabilities().blobs && capabilities().blocks);
  const auto put = [this](std::string_view bytes) {
    return must(capabilities().blobs->put_blob(bytes));
  };
  const BlobHash only_one = put("only one");
  const BlobHash both = put("both");
  const BlobHash result = put("a tool's output");
  const BlobHash nobody = put("nobody");
  Message tool = message(role::kTool, "done");
  tool.blocks.emplace_back(ToolResultBlock{"t", "beginning", false, result, {}});
  const SessionId one = create("one", {naming(only_one), naming(both)});
  create("two", {naming(both), tool});
  create("other");
  clock().pass(kBlobPinned + 1s);
  must(capabilities().trash->trash(one, at(1)));
  must(capabilities().trash->purge(session_id("other")));
  EXPECT_TRUE(has_blob(*capabilities().blobs, only_one)) << "what is in the trash can be restored";
  EXPECT_FALSE(has_blob(*capabilities().blobs, nobody));
  must(capabilities().trash->purge(one));
  reopen();
  EXPECT_FALSE(has_blob(*capabilities().blobs, only_one));
  EXPECT_TRUE(has_blob(*capabilities().blobs, both));
  EXPECT_TRUE(has_blob(*capabilities().blobs, result));
}

TEST_P(StoreContract, BlobsArePinnedForADay) {
  REPRISE_NEEDS(capabilities().trash && capabilities().blobs && capabilities().blocks);
  const BlobHash hash = must(capabilities().blobs->put_blob("about to be named"));
  must(capabilities().trash->purge(create("other")));
  EXPECT_TRUE(has_blob(*capabilities().blobs, hash));
  must(capabilities().trash->purge(create("one", {naming(hash)})));
  EXPECT_TRUE(has_blob(*capabilities().blobs, hash)) << "somebody else may have put it, too";
  EXPECT_EQ(must(capabilities().trash->remnants()).size(), GetParam().is_persistent ? 1U : 0U);
  clock().pass(kBlobPinned - 1s);
  must(capabilities().trash->purge(create("other")));
  EXPECT_TRUE(has_blob(*capabilities().blobs, hash));

  EXPECT_EQ(must(capabilities().blobs->put_blob("about to be named")), hash);
  clock().pass(kBlobPinned - 1s);
  must(capabilities().trash->purge(create("other")));
  EXPECT_TRUE(has_blob(*capabilities().blobs, hash)) << "putting it again pins it anew";
  clock().pass(2s);
  must(capabilities().trash->purge(create("other")));
  EXPECT_FALSE(has_blob(*capabilities().blobs, hash)) << "nobody has named it";
}

TEST_P(StoreContract, PinsOfAnotherClientCount) {
  REPRISE_NEEDS(capabilities().trash && capabilities().blobs && capabilities().blocks);
  const auto other = another();
  REPRISE_NEEDS(other != nullptr);
  const BlobHash old = must(capabilities().blobs->put_blob("named long ago"));
  const SessionId one = create("one", {naming(old)});
  clock().pass(kBlobPinned + 1s);
  const BlobHash again = must(other->capabilities().blobs->put_blob("named long ago"));
  const BlobHash fresh = must(other->capabilities().blobs->put_blob("new"));
  EXPECT_EQ(again, old);
  must(capabilities().trash->purge(one));
  const SessionId two = create("two");
  must(other->append(two, {naming(again), naming(fresh)}, {}));
  must(capabilities().trash->purge(create("three")));
  EXPECT_TRUE(has_blob(*capabilities().blobs, old));
  EXPECT_TRUE(has_blob(*capabilities().blobs, fresh));
}

// A purge removes only some of the unreferenced blobs, so that its cost is bounded.
TEST_P(StoreContract, UnreferencedBlobsAreFinallyRemoved) {
  REPRISE_NEEDS(capabilities().trash && capabilities().blobs && capabilities().blocks);
  std::vector<BlobHash> unnamed;
  std::vector<Message> naming_all;
  for (int i = 0; i < 300; ++i) {
    const BlobHash hash = must(capabilities().blobs->put_blob("blob " + std::to_string(i)));
    if (i % 2 == 0) {
      naming_all.push_back(naming(hash));
    } else {
      unnamed.push_back(hash);
    }
  }
  const SessionId id = create("one", naming_all);
  clock().pass(kBlobPinned + 1s);
  for (int i = 0; i < 10; ++i) {
    must(capabilities().trash->purge(create("other")));
  }
  for (const BlobHash& hash : unnamed) {
    EXPECT_FALSE(has_blob(*capabilities().blobs, hash));
  }
  for (const Message& message : stored(id)) {
    EXPECT_TRUE(has_blob(*capabilities().blobs, *std::get<ImageBlock>(message.blocks.back()).blob));
  }
}

TEST_P(StoreContract, BlobsOfSharedAndReplacedMessagesStay) {
  REPRISE_NEEDS(capabilities().trash && capabilities().blobs && capabilities().forking &&
                capabilities().rewriting);
  const auto put = [this](std::string_view bytes) {
    return must(capabilities().blobs->put_blob(bytes));
  };
  const BlobHash shared = put("shared");
  const BlobHash replaced = put("replaced");
  const SessionId parent = create("parent", {naming(shared), naming(replaced)});
  must(capabilities().forking->fork(parent, {1}, session("child")));
  must(capabilities().rewriting->replace_suffix(parent, {0}, {}, {}));
  clock().pass(kBlobPinned + 1s);
  must(capabilities().trash->purge(create("other")));
  EXPECT_TRUE(has_blob(*capabilities().blobs, shared));
  EXPECT_TRUE(has_blob(*capabilities().blobs, replaced))
      << "kept aside until the session is purged";
  EXPECT_EQ(stored(session_id("child")), numbered({naming(shared)}));
}

}  // namespace
}  // namespace reprise::test
