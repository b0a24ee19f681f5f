#include "engine/request_view.h"

#include <gtest/gtest.h>

#include <random>

#include "base/text.h"
#include "engine/blobs.h"
#include "engine/history.h"
#include "engine/message_of.h"
#include "engine/request_repairs.h"
#include "engine/testing/fake_provider.h"
#include "engine/testing/faulty_store.h"
#include "engine/testing/messages.h"
#include "reprise/open_store.h"

namespace reprise {
namespace {

struct Viewed {
  std::vector<Message> messages;
  RequestRepairs repairs;
};

Viewed read_view(RequestView& view) {
  Viewed viewed;
  for (;;) {
    auto message = view.next();
    EXPECT_TRUE(message);
    if (!message || !*message) {
      break;
    }
    viewed.messages.push_back(**std::move(message));
  }
  viewed.repairs = view.repairs();
  return viewed;
}

// Reads through a store, to include paging.
class RequestViewTest : public testing::Test {
 protected:
  void record(std::vector<Message> messages) {
    const auto appended = store_->append(session_.info.id, std::move(messages), {});
    ASSERT_TRUE(appended);
    head_ = appended->head;
  }
  HistorySlice slice() const {
    return {.store = store_.get(), .session = session_.info.id, .to = head_};
  }
  Viewed view(std::vector<std::string> open_calls = {}) {
    RequestView view(provider_, {.slice = slice(),
                                 .open_calls = std::move(open_calls),
                                 .target = maker_at(provider_, ""),
                                 .form = form_});
    Viewed first = read_view(view);
    // A rewind after any number of messages restarts from the first.
    for (std::size_t read = 0; read <= first.messages.size(); ++read) {
      EXPECT_TRUE(view.rewind());
      for (std::size_t i = 0; i < read; ++i) {
        EXPECT_TRUE(view.next());
      }
      EXPECT_TRUE(view.rewind());
      EXPECT_EQ(read_view(view).messages, first.messages) << read;
    }
    return first;
  }
  std::string spelled(std::vector<Message> messages) {
    record(std::move(messages));
    const Viewed viewed = view();
    EXPECT_EQ(refusal_of(viewed.messages, {}), "") << spell(viewed.messages);
    return spell(viewed.messages);
  }

  void SetUp() override { ASSERT_TRUE(store_->create(session_)); }

  std::unique_ptr<Store> store_ = open_memory_store();
  Session session_ = make_session("s1");
  FakeProvider provider_;
  RequestForm form_;
  Seq head_{0};
};

// However often the request is sent.
TEST_F(RequestViewTest, ADamagedMessageIsCountedOnce) {
  record({user("a"), assistant("b")});
  FaultyStore damaged(*store_);
  damaged.damaged = 1;
  HistorySlice history = slice();
  history.store = &damaged;
  RequestView view(provider_, {.slice = history, .target = maker_at(provider_, "")});
  for (int times = 0; times < 2; ++times) {
    EXPECT_EQ(read_view(view).repairs.lines(),
              std::vector<std::string>{"request: 1 damaged message omitted"});
    EXPECT_TRUE(view.rewind());
  }
}

TEST_F(RequestViewTest, MergesSameRolesAndDropsEmptyMessages) {
  EXPECT_EQ(spelled({user("a"), user("b"), assistant(" \n"), user("c"), assistant("d"),
                     assistant("e"), user("f")}),
            "user: a b c | assistant: d e | user: f");
}

TEST_F(RequestViewTest, AnUnansweredCallIsSealedWhereverItStands) {
  EXPECT_EQ(spelled({user("a"), assistant({call_of("t1")}), user("b"), assistant({call_of("t2")}),
                     assistant("c"), user("d")}),
            "user: a | assistant: call t1{} | user: error t1=the tool call did not complete b | "
            "assistant: call t2{} | user: error t2=the tool call did not complete | "
            "assistant: c | user: d");
  EXPECT_EQ(view().repairs.of(RequestRepair::unanswered_call), 2);
}

TEST_F(RequestViewTest, ResultsMoveToTheirCallsInTheCallsOrder) {
  EXPECT_EQ(spelled({user("a"), assistant({call_of("t1"), call_of("t2")}), user("b"),
                     results({result_of("t2", "two")}), assistant("c"),
                     results({result_of("t1", "one")}), user("d")}),
            "user: a | assistant: call t1{} call t2{} | user: result t1=one result t2=two b | "
            "assistant: c | user: d");
}

TEST_F(RequestViewTest, ResultsWithoutACallAndSecondOnesAreLeftOut) {
  EXPECT_EQ(spelled({user("a"), results({result_of("t0")}), assistant({call_of("t1")}),
                     results({result_of("t1", "1"), result_of("t1", "2")}), user("b")}),
            "user: a | assistant: call t1{} | user: result t1=1 b");
  EXPECT_EQ(view().repairs.of(RequestRepair::orphan_result), 2);
}

TEST_F(RequestViewTest, AnIdUsedAgainPairsWithItsOwnResult) {
  EXPECT_EQ(
      spelled({user("a"), assistant({call_of("t1")}), assistant({call_of("t2"), call_of("t1")}),
               results({result_of("t1", "late")}), user("b")}),
      "user: a | assistant: call t1{} | user: error t1=the tool call did not complete | "
      "assistant: call t2{} call t1{} | user: error t2=the tool call did not complete "
      "result t1=late b");
}

// The ids of the calls and of their results, in order.
std::vector<std::string> sent_ids(const std::vector<Message>& messages) {
  std::vector<std::string> ids;
  for (const Message& message : messages) {
    for (const Block& block : message.blocks) {
      if (const auto* call = std::get_if<ToolUseBlock>(&block); call != nullptr) {
        ids.push_back(call->id);
      } else if (const auto* result = std::get_if<ToolResultBlock>(&block); result != nullptr) {
        ids.push_back(cat(result->text, "=", result->tool_use_id));
      }
    }
  }
  return ids;
}

TEST_F(RequestViewTest, CallsWithOneIdOfAnotherMakerAreDistinctAndPairedInOrder) {
  record({user("a"), assistant({call_of("t1"), call_of("t1")}, "other"),
          results({result_of("t1", "one"), result_of("t1", "two")}), user("b"),
          assistant({call_of("t1")}, "other"), results({result_of("t1", "three")}), user("c")});
  const auto ids = sent_ids(view().messages);
  ASSERT_EQ(ids.size(), 6U);
  EXPECT_EQ(ids[2], cat("one=", ids[0]));
  EXPECT_EQ(ids[3], cat("two=", ids[1]));
  EXPECT_EQ(ids[5], cat("three=", ids[4]));
  EXPECT_EQ((std::set<std::string>{ids[0], ids[1], ids[4]}).size(), 3U);
}

TEST_F(RequestViewTest, IdsOfAnotherMakerHaveNineLettersAndDigitsThatStayTheSame) {
  const std::vector<Message> turn = {
      user("a"), assistant({call_of(std::string(83, 'x')), call_of("é|")}, "other"),
      results({result_of("é|", "two")}), user("b")};
  record(turn);
  const auto ids = sent_ids(view().messages);
  ASSERT_EQ(ids.size(), 4U);
  for (const std::string& id : {ids[0], ids[1]}) {
    EXPECT_EQ(id.size(), 9U);
    EXPECT_TRUE(std::ranges::all_of(id, is_ascii_alnum)) << id;
  }
  EXPECT_EQ(ids[3], cat("two=", ids[1]));
  record({assistant("more"), user("c")});
  EXPECT_EQ(sent_ids(view().messages), ids);
}

TEST_F(RequestViewTest, KimiGetsIdsOfItsOwnForm) {
  record({user("a"), assistant({call_of("x", "{}", "look"), call_of("y", "{}", "look")}, "other"),
          user("b"), assistant({call_of("z", "{}", "find")}, "other"), user("c")});
  RequestView view(provider_, {.slice = slice(), .target = maker_at(provider_, "kimi-k2-0905")});
  const auto ids = sent_ids(read_view(view).messages);
  ASSERT_EQ(ids.size(), 6U);
  EXPECT_EQ(ids[0], "functions.look:0");
  EXPECT_EQ(ids[1], "functions.look:1");
  EXPECT_EQ(ids[4], "functions.find:2");
}

// A comparison that counts its calls.
struct CountingLess {
  static inline std::size_t count = 0;
  bool operator()(const std::string& a, const std::string& b) const {
    ++count;
    return a < b;
  }
};

TEST(OpenCallsTest, ManyCallsAreFoundInLogarithmicTime) {
  constexpr std::size_t kCalls = 20'000;
  constexpr std::size_t kComparisons =
      3 * 40 * kCalls;  // asked, added and answered; a tree's depth
  BasicOpenCalls<CountingLess> calls;
  Message message = results({});
  CountingLess::count = 0;
  for (std::size_t i = 0; i < kCalls; ++i) {
    calls.add(cat("t", i), cat("sent", i));
    message.blocks.emplace_back(result_of(cat("t", kCalls - i), cat("of t", kCalls - i)));
    message.blocks.emplace_back(text_of("between"));
  }
  EXPECT_TRUE(calls.extract_results(message));  // none of them is "t0"
  EXPECT_LT(CountingLess::count, kComparisons);
  EXPECT_EQ(message.blocks.size(), kCalls + 1);
  const std::vector<OpenCall> closed = calls.close();
  ASSERT_EQ(closed.size(), kCalls);
  EXPECT_FALSE(closed.front().result);
  ASSERT_TRUE(closed.at(7).result);
  EXPECT_EQ(closed.at(7).result->text, "of t7");
}

TEST_F(RequestViewTest, ManyCallsOfOneAnswerHaveTheirResults) {
  std::vector<Block> calls;
  std::vector<Block> late;
  for (int i = 0; i < 1000; ++i) {
    calls.emplace_back(call_of(cat("t", i)));
    late.emplace_back(result_of(cat("t", 999 - i), cat("r", 999 - i)));
  }
  record({user("a"), assistant(std::move(calls)), results(std::move(late)), user("b")});
  const Viewed viewed = view();
  ASSERT_EQ(viewed.messages.size(), 3U);
  EXPECT_EQ(refusal_of(viewed.messages, {}), "");
  EXPECT_EQ(std::get<ToolResultBlock>(viewed.messages.at(2).blocks.at(432)).text, "r432");
  EXPECT_EQ(viewed.repairs.of(RequestRepair::unanswered_call), 0);
}

TEST_F(RequestViewTest, NamesAndInputsBecomeAcceptable) {
  EXPECT_EQ(spelled({user("a"),
                     assistant({call_of("b", "[1.0]", "file.patch"),
                                call_of("c", R"("{\"broken\"")"), call_of("d", R"("{\"x\":1}")")}),
                     results({result_of("b", " ")})}),
            "user: a | assistant: call b{\"_raw\":[1.0]} "
            "call c{\"_raw\":\"{\\\"broken\\\"\"} call d{\"x\":1} | "
            "user: result b=(no output) error c=the tool call did not complete "
            "error d=the tool call did not complete");
}

TEST_F(RequestViewTest, OpaquePartsAreSentToTheirServerAndModelOnly) {
  const auto by = [](const Maker& maker) {
    Message message =
        assistant({ThinkingBlock{maker.model, "sig", {}}, call_of("id", "{}"), text_of("x")});
    std::get<ToolUseBlock>(message.blocks[1]).extra = {{"extra_content", *RawJson::parse("{}")}};
    record_maker(message, maker, {});
    return message;
  };
  provider_.server = "h";
  record({user("a"), by({"fake", "h", "m-5-20250929"}), user("b"), by({"fake", "h", "m-4"}),
          user("c"), by({"fake", "h", "m-5-latest"}), user("d"), by({"fake", "other", "m-5"}),
          user("e"), by({"other", "h", "m-5"}), user("f")});
  const auto sent = [this](const RequestForm& form) {
    RequestView view(provider_,
                     {.slice = slice(), .target = maker_at(provider_, "m-5"), .form = form});
    std::vector<std::string> opaque;
    for (const Message& message : read_view(view).messages) {
      for (const Block& block : message.blocks) {
        if (const auto* thinking = std::get_if<ThinkingBlock>(&block); thinking != nullptr) {
          opaque.push_back(thinking->text);
        } else if (const auto* call = std::get_if<ToolUseBlock>(&block); call != nullptr) {
          opaque.push_back(call->extra.empty() ? "" : "members");
          EXPECT_EQ(call->id == "id", !call->extra.empty() || form.omits_opaque) << call->id;
        }
      }
    }
    return opaque;
  };
  EXPECT_EQ(sent({}), (std::vector<std::string>{"m-5-20250929", "members", "", "m-5-latest",
                                                "members", "", ""}));
}

TEST_F(RequestViewTest, WhatARefusalTaughtIsChanged) {
  const ThinkingBlock thought{"hm", "sig", {}};
  record({user("a"), assistant({thought, call_of("call-1"), call_of("call-2")}),
          results({result_of("call-1", "one"), result_of("call-2", "two")}), user("b"),
          assistant("c"), user("d")});
  form_ = {.omits_opaque = true, .answers_results = true};
  EXPECT_EQ(spell(view().messages),
            "user: a | assistant: call call-1{} call call-2{} | user: result call-1=one result "
            "call-2=two | assistant: (the turn was stopped here, before an answer) | user: b | "
            "assistant: c | user: d");
  form_ = {.omits_opaque = true, .single_calls = true};
  EXPECT_EQ(spell(view().messages),
            "user: a | assistant: call call-1{} | user: result call-1=one | assistant: call "
            "call-2{} | user: result call-2=two b | assistant: c | user: d");
  form_ = {.tools_as_text = true};
  EXPECT_EQ(spell(view().messages),
            "user: a | assistant: (hm) (called t with {}) (called t with {}) | user: (result of t: "
            "one) (result of t: two) b | assistant: c | user: d");
  form_ = {.strict_ids = true};
  for (const std::string& id : sent_ids(view().messages)) {
    EXPECT_EQ(id.substr(id.find('=') + 1).size(), 9U) << id;
  }
}

TEST_F(RequestViewTest, ThePromptMayBeTheHeadOfTheFirstQuestion) {
  record({user("a"), assistant("b"), user("c")});
  RequestView view(provider_,
                   {.slice = slice(), .form = {.prompt_in_question = true}, .prompt = "be brief"});
  const auto spelled_once = spell(read_view(view).messages);
  EXPECT_EQ(spelled_once, "user: be brief a | assistant: b | user: c");
  EXPECT_TRUE(view.rewind());
  EXPECT_EQ(spell(read_view(view).messages), spelled_once);
}

TEST_F(RequestViewTest, NothingOpaqueEndsAnAnswer) {
  const ThinkingBlock thought{"hm", "sig", {}};
  const UnknownBlock search{"server_tool_use",
                            *RawJson::parse(R"({"type":"server_tool_use","id":"s1"})")};
  const UnknownBlock found{"web_search_tool_result",
                           *RawJson::parse(R"({"type":"w","tool_use_id":"s1"})")};
  EXPECT_EQ(spelled({user("a"), assistant({text_of("b"), thought}), user("c"), assistant({search}),
                     user("d"), assistant({search, found, text_of("e")}), user("f")}),
            "user: a | assistant: b | user: c | assistant: (the turn was stopped here, before an "
            "answer) | user: d | assistant: raw {\"type\":\"server_tool_use\",\"id\":\"s1\"} raw "
            "{\"type\":\"w\",\"tool_use_id\":\"s1\"} e | user: f");
}

TEST_F(RequestViewTest, ATurnThatTheModelRefusedIsLeftOutOnceSomethingElseWasAsked) {
  Message refused = assistant("I ca");
  mark_refused(refused);
  record({user("a"), assistant("b"), user("bad"), assistant({call_of("t1")}),
          results({result_of("t1")}), refused, user("c"), assistant("I would rather not"),
          user("d"), refused});
  EXPECT_EQ(spell(view().messages),
            "user: a | assistant: b | user: c | assistant: I would rather not | user: d | "
            "assistant: I ca");
  EXPECT_EQ(view().repairs.of(RequestRepair::refused_turn), 1);
}

TEST_F(RequestViewTest, ThinkingAndRawBlocksAreSentToTheirProviderOnly) {
  const ThinkingBlock thought{"hm", "sig", {}};
  const UnknownBlock raw{"reasoning", *RawJson::parse(R"({"type":"reasoning"})")};
  EXPECT_EQ(
      spelled({user("a"), assistant({thought, raw, text_of("b")}), user("c"),
               assistant({thought, raw, text_of("d")}, "other"), user("e"), assistant({thought}),
               user("f"), assistant({thought, text_of("g")}, ""), user("h")}),
      "user: a | assistant: (hm) raw {\"type\":\"reasoning\"} b | user: c | assistant: d | "
      "user: e f | assistant: g | user: h");
}

TEST_F(RequestViewTest, AnswersHaveTheProviderAndTheirState) {
  record({user("a"), assistant("b"), user("c"), incomplete({text_of("d")})});
  const Viewed viewed = view();
  ASSERT_EQ(viewed.messages.size(), 4U);
  EXPECT_EQ(viewed.messages[0].provider, "");
  EXPECT_EQ(viewed.messages[1].provider, provider_.name());
  EXPECT_EQ(viewed.messages[1].state, MessageState::complete);
  EXPECT_EQ(viewed.messages[3].state, MessageState::incomplete);
}

TEST_F(RequestViewTest, ACutAnswerKeepsItsTextOnly) {
  EXPECT_EQ(spelled({user("a"),
                     incomplete({ThinkingBlock{"hm", {}, {}}, text_of("half"),
                                 call_of("t1", R"("{\"pa")")}),
                     user("b"), incomplete({call_of("t2")}), user("c")}),
            "user: a | assistant: half | user: b c");
  EXPECT_EQ(view().repairs.of(RequestRepair::unfinished_call), 2);
}

TEST_F(RequestViewTest, OtherRolesAreLeftOutAndTheFirstIsTheUser) {
  EXPECT_EQ(spelled({message_of("system", {text_of("s")}), assistant("a"),
                     message_of("narrator", {text_of("x")}), user("b"),
                     message_of("developer", {text_of("y")})}),
            "user: (earlier messages are left out) | assistant: a | user: b");
  const auto lines = view().repairs.lines();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines.at(1), "request: 1 message of an unknown role omitted");
}

TEST_F(RequestViewTest, BlobsAreReadBackIn) {
  const std::string png = "\x89PNG....";
  const auto image = stored_image(store_.get(), {"", {}, "data:image/png;base64,iVBORy4uLi4=", {}});
  ASSERT_TRUE(image.blob && image.url.empty() && image.media_type == "image/png");
  const std::string output(300'000, 'x');
  auto result = tool_result_block(store_.get(), "t1", output);
  ASSERT_TRUE(result.blob);
  EXPECT_LT(result.text.size(), 5000U);
  record(
      {message_of(role::kUser,
                  {image, ImageBlock{"image/png", *BlobHash::parse(std::string(64, '0')), {}, {}},
                   ImageBlock{"", {}, "file:///etc/passwd", {}}}),
       assistant({call_of("t1"), ImageBlock{"image/png", image.blob, {}, {}}}), results({result})});
  EXPECT_EQ(blob_tokens(results({result})).value, 65536);
  const Viewed viewed = view();
  ASSERT_EQ(viewed.messages.size(), 3U);
  EXPECT_EQ(std::get<ImageBlock>(viewed.messages.at(0).blocks.at(0)).url,
            "data:image/png;base64,iVBORy4uLi4=");
  EXPECT_EQ(viewed.repairs.of(RequestRepair::unreadable_blob), 1);
  EXPECT_EQ(viewed.repairs.of(RequestRepair::unusable_image), 2);
  EXPECT_EQ(std::get<ToolResultBlock>(viewed.messages.at(2).blocks.at(0)).text,
            output.substr(0, 256 << 10));
  EXPECT_EQ(refusal_of(viewed.messages, {}), "");
}

TEST_F(RequestViewTest, CallsTheProviderAlreadyHasKeepTheirIds) {
  record({results({result_of("call|1", "1"), result_of("x", "y")}), user("go on")});
  EXPECT_EQ(spell(view({"call|1", "t2"}).messages),
            "user: result call|1=1 error t2=the tool call did not complete go on");
}

TEST_F(RequestViewTest, ALongHistoryIsReadInPages) {
  std::vector<Message> messages;
  for (int i = 0; i < 500; ++i) {
    messages.push_back(user(cat("q", i)));
    messages.push_back(assistant(std::string(i % 7 == 0 ? 100'000 : 10, 'a')));
  }
  record(std::move(messages));
  RequestView view(provider_, {.slice = slice()});
  const Viewed first = read_view(view);
  EXPECT_EQ(first.messages.size(), 1000U);
  EXPECT_TRUE(view.rewind());
  EXPECT_EQ(read_view(view).messages, first.messages);
}

// Whatever the record contains, the view is acceptable to a provider.
Block random_block(std::mt19937& random) {
  static const std::string ids[] = {"", "a", "a", "b", "c d", "é"};
  static const std::string texts[] = {"", " ", "x", "two words", "\n"};
  static const std::string inputs[] = {"null",    "{}", "1",           R"("{")",
                                       R"("{}")", "[]", R"({"a":1.0})"};
  const auto pick = [&random](const auto& list) { return list[random() % std::size(list)]; };
  switch (random() % 7) {
    case 0:
    case 1:
      return text_of(pick(texts));
    case 2:
      return ThinkingBlock{pick(texts), pick(texts), {}};
    case 3:
      return call_of(pick(ids), pick(inputs), pick(ids));
    case 4: {
      ToolResultBlock result = result_of(pick(ids), pick(texts));
      if (random() % 8 == 0) {
        result.blob = *BlobHash::parse(std::string(64, 'a'));
      }
      return result;
    }
    case 5:
      return random() % 2 == 0
                 ? Block(ImageBlock{"image/png", {}, "https://x/y.png", {}})
                 : Block(ImageBlock{{}, *BlobHash::parse(std::string(64, 'b')), {}, {}});
    default:
      return UnknownBlock{"z", *RawJson::parse(R"({"type":"z"})")};
  }
}

std::vector<Message> random_record(std::mt19937& random) {
  static const std::string_view roles[] = {"user",      "user", "assistant", "assistant",
                                           "assistant", "tool", "system",    "odd"};
  static const std::string_view providers[] = {"fake", "other", ""};
  std::vector<Message> messages(random() % 12);
  for (Message& message : messages) {
    message.role = roles[random() % std::size(roles)];
    message.provider = providers[random() % std::size(providers)];
    message.state = random() % 5 == 0 ? MessageState::incomplete : MessageState::complete;
    message.blocks.resize(random() % 5);
    for (Block& block : message.blocks) {
      block = random_block(random);
    }
  }
  return messages;
}

TEST(RequestViewOfAnything, IsAcceptable) {
  const FakeProvider provider;
  const Session session = make_session("s");
  for (std::uint32_t seed = 0; seed < 5'000; ++seed) {
    std::mt19937 random(seed);
    auto messages = random_record(random);
    messages.push_back(user("the question"));
    const RequestForm form{.answers_results = seed % 2 == 0,
                           .strict_ids = seed % 3 == 0,
                           .single_calls = seed % 5 == 0,
                           .tools_as_text = seed % 7 == 0};
    RequestView view(provider,
                     {.slice = {.session = session.info.id, .memory = messages}, .form = form});
    const auto viewed = read_view(view).messages;
    ASSERT_EQ(refusal_of(viewed, {}), "")
        << "seed " << seed << ": " << spell(messages) << "\n-> " << spell(viewed);
    ASSERT_EQ(std::get<TextBlock>(viewed.back().blocks.back()).text, "the question");
  }
}

}  // namespace
}  // namespace reprise
