#include "base/encode.h"

#include <gtest/gtest.h>

#include <string>

namespace reprise {
namespace {

TEST(Base64, RoundTripsEveryLength) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(base64_decode(base64_encode(bytes)), bytes) << i;
    bytes += static_cast<char>(i * 7);
  }
}

TEST(Base64, KnownValues) {  // RFC 4648, section 10
  EXPECT_EQ(base64_encode("foob"), "Zm9vYg==");
  EXPECT_EQ(base64_encode("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64_encode("foobar"), "Zm9vYmFy");
}

TEST(Base64, RefusesWhatIsNone) {
  for (const char* text : {"a", "ab!=", "====", "a===", "ab=c"}) {
    EXPECT_EQ(base64_decode(text), std::nullopt) << text;
  }
}

TEST(Sha256, KnownValue) {  // FIPS 180-2, appendix B.1
  const auto hash = sha256("abc");
  ASSERT_TRUE(hash) << hash.error().message;
  EXPECT_EQ(hash->str(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace reprise
