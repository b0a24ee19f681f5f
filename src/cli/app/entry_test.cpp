#include "cli/app/entry.h"

#include <gtest/gtest.h>

#include "cli/markdown/style.h"
#include "model/attachment.h"
#include "reprise/message.h"

namespace reprise::cli::app {
namespace {

std::string laid_out(const Entry& entry, bool unfolded = false, std::size_t width = 40) {
  std::string out;
  for (const Line& line : lines_of(entry, width, unfolded, Time{})) {
    out += text_of(line) + "\n";
  }
  return out;
}

std::vector<Entry> tool_conversation() {
  EntryMaker maker;
  Message call{.role = "assistant"};
  call.blocks.emplace_back(ThinkingBlock{"I look\nat the file", "", {}});
  call.blocks.emplace_back(ToolUseBlock{"t1", "read_file", *RawJson::parse(R"({"path":"a"})"), {}});
  maker.add(call);
  Message result{.role = "user"};
  result.blocks.emplace_back(ToolResultBlock{"t1", "one\ntwo\n", false, {}, {}});
  maker.add(result);
  return maker.take();
}

TEST(Entry, AddsAResultToItsCall) {
  const auto entries = tool_conversation();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[1].result, "one\ntwo\n");
}

TEST(Entry, FoldsThoughtsAndToolCallsToOneLine) {
  const auto entries = tool_conversation();
  EXPECT_EQ(laid_out(entries[0]), "  ▸ thought (2 lines) I look at the file\n");
  EXPECT_EQ(laid_out(entries[1]), "  ▸ read_file (2 lines) {\"path\":\"a\"}\n");
  EXPECT_EQ(laid_out(entries[0], true), "  ▾ I look\n    at the file\n");
  EXPECT_EQ(laid_out(entries[1], true),
            "  ▾ read_file (2 lines)\n    {\"path\":\"a\"}\n  └ one\n    two\n");
}

TEST(Entry, DimsThoughts) {
  const auto entries = tool_conversation();
  for (const bool unfolded : {false, true}) {
    for (const Line& line : lines_of(entries[0], 40, unfolded, Time{})) {
      for (const Span& span : line) {
        EXPECT_TRUE(span.style.dim) << span.text;
      }
    }
  }
}

TEST(Entry, ShowsTheBeginningOfLongEntries) {
  const Entry entry{.kind = Entry::Kind::answer, .text = std::string(1 << 20, 'x')};
  const auto& lines = lines_of(entry, 80, false, Time{});
  EXPECT_LT(lines.size(), 4000U);
  EXPECT_EQ(text_of(lines.back()), "  … 768 KiB more: PgDn");
}

TEST(Entry, ShowsModelAndCost) {
  Usage usage{.input = {1234}, .output = {5}, .cost = Money::parse("0.002")};
  EXPECT_EQ(footer_text("gpt-x", usage), "gpt-x · 1,234 in, 5 out · $0.002");
  EXPECT_EQ(footer_text("", std::nullopt), "");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(grouped(-123), "-123");
}

TEST(EntryMaker, SumsTheUsageOfATurn) {
  const Usage usage{.input = {100}, .output = {10}};
  Message call{.seq = Seq{5}, .role = "assistant", .model = "m", .usage = usage};
  call.blocks.emplace_back(ToolUseBlock{"t1", "read_file", *RawJson::parse("{}"), {}});
  Message answer{.seq = Seq{7}, .role = "assistant", .model = "m", .usage = usage};
  answer.blocks.emplace_back(TextBlock{"done", {}});
  Message question{.seq = Seq{8}, .role = "user"};
  question.blocks.emplace_back(TextBlock{"more?", {}});

  EntryMaker maker;
  maker.add(call);
  maker.add(answer);  // of a turn that began earlier
  maker.add(question);
  maker.add(call);
  maker.add(answer);
  maker.add(answer);  // a turn without a question
  EXPECT_EQ(maker.last_input(), 100);
  std::vector<std::string> footers;
  for (const Entry& entry : maker.take()) {
    if (entry.kind == Entry::Kind::footer) {
      footers.push_back(entry.text);
    }
  }
  EXPECT_EQ(footers, (std::vector<std::string>{"m", "m · 200 in, 20 out", "m · 100 in, 10 out"}));
}

// Tools that store an answer as several messages repeat the request's usage in each.
TEST(EntryMaker, CountsARequestOnce) {
  const Usage usage{.input = {1000}, .output = {500}, .request_id = "r1"};
  Message question{.role = "user"};
  question.blocks.emplace_back(TextBlock{"why?", {}});
  Message call{.seq = Seq{1}, .role = "assistant", .model = "m", .usage = usage};
  call.blocks.emplace_back(ToolUseBlock{"t1", "read_file", *RawJson::parse("{}"), {}});
  Message answer{.seq = Seq{2}, .role = "assistant", .model = "m", .usage = usage};
  answer.blocks.emplace_back(TextBlock{"done", {}});

  const auto footers = [](std::initializer_list<Message> messages) {
    EntryMaker maker;
    std::vector<std::string> out;
    for (const Message& message : messages) {
      maker.add(message);
    }
    EXPECT_EQ(maker.counted_requests(), store::CountedRequests{"r1"});
    for (const Entry& entry : maker.take()) {
      if (entry.kind == Entry::Kind::footer) {
        out.push_back(entry.text);
      }
    }
    return out;
  };
  EXPECT_EQ(footers({question, call, answer}), std::vector<std::string>{"m · 1,000 in, 500 out"});
  EXPECT_EQ(footers({question, answer, answer}),
            (std::vector<std::string>{"m · 1,000 in, 500 out", "m"}));
  EXPECT_EQ(footers({call, answer, answer}), (std::vector<std::string>{"m", "m"}));
}

TEST(EntryMaker, NamesAttachedFiles) {
  Message question{.role = "user"};
  question.blocks = {TextBlock{"what is this?", {}}, attached_text("a b.txt", "long text")};
  EntryMaker maker;
  maker.add(question);
  const std::vector<Entry> entries = maker.take();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].text, "what is this?");
  EXPECT_EQ(entries[1].text, "attached a b.txt");
}

TEST(EntryMaker, NamesAuthorsOtherThanTheReader) {
  const auto ask = [](EntryMaker& maker, const char* author) {
    Message question{.role = "user", .author = *Author::parse(author)};
    question.blocks.emplace_back(TextBlock{"Why?", {}});
    maker.add(question);
  };
  EntryMaker of_ann(*Author::parse("Ann"));
  ask(of_ann, "Ann");
  ask(of_ann, "Bob");
  const std::vector<Entry> entries = of_ann.take();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(laid_out(entries[0]), "\n▌ Why?\n");
  EXPECT_EQ(laid_out(entries[1]), "\n▌ Bob\n▌ Why?\n");
  EntryMaker of_nobody;
  ask(of_nobody, "Ann");
  EXPECT_EQ(laid_out(of_nobody.take().front()), "\n▌ Ann\n▌ Why?\n");
}

TEST(Entry, MarksIncompleteAnswers) {
  EntryMaker maker;
  Message cut{.role = "assistant", .state = MessageState::incomplete};
  cut.blocks.emplace_back(TextBlock{"half", {}});
  maker.add(cut);
  const std::vector<Entry> entries = maker.take();
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[1].text, "this answer was interrupted; /go-on continues it");
}

TEST(Entry, SanitizesHostileText) {
  for (const auto kind : {Entry::Kind::question, Entry::Kind::answer, Entry::Kind::thinking,
                          Entry::Kind::tool, Entry::Kind::notice, Entry::Kind::warning}) {
    const std::string bad = "a\x1b]0;owned\x07 b\u202e\xff\tc\rd";
    const Entry entry{.kind = kind, .text = bad, .author = bad, .input = bad, .result = bad};
    for (const bool unfolded : {false, true}) {
      const std::string shown = laid_out(entry, unfolded);
      EXPECT_EQ(shown.find_first_of("\x1b\x07\t\r"), std::string::npos) << shown;
      EXPECT_EQ(shown.find("\u202e"), std::string::npos) << shown;
    }
  }
}

}  // namespace
}  // namespace reprise::cli::app
