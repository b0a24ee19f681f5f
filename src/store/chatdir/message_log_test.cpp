// Messages are found whatever else a messages.jsonl contains.

#include "store/chatdir/message_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "reprise/store.h"
#include "store/chatdir/file_window.h"
#include "store/chatdir/line.h"
#include "store/chatdir/trailer.h"
#include "store/rules.h"

namespace reprise::store::chatdir {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using Texts = std::vector<std::string>;

struct Loaded {
  Texts texts;
  std::vector<std::int64_t> seqs;
  std::vector<std::string> damage;  // "WHERE: REASON"
  std::vector<std::string> excerpts;
};

class MessageLogTest : public testing::Test {
 protected:
  MessageLogTest() { file_ = folder_ / "messages.jsonl"; }

  std::shared_ptr<MessageLog> open(std::string_view bytes) {
    write(bytes);
    auto log = MessageLog::open(file_);
    EXPECT_TRUE(log) << (log ? "" : log.error().message);
    return log ? *log : nullptr;
  }

  // Replaces the file, without a sync.
  void write(std::string_view bytes) const {
    fs::remove(file_);
    std::ofstream(file_, std::ios::binary) << bytes;
  }

  static bool is_damage(const LogState& /*state*/) { return true; }

  static Loaded load(const MessageLog& log, const ReadRange& range = {}) {
    Loaded loaded;
    const auto report = read_messages(log, range, {is_damage, "m"}, [&](Message&& message) {
      loaded.texts.push_back(plain_text(message));
      loaded.seqs.push_back(message.seq.value);
      return Flow::proceed;
    });
    EXPECT_TRUE(report) << (report ? "" : report.error().message);
    for (const Damage& damage : report->damage) {
      loaded.damage.push_back(cat(damage.where, ": ", damage.reason));
      loaded.excerpts.push_back(damage.excerpt);
    }
    return loaded;
  }
  Loaded load(std::string_view bytes) { return load(*open(bytes)); }

  // Consecutive batches as we write them: {"a", "b"} is one of two messages.
  static std::string ours(const std::vector<Texts>& batches, std::string before = "") {
    Seq seq{0};
    for (const Texts& batch : batches) {
      std::int64_t number = 0;
      for (const std::string& text : batch) {
        Message message;
        message.role = "user";
        message.blocks = {TextBlock{text, {}}};
        const Trailer trailer{
            .seq = seq,
            .number = ++number,
            .of = static_cast<std::int64_t>(batch.size()),
            .request = "request-" + text.substr(0, 20),
            .operation = OperationId::parse("operation-" + text.substr(0, 20)).value()};
        EXPECT_TRUE(
            append_line(before, static_cast<std::int64_t>(before.size()), message, trailer));
        seq = seq.next();
      }
    }
    return before;
  }

  const test::TemporaryFolder temporary_;
  fs::path folder_ = temporary_.path();
  fs::path file_;
};

std::string stored(std::string_view text) {
  return cat(R"({"role":"user","content":")", text, "\"}");
}

TEST_F(MessageLogTest, LoadsWhatTheOriginalLoads) {
  const Texts expected = {"one", "two"};
  const std::string one = stored("one");
  const std::string two = stored("two");
  for (const std::string& bytes :
       {one + "\n" + two + "\n", one + "\n" + two, one + "\r\n" + two + "\r\n",
        "\xEF\xBB\xBF" + one + "\n" + two + "\n", "\n\n" + one + "\n\n  \n" + two + "\n\n"}) {
    const Loaded loaded = load(bytes);
    EXPECT_EQ(loaded.texts, expected) << bytes;
    EXPECT_EQ(loaded.damage, Texts{}) << bytes;
  }
  EXPECT_EQ(load(stored("a\u2028b") + "\n").texts, Texts{"a\u2028b"});
  EXPECT_EQ(load("").texts, Texts{});
}

TEST_F(MessageLogTest, LoadsWhatTheOriginalLoses) {
  const Texts expected = {"one", "two"};
  const std::string one = stored("one");
  const std::string two = stored("two");
  for (const std::string& bytes :
       {one + two + "\n", one + " " + two + "\n", one + "," + two, "[" + one + "," + two + "]\n",
        "[\n  " + one + ",\n  " + two + "\n]\n",
        "[\n{\n  \"role\": \"user\",\n  \"content\": "
        "\"one\"\n},\n{\n\"role\":\"user\",\n\"content\":"
        "\n\"two\"}\n]"s}) {
    const Loaded loaded = load(bytes);
    EXPECT_EQ(loaded.texts, expected) << bytes;
    EXPECT_EQ(loaded.damage, Texts{}) << bytes;
  }
  const Loaded broken = load(stored("one\ntwo\n\nthree\tfour") + "\n" + stored("next") + "\n");
  EXPECT_EQ(broken.texts, (Texts{"one\ntwo\n\nthree\tfour", "next"}));
  EXPECT_EQ(broken.damage, Texts{});
}

TEST_F(MessageLogTest, ReportsOtherBytes) {
  const Loaded loaded =
      load("null\n" + stored("one") + "\n5\n\"str\"\ntrue\n" + stored("two") + "\n[]\n");
  EXPECT_EQ(loaded.texts, (Texts{"one", "two"}));
  EXPECT_EQ(
      loaded.damage,
      (Texts{"m: line 1: JSON that is not a message", "m: line 3: JSON that is not a message",
             "m: line 4: JSON that is not a message", "m: line 5: JSON that is not a message"}));
  EXPECT_EQ(loaded.excerpts, (Texts{"null", "5", "\"str\"", "true"})) << "one for each line";
}

// All are counted, but only so many are kept.
TEST_F(MessageLogTest, ManyBadLinesAreReportedUpToALimit) {
  std::string bytes;
  for (std::size_t i = 0; i < kDamageMax + 10; ++i) {
    bytes += "5\n";
  }
  const auto report = read_messages(*open(bytes + stored("one") + "\n"), {}, {},
                                    [](const Message&) { return Flow::proceed; });
  ASSERT_TRUE(report);
  EXPECT_EQ(report->damaged, static_cast<std::int64_t>(kDamageMax) + 10);
  EXPECT_EQ(report->damage.size(), kDamageMax);
}

TEST_F(MessageLogTest, DamageCostsOnlyItself) {
  const Loaded loaded =
      load(stored("one") + "\n{\"role\":\"user\",\"content\":\"cut\n" + stored("two") +
           "\nnoise\n" + stored("three") + " more noise\n" + stored("four") + "\n" +
           R"({"role":"user","content":"ab)" + stored("glued") + "\n" + stored("last") + "\n");
  EXPECT_EQ(loaded.texts, (Texts{"one", "two", "three", "four", "glued", "last"}));
  EXPECT_EQ(loaded.damage, (Texts{"m: line 2: not a complete JSON object", "m: line 4: not JSON",
                                  "m: line 5: not JSON", "m: line 7: not a complete JSON object"}));
  ASSERT_EQ(loaded.excerpts.size(), 4U);
  EXPECT_EQ(loaded.excerpts[0], R"({"role":"user","content":"cut)");
  EXPECT_EQ(loaded.excerpts[3], R"({"role":"user","content":"ab)");
}

TEST_F(MessageLogTest, ALineThatIsTooLongCostsOnlyItself) {
  const std::string one = stored("one") + "\n";
  const std::string three = stored("three") + "\n";
  const auto log =
      open(one + stored(std::string(FileWindow::kLineBytesMax + 1, 'x')) + "\n" + three);
  const Loaded loaded = load(*log);
  EXPECT_EQ(loaded.texts, (Texts{"one", "three"}));
  EXPECT_EQ(loaded.damage, Texts{"m: line 2: not a complete JSON object"});
  EXPECT_FALSE(log->state().is_torn());
}

TEST_F(MessageLogTest, AnObjectOverSeveralLinesMayHave16MiB) {
  constexpr std::size_t kBytesMax = std::size_t{16} << 20U;
  const auto object = [](std::size_t bytes) {
    const std::string begin = "{\"role\":\"user\",\n\"content\":\"";
    return begin + std::string(bytes - begin.size() - 2, 'x') + "\"}";
  };
  const Loaded whole = load(object(kBytesMax) + "\n" + stored("after") + "\n");
  ASSERT_EQ(whole.texts.size(), 2U);
  EXPECT_EQ(whole.texts[1], "after");
  EXPECT_EQ(whole.damage, Texts{});
  const Loaded longer = load(object(kBytesMax + 1) + "\n" + stored("after") + "\n");
  EXPECT_EQ(longer.texts, Texts{"after"});
  EXPECT_FALSE(longer.damage.empty());
}

TEST_F(MessageLogTest, InvalidUnicodeIsShownAndReported) {
  const Loaded loaded =
      load(stored("a\xFF") + "\n" + stored("\\ud800") + "\n" + stored("fine") + "\n");
  EXPECT_EQ(loaded.texts, (Texts{"a\uFFFD", "\uFFFD", "fine"}));
  EXPECT_EQ(loaded.damage, (Texts{"m: line 1: text that is not valid Unicode, shown as U+FFFD",
                                  "m: line 2: text that is not valid Unicode, shown as U+FFFD"}));
  EXPECT_EQ(loaded.excerpts[0], stored("a\xFF")) << "the bytes as they are";
}

TEST_F(MessageLogTest, TheLastOfDuplicateMembersIsUsed) {
  const Loaded loaded = load(R"({"role":"user","content":"1","content":"2"})");
  EXPECT_EQ(loaded.texts, Texts{"2"});
  EXPECT_EQ(loaded.damage.size(), 1U);
}

TEST_F(MessageLogTest, ATailOfNulsIsTorn) {
  const std::string nuls(5000, '\0');
  auto log = open(stored("one") + "\n" + nuls);
  EXPECT_EQ(load(*log).texts, Texts{"one"});
  EXPECT_EQ(load(*log).damage, Texts{"m: line 2: the end was cut off in writing"});
  EXPECT_EQ(load(*log).excerpts, Texts{nuls});
  EXPECT_TRUE(log->state().is_torn());
  EXPECT_EQ(load(stored("one") + "\n" + nuls + stored("glued") + "\n").texts,
            (Texts{"one", "glued"}));
}

TEST_F(MessageLogTest, LongDamageIsAbbreviated) {
  const std::string noise(50'000, 'x');
  const Loaded loaded = load(noise + "\n" + stored("one") + "\n");
  EXPECT_EQ(loaded.texts, Texts{"one"});
  EXPECT_EQ(loaded.excerpts, Texts{noise.substr(0, 10'000)});
  const Loaded deep = load(std::string(100'000, '[') + "\n" + R"({"content":)" +
                           std::string(100'000, '[') + "\n" + stored("one") + "\n");
  EXPECT_EQ(deep.texts, Texts{"one"});
  EXPECT_EQ(deep.damage.size(), 1U);
  const Loaded objects = load([] {
    std::string text;
    for (int i = 0; i < 100'000; ++i) {
      text += R"({"a":)";
    }
    return text + "\n" + stored("one") + "\n";
  }());
  EXPECT_EQ(objects.texts, Texts{"one"});
}

TEST_F(MessageLogTest, AVeryLongLineIsAMessage) {
  const std::string text(90'000'000, 'x');
  auto log = open(stored("before") + "\n" + stored(text) + "\n" + stored("after") + "\n");
  const Loaded loaded = load(*log);
  ASSERT_EQ(loaded.texts.size(), 3U);
  EXPECT_TRUE(loaded.texts[1] == text);
  EXPECT_EQ(loaded.damage, Texts{});
}

TEST_F(MessageLogTest, ManyDamagedLinesAreReadInReasonableTime) {
  // Each line could be the beginning of an object of several lines.
  std::string text;
  for (int i = 0; i < 20'000; ++i) {
    text += "{\"role\":\n";
  }
  EXPECT_EQ(load(text + "}\n" + stored("one") + "\n").texts.back(), "one");
}

TEST_F(MessageLogTest, OnlyWholeBatchesAreRead) {
  const std::string whole = ours({{"a"}, {"b", "c"}, {"d", "e", "f"}});
  std::vector<std::size_t> ends;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    if (whole[at] == '\n') {
      ends.push_back(at);  // the line end itself may be missing
    }
  }
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    std::size_t lines = 0;
    while (lines < ends.size() && ends[lines] <= cut) {
      ++lines;
    }
    const std::size_t expected = lines == 6 ? 6 : lines >= 3 ? 3 : lines >= 1 ? 1 : 0;
    auto log = open(whole.substr(0, cut));
    const Loaded loaded = load(*log);
    ASSERT_EQ(loaded.texts.size(), expected) << cut;
    const LogState state = log->state();
    EXPECT_EQ(state.head.value, static_cast<std::int64_t>(expected)) << cut;
    EXPECT_EQ(state.is_torn(), !loaded.damage.empty());
    EXPECT_EQ(log->find_operation(*OperationId::parse("operation-c")).has_value(), expected >= 3);
    EXPECT_EQ(log->knows_request("request-b"), expected >= 3);
    const auto peeked = peek_state(file_);
    ASSERT_TRUE(peeked);
    if (*peeked) {
      EXPECT_EQ((*peeked)->head, state.head) << cut;
      EXPECT_EQ((*peeked)->end, state.end) << cut;
      EXPECT_EQ((*peeked)->tail, state.tail) << cut;
    }
  }
}

// After a power cut, the end of a batch may be on disk, but not the bytes before it.
TEST_F(MessageLogTest, ABatchWithAHoleIsTorn) {
  const std::string whole = ours({{"a"}, {"b", "c"}});
  const std::size_t begin = whole.find('\n') + 1;
  for (std::size_t at = begin; at + 20 < whole.size(); at += 11) {
    std::string bytes = whole;
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), 8, '\0');
    auto log = open(bytes);
    EXPECT_EQ(load(*log).texts, Texts{"a"}) << at;
    EXPECT_EQ(load(*log).damage, Texts{"m: line 2: the end was cut off in writing"}) << at;
    EXPECT_EQ(log->state().end, static_cast<std::int64_t>(begin)) << at;
    EXPECT_FALSE(log->find_operation(*OperationId::parse("operation-c"))) << at;
    EXPECT_FALSE(*peek_state(file_)) << at;
    Texts shown;
    const auto visit = [&shown](const MessageLog::LogEntry&, Result<Line> line) {
      shown.push_back(line ? plain_text(line->message) : "damage");
      return Flow::proceed;
    };
    EXPECT_TRUE(MessageLog::open(file_, visit));
    EXPECT_EQ(shown, Texts{"a"}) << at;
  }
}

// The remaining bytes may be an object by themselves: {"log":{…}}.
TEST_F(MessageLogTest, ABatchWhoseBeginningIsAHoleIsTorn) {
  const std::string whole = ours({{"a"}, {"b", "c"}});
  const std::size_t begin = whole.find('\n') + 1;
  for (std::size_t end = begin + 1; end + 1 < whole.size(); ++end) {
    std::string bytes = whole;
    std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(begin),
              bytes.begin() + static_cast<std::ptrdiff_t>(end), '\0');
    auto log = open(bytes);
    ASSERT_EQ(load(*log).texts, Texts{"a"}) << end;
    ASSERT_EQ(log->state().end, static_cast<std::int64_t>(begin)) << end;
  }
}

TEST_F(MessageLogTest, AnOperationHasItsOutcome) {
  auto log = open(ours({{"a"}, {"b", "c"}}));
  const auto done = log->find_operation(*OperationId::parse("operation-c"));
  ASSERT_TRUE(done);
  EXPECT_EQ(done->first, Seq{1});
  EXPECT_EQ(done->head, Seq{3});
  EXPECT_TRUE(done->repeated);
  EXPECT_FALSE(log->find_operation(*OperationId::parse("operation-b")))
      << "it names the batch's end";
}

TEST_F(MessageLogTest, TheStateIsReadFromTheEndAlone) {
  const std::string large(300'000, 'x');
  for (const std::string& last : {"short"s, large}) {
    auto log = open(ours({{"a"}, {last}}));
    const auto peeked = peek_state(file_);
    ASSERT_TRUE(peeked && *peeked);
    EXPECT_EQ((*peeked)->head, Seq{2});
    EXPECT_EQ((*peeked)->trailer->seq, log->state().trailer->seq);
  }
  for (const std::string& bytes :
       {stored("foreign") + "\n", ours({{"a"}}) + stored("foreign") + "\n", " " + ours({{"a"}}),
        ours({{"a", "b"}}).substr(0, ours({{"a"}}).size() + 30)}) {
    open(bytes);
    const auto peeked = peek_state(file_);
    ASSERT_TRUE(peeked);
    EXPECT_FALSE(*peeked) << bytes;
  }
}

// Bytes that this process has read from files.
std::int64_t bytes_read() {
  std::ifstream counts("/proc/self/io");
  std::string name;
  std::int64_t count = 0;
  counts >> name >> count;
  return count;
}

TEST_F(MessageLogTest, TheNewestMessagesAreReadFromTheEndAlone) {
  std::vector<Texts> batches;
  for (int i = 0; i < 400; ++i) {
    batches.push_back({cat("one-", i, std::string(20'000, 'x')), cat("two-", i)});
  }
  write(ours(batches));
  const std::int64_t before = bytes_read();
  std::vector<std::int64_t> seqs;
  const auto take_two = [&seqs](Message&& message) {
    seqs.push_back(message.seq.value);
    return seqs.size() == 2 ? Flow::stop : Flow::proceed;
  };
  const auto reading = read_newest(file_, {.newest_first = true}, take_two);
  ASSERT_TRUE(reading);
  EXPECT_TRUE(reading->is_complete);
  EXPECT_EQ(seqs, (std::vector<std::int64_t>{799, 798}));
  EXPECT_LT(bytes_read() - before, 2'000'000);
}

TEST_F(MessageLogTest, WhatIsNotOursIsLeftToTheWholeReading) {
  const std::string lines = ours({{"one"}, {"two"}, {"three"}, {"four"}});
  struct Case {
    std::string bytes;
    std::vector<std::int64_t> seqs;
    bool is_complete;
    std::int64_t next;
  };
  const auto from_line = [&lines](std::string_view text) {
    return lines.find(cat(R"({"role":"user","content":")", text));
  };
  std::string without_two = lines;
  without_two.replace(from_line("two"), 10, 10, '#');
  const Case cases[] = {
      {lines, {3, 2, 1, 0}, true, 0},
      {without_two, {3, 2}, false, 2},
      {ours({{"three"}}, stored("one") + "\n"), {}, false, 1},
      {lines + stored("five"), {}, false, kSeqEnd.value},
      {lines + "damage\n", {}, false, kSeqEnd.value},
  };
  for (const auto& [bytes, expected, is_complete, next] : cases) {
    write(bytes);
    std::vector<std::int64_t> seqs;
    const auto reading = read_newest(file_, {.newest_first = true}, [&](Message&& message) {
      seqs.push_back(message.seq.value);
      return Flow::proceed;
    });
    ASSERT_TRUE(reading) << bytes;
    EXPECT_EQ(seqs, expected) << bytes;
    EXPECT_EQ(reading->is_complete, is_complete) << bytes;
    EXPECT_EQ(reading->next.value, next) << bytes;
  }
}

TEST_F(MessageLogTest, AMissingLineIsAGap) {
  std::string bytes = ours({{"a"}, {"b"}, {"c"}});
  const std::size_t begin = bytes.find('\n') + 1;
  const std::size_t end = bytes.find('\n', begin);
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(begin),
            bytes.begin() + static_cast<std::ptrdiff_t>(end), 'x');
  auto log = open(bytes);
  const Loaded loaded = load(*log);
  EXPECT_EQ(loaded.texts, (Texts{"a", "c"}));
  EXPECT_EQ(loaded.seqs, (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(loaded.damage, (Texts{"m: line 2: not JSON", "m: line 3: message 1 is missing"}));
  EXPECT_EQ(log->state().head, Seq{3});
  EXPECT_EQ((*peek_state(file_))->head, Seq{3});
}

TEST_F(MessageLogTest, APositionOutOfRangeIsDamage) {
  for (const char* const seq : {"9223372036854775807", "1099511627776"}) {
    std::string bytes = ours({{"a"}, {"b"}});
    const std::size_t at = bytes.rfind(R"("seq":1,)");
    bytes.replace(at, 8, cat(R"("seq":)", seq, ","));
    auto log = open(bytes);
    const Loaded loaded = load(*log);
    EXPECT_EQ(loaded.texts, Texts{"a"});
    EXPECT_EQ(loaded.damage, Texts{"m: line 2: its position is out of range"});
    EXPECT_EQ(log->state().head, Seq{1});
    EXPECT_FALSE(*peek_state(file_));
    EXPECT_TRUE(log->index_replaced(file_));
  }
}

TEST_F(MessageLogTest, LinesMovedByOthersAreNumberedByCounting) {
  const std::string bytes = ours({{"a"}, {"b"}, {"c"}});
  const std::string cut = bytes.substr(bytes.find('\n') + 1);
  auto log = open(cut);
  EXPECT_EQ(load(*log).texts, (Texts{"b", "c"}));
  EXPECT_EQ(load(*log).seqs, (std::vector<std::int64_t>{0, 1}));
  EXPECT_TRUE(log->knows_request("request-b"));
  EXPECT_FALSE(*peek_state(file_));
}

TEST_F(MessageLogTest, RefreshReadsAppendedLines) {
  const std::string first = ours({{"a"}});
  const std::string both = ours({{"a"}, {"b", "c"}});
  auto log = open(first);
  const Fd out = *open_file(file_, O_WRONLY | O_APPEND);
  for (std::size_t at = first.size(); at < both.size(); at += 7) {
    EXPECT_EQ(load(*log).texts, Texts{"a"});
    ASSERT_TRUE(write_all(out.get(), std::string_view(both).substr(at, 7), file_));
    const auto same = log->refresh();
    ASSERT_TRUE(same && *same);
  }
  EXPECT_EQ(load(*log).texts, (Texts{"a", "b", "c"}));
}

TEST_F(MessageLogTest, NoticesAnotherFile) {
  auto log = open(ours({{"a"}, {"b"}}));
  write(ours({{"a"}}));
  EXPECT_FALSE(log->refresh().value()) << "replaced";
  EXPECT_EQ(load(*log).texts, (Texts{"a", "b"})) << "who is reading reads on";
  log = open(ours({{"a"}, {"b"}}));
  const Fd out = *open_file(file_, O_WRONLY | O_TRUNC);
  EXPECT_FALSE(log->refresh().value()) << "emptied";
  ASSERT_TRUE(write_all(out.get(), stored("other") + "\n" + std::string(2000, ' ') + "\n", file_));
  EXPECT_FALSE(log->refresh().value()) << "written anew, and longer";
}

TEST_F(MessageLogTest, RangesAndDirections) {
  Texts all;
  std::vector<Texts> batches;
  for (int i = 0; i < 3000; ++i) {
    all.push_back(cat("message-", i));
    batches.push_back({all.back()});
  }
  auto log = open(ours(batches));
  EXPECT_EQ(load(*log).texts, all);
  EXPECT_EQ(load(*log, {.newest_first = true}).texts, Texts(all.rbegin(), all.rend()));
  EXPECT_EQ(load(*log, {.from = {5}, .to = {7}}).texts, (Texts{all[5], all[6]}));
  EXPECT_EQ(load(*log, {.from = {5}, .to = {7}, .newest_first = true}).texts,
            (Texts{all[6], all[5]}));
}

TEST_F(MessageLogTest, OnlyRegularFilesAreRead) {
  fs::create_directory(file_);
  EXPECT_EQ(MessageLog::open(file_).error().code, Code::corrupt);
  fs::remove(file_);
  EXPECT_EQ(MessageLog::open(file_).error().code, Code::not_found);
  fs::create_symlink(folder_ / "nowhere", file_);
  EXPECT_EQ(MessageLog::open(file_).error().code, Code::corrupt);
}

}  // namespace
}  // namespace reprise::store::chatdir
