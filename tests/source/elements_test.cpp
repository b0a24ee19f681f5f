#include "source/elements.h"

#include <fcntl.h>

#include <fstream>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "support/must.h"

namespace reprise::source {
namespace {

using test::must;

class Elements : public testing::Test {
 protected:
  // The titles of the elements, then the damage.
  std::vector<std::string> read(const std::string& bytes) {
    const std::filesystem::path file = folder_.path() / "a.json";
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
    const Fd fd = must(open_file(file, O_RDONLY));
    std::vector<std::string> found;
    ReadReport report;
    must(for_each_element(fd.get(), file, "m", report, [&](const Element& element) {
      found.push_back(element.json["t"].text());
      EXPECT_EQ(bytes.substr(static_cast<std::size_t>(element.at), element.json.raw().size()),
                element.json.raw());
      return Flow::proceed;
    }));
    for (const Damage& damage : report.damage) {
      found.push_back(cat("!", damage.reason));
    }
    return found;
  }
  static std::string element(std::string_view title, std::string_view more = "1") {
    return cat(R"({"t":")", title, R"(","m":)", more, "}");
  }
  test::TemporaryFolder folder_;
};

using Found = std::vector<std::string>;

TEST_F(Elements, AreReadOneAfterTheOther) {
  EXPECT_EQ(read(cat(" [", element("a"), " ,\n", element("b", R"({"x":["]}\"",1]})"), "]\n")),
            (Found{"a", "b"}));
  EXPECT_EQ(read("[]"), Found{});
  EXPECT_EQ(read(""), Found{});
  EXPECT_EQ(read("\xEF\xBB\xBF[" + element("a") + "]"), Found{"a"});
}

TEST_F(Elements, OneObjectAloneIsOne) {
  EXPECT_EQ(read(element("a")), Found{"a"});
}

TEST_F(Elements, WhatIsNoneIsDamageAndNotTheEnd) {
  EXPECT_EQ(read(cat("[", element("a"), R"(,{"t":"x"},)", element("b"), "]")),
            (Found{"a", "b", "!not a conversation"}));
  EXPECT_EQ(read(cat("[", element("a"), ",17,", element("b"), "]")),
            (Found{"a", "b", "!truncated, damaged or too large"}));
}

TEST_F(Elements, ACutOneCostsNothingButItself) {
  const std::string torn = R"({"t":"x","m":{"deep":[{"t":"inner"},"un)";
  EXPECT_EQ(read(cat("[", element("a"), ",", torn, element("b"), ",", element("c"), "]")),
            (Found{"a", "b", "c", "!truncated, damaged or too large"}));
  EXPECT_EQ(read(cat("[", torn, element("b"), "]")),
            (Found{"b", "!truncated, damaged or too large"}));
}

TEST_F(Elements, ACutFileHasWhatIsWhole) {
  const std::string whole = cat("[", element("a"), ",", element("b"), "]");
  for (std::size_t cut = 1; cut < whole.size(); ++cut) {
    const Found found = read(whole.substr(0, cut));
    const std::size_t first_end = 1 + element("a").size();
    ASSERT_FALSE(found.empty()) << cut;
    EXPECT_EQ(found[0] == "a", cut >= first_end) << cut;
    EXPECT_TRUE(found.back().starts_with("!")) << cut;
  }
}

TEST_F(Elements, OneOverTheLimitIsDamageAndNotTheEnd) {
  const std::string large = element("x", cat("\"", std::string(kElementBytesMax + 5, 'x'), "\""));
  EXPECT_EQ(read(cat("[", element("a"), ",", large, ",", element("b"), "]")),
            (Found{"a", "b", "!truncated, damaged or too large"}));
}

TEST_F(Elements, LargerThanAPieceIsRead) {
  const std::string large = element("x", cat("\"", std::string(3 << 20, 'x'), "\""));
  EXPECT_EQ(read(cat("[", large, ",", element("a"), ",", large, "]")), (Found{"x", "a", "x"}));
}

}  // namespace
}  // namespace reprise::source
