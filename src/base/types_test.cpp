#include <gtest/gtest.h>

#include <array>

#include "reprise/environment.h"

namespace reprise {
namespace {

TEST(Id, RejectsUnsafeFileNames) {
  for (const std::string& text :
       {std::string(), std::string("../../etc/x"), std::string("/etc/x"), std::string("a/b"),
        std::string("a\nb"), std::string("a\0b", 3), std::string(5000, 'a'), std::string(".hidden"),
        std::string("a\\b"), std::string("-rf"), std::string("a b"), std::string("\u00e4")}) {
    const auto id = SessionId::parse(text);
    ASSERT_FALSE(id) << text;
    EXPECT_EQ(id.error().code, Code::invalid_argument);
  }
  EXPECT_TRUE(SessionId::parse("sess-001"));
  EXPECT_TRUE(SessionId::parse(std::string(200, 'a')));
}

TEST(Money, SumsSaturate) {
  Money sum = *Money::parse("9.1e9");
  sum += sum;
  EXPECT_EQ(sum.nanos, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(Money::parse(sum.str()), sum);
  sum = *Money::parse("-9.1e9");
  sum += sum;
  EXPECT_EQ(sum.nanos, std::numeric_limits<std::int64_t>::min());
}

TEST(Money, ParsesExactly) {
  EXPECT_EQ(Money::parse("0.000105")->nanos, 105'000);
  EXPECT_EQ(Money::parse("1.05e-4")->nanos, 105'000);
  EXPECT_EQ(Money::parse("2")->nanos, 2'000'000'000);
  EXPECT_EQ(Money::parse("-1.5E+1")->nanos, -15'000'000'000);
  EXPECT_EQ(Money::parse("0.0000000005")->nanos, 1);
  EXPECT_EQ(Money::parse("0.0000000004")->nanos, 0);
  EXPECT_EQ(Money::parse("1e-30")->nanos, 0);
  for (const char* text : {"", "-", "x", "1e999", "99999999999", "1.2.3", "1e", "--1"}) {
    EXPECT_FALSE(Money::parse(text)) << text;
  }
}

TEST(Money, PrintsTheShortestDecimal) {
  EXPECT_EQ(Money{105'000}.str(), "0.000105");
  EXPECT_EQ(Money{2'000'000'000}.str(), "2");
  EXPECT_EQ(Money{-1}.str(), "-0.000000001");
  EXPECT_EQ(Money::parse(Money{INT64_MAX}.str())->nanos, INT64_MAX);
}

TEST(Time, ParsesAllFormats) {
  const auto expected = parse_time("2026-01-18T20:15:30Z");
  ASSERT_TRUE(expected);
  for (const char* text :
       {"2026-01-18 20:15:30", "2026-01-18T22:15:30+02:00", "1768767330",
        "2026-01-18T20:15:30.000000000Z", "2026-01-18T18:45:30-0130", "2026-01-18T20:15:30.0Z"}) {
    EXPECT_EQ(parse_time(text), expected) << text;
  }
}

TEST(Time, RejectsInvalidText) {
  for (const char* text :
       {"", "yesterday", "0000-01-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-01-18T24:00:00Z",
        "2026-01-18T20:15:30.Z", "2026-01-18T20:15:30+25:00", "2026-01-18", "99999999999999",
        "2026-01-18T20:15:30 UTC", "12x"}) {
    EXPECT_FALSE(parse_time(text)) << text;
  }
}

TEST(Time, PrintsTheShortestExactForm) {
  for (const char* text : {"2026-01-18T20:15:30Z", "2026-01-18T20:15:30.120Z",
                           "2026-01-18T20:15:30.123456Z", "1969-12-31T23:59:59.500Z"}) {
    EXPECT_EQ(format_time(*parse_time(text)), text);
  }
}

TEST(Author, IsANameOnOneLine) {
  for (const std::string& name :
       {std::string("Ann"), std::string("Zo\xc3\xab \"Z\" O'Brien"), std::string(256, 'x'),
        std::string(" "), std::string("\xe6\x97\xa5\xe6\x9c\xac")}) {
    const auto author = Author::parse(name);
    ASSERT_TRUE(author) << name;
    EXPECT_EQ(author->str(), name);
  }
  for (const std::string& name :
       {std::string(), std::string(257, 'x'), std::string("a\nb"), std::string("a\0b", 3),
        std::string("\x1b[31m"), std::string("a\x7f"), std::string("a\xc2\x9b"),
        std::string("a\xe2\x80\xa8"), std::string("a\xe2\x80\xa9"), std::string("\xc3"),
        std::string("\xed\xa0\x80")}) {
    EXPECT_FALSE(Author::parse(name)) << name;
  }
}

class FixedClock final : public Clock {
 public:
  Time now() override { return *parse_time("2026-01-18T20:15:30.123456Z"); }
};

class CountingEntropy final : public Entropy {
 public:
  void fill(std::span<std::uint8_t> bytes) override {
    for (std::uint8_t& byte : bytes) {
      byte = next_++;
    }
  }

 private:
  std::uint8_t next_ = 0xF0;
};

TEST(SessionId, NewOnesAreUuidsOfVersion7) {
  FixedClock clock;
  CountingEntropy entropy;
  EXPECT_EQ(make_session_id(clock, entropy).str(), "019bd2bf-974b-76f7-b8f9-fafbfcfdfeff");
}

TEST(SessionId, Version4IsFullyRandom) {
  FixedClock clock;
  CountingEntropy entropy;
  EXPECT_EQ(make_session_id(clock, entropy, UuidVersion::v4).str(),
            "f0f1f2f3-f4f5-46f7-b8f9-fafbfcfdfeff");
}

}  // namespace
}  // namespace reprise
