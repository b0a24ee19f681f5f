// Archives: archived sessions are hidden, readable, and can be restored.

#include <gtest/gtest.h>

#include "contract/store_contract.h"
#include "reprise/capabilities.h"
#include "reprise/environment.h"
#include "reprise/sessions.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

using Ids = std::vector<std::string>;

TEST_P(StoreContract, ArchivedSessionsAreHiddenAndCanBeRestored) {
  REPRISE_NEEDS(capabilities().archives);
  for (const SessionState state : {SessionState::active, SessionState::closed}) {
    Session given = holdable(full_session("s-" + std::string(to_string(state))));
    given.info.state = state;
    given.info.closed_at =
        state == SessionState::closed ? std::optional(given.info.updated_at) : std::nullopt;
    const SessionId id = create(given, messages(2));
    const Session before = found(id);
    ASSERT_TRUE(works(capabilities().archives->archive(id, at(500))));
    ASSERT_TRUE(works(capabilities().archives->archive(id, at(600)))) << "twice is fine";
    reopen();
    EXPECT_EQ(found(id).info.state, SessionState::archived);
    EXPECT_EQ(found(id).info.title, before.info.title);
    EXPECT_EQ(stored(id), readable(messages(2)));
    EXPECT_EQ(listed_ids(), Ids{});
    EXPECT_EQ(listed_ids({.states = {SessionState::archived}}), Ids{id.str()});
    ASSERT_TRUE(works(capabilities().archives->unarchive(id)));
    reopen();
    EXPECT_EQ(found(id).info.state, before.info.state);
    EXPECT_EQ(found(id).info.closed_at, before.info.closed_at);
    EXPECT_EQ(stored(id), readable(messages(2)));
    EXPECT_EQ(listed_ids(), Ids{id.str()});
    EXPECT_EQ(listed_ids({.states = {SessionState::archived}}), Ids{});
    must(capabilities().trash->purge(id));
  }
}

TEST_P(StoreContract, ArchivedSessionsRefuseAppends) {
  REPRISE_NEEDS(capabilities().archives);
  const SessionId id = create("s", messages(2));
  must(capabilities().archives->archive(id, at(1)));
  EXPECT_TRUE(fails(resume_session(store(), id, {.change = true}), Code::invalid_argument));
  EXPECT_TRUE(fails(store().update(id, {.state = SessionState::active}), Code::invalid_argument));
  EXPECT_EQ(found(id).info.state, SessionState::archived);
}

TEST_P(StoreContract, AnArchivedSessionIsRestoredFromTheTrashAsArchived) {
  REPRISE_NEEDS(capabilities().archives && capabilities().trash);
  const SessionId id = create("s", messages(2));
  must(capabilities().archives->archive(id, at(1)));
  must(capabilities().trash->trash(id, at(2)));
  EXPECT_TRUE(fails(capabilities().archives->archive(id, at(3)), Code::invalid_argument));
  EXPECT_TRUE(fails(capabilities().archives->unarchive(id), Code::invalid_argument));
  reopen();
  must(capabilities().trash->restore(id));
  EXPECT_EQ(found(id).info.state, SessionState::archived);
  must(capabilities().archives->unarchive(id));
  EXPECT_EQ(stored(id), readable(messages(2)));
  EXPECT_TRUE(fails(capabilities().archives->unarchive(id), Code::invalid_argument));
}

TEST_P(StoreContract, ARunningAnswerIsNotArchived) {
  REPRISE_NEEDS(capabilities().archives && capabilities().partials);
  const SessionId id = create("s", messages(1));
  append(id, {}, {.begin_partial = PartialStart{operation_id("a"), this_process(), "p", "m"}});
  EXPECT_TRUE(fails(capabilities().archives->archive(id, at(1)), Code::busy));
  EXPECT_EQ(found(id).info.state, SessionState::active);
}

TEST_P(StoreContract, ArchivingUnknownSessionsIsNotFound) {
  REPRISE_NEEDS(capabilities().archives);
  const SessionId nobody = session_id("nobody");
  EXPECT_TRUE(fails(capabilities().archives->archive(nobody, at(1)), Code::not_found));
  EXPECT_TRUE(fails(capabilities().archives->unarchive(nobody), Code::not_found));
}

}  // namespace
}  // namespace reprise::test
