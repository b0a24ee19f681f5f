#include "base/zstd_library.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

std::string numbers() {
  std::string text;
  for (int i = 0; i < 200'000; ++i) {
    text += std::to_string(i) + " ";
  }
  return text;
}

TEST(Zstd, PacksAndUnpacks) {
  const std::string text = numbers();
  const std::string packed = zstd_packed(text);
  EXPECT_TRUE(is_zstd_frame(packed));
  EXPECT_LT(packed.size(), text.size());
  EXPECT_EQ(zstd_unpacked(packed).value(), text);
  EXPECT_EQ(zstd_unpacked(packed + packed).value(), text + text);
}

TEST(Zstd, KeepsIncompressibleBytes) {
  EXPECT_EQ(zstd_packed("x"), "x");
  EXPECT_EQ(zstd_unpacked("x").value(), "x");
  EXPECT_EQ(zstd_unpacked("").value(), "");
}

TEST(Zstd, RejectsTruncatedOrChangedFrames) {
  const std::string text = numbers();
  std::string packed = zstd_packed(text);
  for (const std::size_t size :
       {std::size_t{4}, std::size_t{5}, packed.size() / 2, packed.size() - 1}) {
    const auto cut = zstd_unpacked(packed.substr(0, size));
    EXPECT_TRUE(!cut && cut.error().code == Code::corrupt) << size;
  }
  packed.replace(100, 100, 100, 'x');
  const auto changed = zstd_unpacked(packed);
  EXPECT_TRUE(!changed || *changed != text);
  const auto foreign = zstd_unpacked(packed.substr(0, 4) + std::string(100, '\xFF'));
  EXPECT_TRUE(!foreign && foreign.error().code == Code::corrupt);
}

}  // namespace
}  // namespace reprise
