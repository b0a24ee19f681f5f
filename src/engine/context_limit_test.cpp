// A model whose limit is smaller than the record.

#include <gtest/gtest.h>

#include "engine/testing/fake_provider.h"
#include "engine/testing/messages.h"
#include "reprise/capabilities.h"
#include "reprise/conversation.h"
#include "reprise/open_store.h"

namespace reprise {
namespace {

constexpr std::string_view kImage = "data:image/png;base64,iVBORy4uLi4=";

class SendLess : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(store_->create(session_)); }

  void record(std::vector<Message> messages) {
    ASSERT_TRUE(store_->append(session_.info.id, std::move(messages), {}));
  }
  Result<Outcome> ask(std::vector<Block> blocks, ConversationOptions options = {}) {
    Conversation conversation(provider_, store_.get(), *get(*store_, session_.info.id),
                              std::move(options));
    return conversation.ask(std::move(blocks), listener_);
  }
  std::string sent(std::size_t request) { return spell(provider_.seen.at(request).messages); }

  std::unique_ptr<Store> store_ = open_memory_store();
  Session session_ = make_session("s1");
  FakeProvider provider_;
  RecordingObserver listener_;
};

TEST_F(SendLess, TheOldestTurnsAreLeftOutOnce) {
  const std::string words(400, 'w');  // 100 tokens
  record({user("1"), assistant(words), user("2"), assistant({call_of("t")}),
          results({result_of("t", words)}), assistant("done"), user("3"), assistant("three")});
  provider_.add().fails(Code::too_long, "prompt is too long");
  provider_.add().text("four").ended();
  ASSERT_TRUE(ask({text_of("4")}));
  ASSERT_EQ(provider_.seen.size(), 2U);
  EXPECT_EQ(provider_.seen.at(0).messages.size(), 9U);
  EXPECT_EQ(sent(1), "user: 3 | assistant: three | user: 4") << "whole turns";
  ASSERT_EQ(listener_.warnings.size(), 1U);
  EXPECT_NE(listener_.warnings.at(0).find("without the oldest turns"), std::string::npos);
  EXPECT_EQ(read_all(*store_, session_.info.id)->size(), 10U) << "the record is what happened";
}

class RememberedStart : public SendLess {
 protected:
  void SetUp() override {
    SendLess::SetUp();
    const std::string words(400, 'w');  // 100 tokens
    record(
        {user("1"), assistant(words), user("2"), assistant(words), user("3"), assistant("three")});
    provider_.add().fails(Code::too_long, "prompt is too long");
    provider_.add().text("four").ended();
    ASSERT_TRUE(ask({text_of("4")}, {.model = "m"}));
    ASSERT_EQ(sent(1), "user: 3 | assistant: three | user: 4");
    listener_ = {};
  }
};

TEST_F(RememberedStart, TheNextTurnStartsWithWhatWasAccepted) {
  ASSERT_TRUE(ask({text_of("5")}, {.model = "m"}));
  ASSERT_EQ(provider_.seen.size(), 3U);
  EXPECT_EQ(sent(2), "user: 3 | assistant: three | user: 4 | assistant: four | user: 5");
  EXPECT_TRUE(listener_.warnings.empty());
  EXPECT_TRUE(provider_.seen.at(2).grows) << "it begins the same each time";
}

TEST_F(RememberedStart, ALongerRequestIsCutAgain) {
  provider_.scripts.clear();
  provider_.add().fails(Code::too_long, "prompt is too long");
  provider_.add().text("five").ended();
  ASSERT_TRUE(ask({text_of("5")}, {.model = "m"}));
  EXPECT_EQ(sent(3), "user: 5");
  ASSERT_TRUE(ask({text_of("6")}, {.model = "m"}));
  EXPECT_EQ(sent(4), "user: 5 | assistant: five | user: 6");
}

TEST_F(RememberedStart, AnotherModelGetsEverything) {
  ASSERT_TRUE(ask({text_of("5")}, {.model = "larger"}));
  EXPECT_EQ(provider_.seen.at(2).messages.size(), 9U);
}

TEST_F(RememberedStart, AChangedRecordIsSentWhole) {
  Message other = user("other");
  other.created_at = Time{std::chrono::hours(1)};
  ASSERT_TRUE(store_->capabilities().rewriting->replace_suffix(
      session_.info.id, Seq{4}, {other, assistant("a"), user("b"), assistant("c")}, {}));
  ASSERT_TRUE(ask({text_of("5")}, {.model = "m"}));
  EXPECT_EQ(provider_.seen.at(2).messages.size(), 9U);
}

TEST_F(SendLess, APdfThatIsLeftOutIsNamed) {
  const ImageBlock pdf{"application/pdf",
                       {},
                       "data:application/pdf;base64,JVBERi0=",
                       {{"name", *RawJson::parse(R"("report.pdf")")}}};
  record({message_of(role::kUser, {text_of("read"), pdf}), assistant("done")});
  provider_.add().fails(Code::unsupported, "documents are not supported");
  provider_.add().text("ok").ended();
  ASSERT_TRUE(ask({text_of("and now")}));
  ASSERT_EQ(provider_.seen.size(), 2U);
  EXPECT_EQ(sent(1),
            "user: read (the PDF report.pdf that this model does not take) | assistant: done | "
            "user: and now");
  EXPECT_EQ(listener_.warnings.at(0),
            "documents are not supported; accepted without the PDFs of earlier turns");
}

TEST_F(SendLess, AStillTooLongRequestIsAnErrorWithAdvice) {
  record({user("1"), assistant(std::string(400, 'w'))});
  provider_.add().fails(Code::too_long, "prompt is too long");
  const auto refused = ask({text_of("2")});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::too_long);
  EXPECT_EQ(refused.error().message,
            "prompt is too long; send less with --budget, or take back turns with /rewind");
  EXPECT_EQ(provider_.seen.size(), 2U);
  EXPECT_EQ(sent(1), "user: 2");
}

TEST_F(SendLess, OneTurnCannotBeCut) {
  provider_.add().fails(Code::too_long, "prompt is too long");
  EXPECT_EQ(ask({text_of("2")}).error().code, Code::too_long);
  EXPECT_EQ(provider_.seen.size(), 1U);
  EXPECT_TRUE(listener_.warnings.empty());
}

TEST_F(SendLess, MessagesStoredByTheProviderAreSentAgain) {
  provider_.stores = true;
  Message answer = assistant(std::string(400, 'w'));
  answer.response_id = "r1";
  record({user("1"), answer});
  provider_.add().fails(Code::too_long, "prompt is too long");
  provider_.add().text("two").ended();
  ASSERT_TRUE(ask({text_of("2")}));
  EXPECT_EQ(provider_.seen.at(0).previous_response_id, "r1");
  EXPECT_EQ(provider_.seen.at(1).previous_response_id, "");
  EXPECT_EQ(sent(1), "user: 2");
}

TEST_F(SendLess, ImagesAreLeftOutWhenTheModelRefusesThem) {
  record({message_of(role::kUser,
                     {text_of("look"), ImageBlock{"image/png", {}, std::string(kImage), {}}}),
          assistant("nice")});
  provider_.add().fails(Code::unsupported, "image input is not supported");
  provider_.add().text("ok").ended();
  ASSERT_TRUE(ask({text_of("and now")}));
  ASSERT_EQ(provider_.seen.size(), 2U);
  EXPECT_EQ(sent(0),
            "user: look image data:image/png;base64,iVBORy4uLi4= | assistant: nice | "
            "user: and now");
  EXPECT_EQ(sent(1),
            "user: look (an image that this model does not take) | assistant: nice | "
            "user: and now");
  ASSERT_EQ(listener_.warnings.size(), 1U);
  EXPECT_EQ(listener_.warnings.at(0),
            "image input is not supported; accepted without the images of earlier turns");
}

TEST_F(SendLess, WithoutImagesNothingIsTriedAgain) {
  provider_.add().fails(Code::unsupported, "image input is not supported");
  EXPECT_EQ(ask({text_of("q")}).error().code, Code::unsupported);
  EXPECT_EQ(provider_.seen.size(), 1U);
}

TEST_F(SendLess, ImagesAndLengthEachOnce) {
  record({message_of(role::kUser, {ImageBlock{"image/png", {}, std::string(kImage), {}}}),
          assistant("nice"), user("old"), assistant("older")});
  provider_.add().fails(Code::unsupported, "no images");
  provider_.add().fails(Code::too_long, "too long");
  provider_.add().text("ok").ended();
  ASSERT_TRUE(ask({text_of("now")}));
  EXPECT_EQ(provider_.seen.size(), 3U);
  EXPECT_EQ(sent(2), "user: old | assistant: older | user: now");
}

}  // namespace
}  // namespace reprise
