// Sidecars preserve what a format cannot represent.

#include "store/document/sidecar.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "store/stored_session.h"
#include "support/build.h"
#include "support/must.h"
#include "support/print.h"

namespace reprise::store {
namespace {

using test::at;
using test::must;

// The message in the most limited format: role and text.
Message native_of(const Message& message) {
  Message native;
  native.role = message.role;
  native.blocks = {TextBlock{plain_text(message), {}}};
  return native;
}

TEST(MessageRest, IsEmptyIfNothingIsLost) {
  const Message message = test::full_message();
  EXPECT_EQ(message_sidecar(message, message), "");
}

TEST(MessageRest, RestoresEverything) {
  std::vector<Message> all = {test::full_message(), test::user("hello"), Message{}};
  for (const std::string& text : test::hard_texts()) {
    all.push_back(test::assistant(text));
  }
  for (const Message& message : all) {
    Message native = native_of(message);
    const std::string sidecar = message_sidecar(message, native);
    must(add_message_sidecar(native, sidecar));
    EXPECT_EQ(native, message) << sidecar;
  }
}

TEST(MessageRest, AChangedTextTakesPrecedence) {
  const Message message = test::full_message();
  Message native = native_of(message);
  const std::string sidecar = message_sidecar(message, native);
  native.blocks = {TextBlock{"edited", {}}};
  must(add_message_sidecar(native, sidecar));
  EXPECT_EQ(plain_text(native), "edited");
  EXPECT_EQ(native.model, message.model) << "all else is as it was";
}

TEST(SessionRest, PositionsOutOfRangeAreCorrupt) {
  for (const char* sidecar :
       {R"({"operations":[["o",0,9223372036854775807]]})", R"({"operations":[["o",-1,0]]})",
        R"({"forked_from":"s","forked_at":9223372036854775807})"}) {
    StoredSession native{.session = test::session("s")};
    EXPECT_TRUE(test::fails(add_session_sidecar(native, sidecar), Code::corrupt)) << sidecar;
  }
}

TEST(MessageRest, GarbageIsCorrupt) {
  Message native;
  for (const char* sidecar : {"", "[]", "5", "{", R"({"blocks":5})", R"({"blocks":[]} x)"}) {
    EXPECT_TRUE(test::fails(add_message_sidecar(native, sidecar), Code::corrupt)) << sidecar;
  }
}

Owner stored_owner() {
  const Lease lease{
      .renewed_at = at(9), .uptime = std::chrono::seconds(90), .length = std::chrono::seconds(30)};
  return {"host", 17, 4, 4026531836, lease};
}

StoredSession full_stored() {
  StoredSession stored{.session = test::full_session("s")};
  stored.session.info.forked_from = ForkOrigin{test::session_id("parent"), Seq{3}};
  stored.session.info.state = SessionState::trashed;
  stored.state_before_trash = SessionState::closed;
  stored.session.info.answering = stored_owner();
  stored.partial = Partial{test::operation_id("a"), stored_owner(), "echo", "m", at(9, 7), {}};
  add_operation(stored, test::operation_id("one"), Seq{0}, Seq{2});
  add_operation(stored, test::operation_id("two"), Seq{2}, Seq{2});
  stored.replaced.push_back(std::make_shared<const Message>(test::full_message()));
  return stored;
}

TEST(SessionRest, RestoresEverything) {
  const StoredSession stored = full_stored();
  StoredSession native{.session = Session{.info = {.id = stored.session.info.id}}};
  must(add_session_sidecar(native, session_sidecar(stored, native.session)));
  EXPECT_EQ(native.session, stored.session);
  EXPECT_EQ(native.state_before_trash, SessionState::closed);
  ASSERT_TRUE(native.partial);
  EXPECT_EQ(native.partial->answer, stored.partial->answer);
  EXPECT_EQ(native.partial->started_at, stored.partial->started_at);
  ASSERT_EQ(native.operations.size(), 2U);
  EXPECT_EQ(native.operations.at(test::operation_id("two")).result.first, Seq{2});
  EXPECT_TRUE(native.operations.at(test::operation_id("two")).result.repeated);
  ASSERT_EQ(native.replaced.size(), 1U);
  EXPECT_EQ(*native.replaced[0], *stored.replaced[0]);
  EXPECT_TRUE(native.counted_requests.contains(stored.replaced[0]->usage->request_id));
}

TEST(SessionRest, IsEmptyIfNothingIsLost) {
  const StoredSession stored{.session = test::session("s")};
  EXPECT_EQ(session_sidecar(stored, stored.session), "");
}

TEST(SessionRest, KeepsTheNewestOperations) {
  StoredSession stored{.session = test::session("s")};
  for (std::int64_t number = 0; number < 150; ++number) {
    // Their positions are not in this order after a rewind.
    add_operation(stored, test::operation_id(cat("op-", number)), Seq{150 - number},
                  Seq{151 - number});
  }
  StoredSession native{.session = stored.session};
  must(add_session_sidecar(native, session_sidecar(stored, native.session)));
  EXPECT_EQ(native.operations.size(), kOperationsMax);
  EXPECT_TRUE(native.operations.contains(test::operation_id("op-149")));
  EXPECT_FALSE(native.operations.contains(test::operation_id("op-49")));
}

TEST(SessionRest, GarbageIsCorrupt) {
  StoredSession native{.session = test::session("s")};
  for (const char* sidecar :
       {"", "[]", "{", R"({"state":"gone"})", R"({"created_at":"x"})", R"({"operations":[["a"]]})",
        R"({"operations":[["../x",1,2]]})", R"({"answering":{}})", R"({"forked_from":"a/b"})"}) {
    EXPECT_TRUE(test::fails(add_session_sidecar(native, sidecar), Code::corrupt)) << sidecar;
  }
}

}  // namespace
}  // namespace reprise::store
