#include "base/encode.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

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

TEST(Base64, RejectsInvalidInput) {
  for (const char* text : {"a", "ab!=", "====", "a===", "ab=c"}) {
    EXPECT_EQ(base64_decode(text), std::nullopt) << text;
  }
}

TEST(Percent, RoundTrips) {
  EXPECT_EQ(percent_encoded("a-._~Z9"), "a-._~Z9");
  EXPECT_EQ(percent_encoded("a&b/\xC3\xA9 "), "a%26b%2f%c3%a9%20");
  EXPECT_EQ(percent_decoded(percent_encoded("a&b/\xC3\xA9 %")), "a&b/\xC3\xA9 %");
}

TEST(Sha256, KnownValue) {  // FIPS 180-2, appendix B.1
  const auto hash = sha256("abc");
  ASSERT_TRUE(hash) << hash.error().message;
  EXPECT_EQ(hash->str(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Hmac, KnownValues) {
  // RFC 4231, test cases 2 and 6 (a key longer than a block), the data in several pieces.
  const auto small =
      hmac_sha256("Jefe", std::array<std::string_view, 3>{"what do ya want ", "", "for nothing?"});
  ASSERT_TRUE(small) << small.error().message;
  EXPECT_EQ(hex_encode(*small), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  const auto large = hmac_sha256(
      std::string(131, '\xaa'),
      std::array<std::string_view, 1>{"Test Using Larger Than Block-Size Key - Hash Key First"});
  ASSERT_TRUE(large) << large.error().message;
  EXPECT_EQ(hex_encode(*large), "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Pbkdf2, KnownValues) {  // RFC 7914, section 11: the first 32 bytes of each
  const auto once = pbkdf2_sha256("passwd", "salt", 1);
  ASSERT_TRUE(once) << once.error().message;
  EXPECT_EQ(hex_encode(*once), "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc");
  const auto often = pbkdf2_sha256("Password", "NaCl", 80000);
  ASSERT_TRUE(often) << often.error().message;
  EXPECT_EQ(hex_encode(*often), "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56");
}

TEST(ConstantTime, ComparesWholeTexts) {
  EXPECT_TRUE(equal_in_constant_time("", ""));
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_in_constant_time("abc", "ab"));
  EXPECT_FALSE(equal_in_constant_time("ab", "abc"));
}

TEST(Fnv1a, KnownValues) {
  EXPECT_EQ(fnv1a(""), 0xcbf29ce484222325U);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8U);
  EXPECT_NE(fnv1a("foobar", 1), fnv1a("foobar"));
}

TEST(HashOfWords, DependsOnEachByte) {
  EXPECT_NE(hash_of_words("a"), hash_of_words(std::string_view("a\0", 2)));
  const std::string text = "a text of more than two words";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const std::string hash = hash_of_words(text.substr(0, size));
    EXPECT_EQ(hash.size(), 8U);
    for (std::size_t i = 0; i < size; ++i) {
      std::string changed = text.substr(0, size);
      changed[i] ^= 0x01;
      EXPECT_NE(hash_of_words(changed), hash) << i << " of " << size;
    }
  }
}

}  // namespace

}  // namespace reprise
