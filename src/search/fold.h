#pragma once

// Splits text into folded words.
//
//  (1) A word is a run of letters and digits. Case, accents and compatibility forms are folded:
//      "Ｃafé" and "cafe" are the same word, "ß" is "ss".
//  (2) Scripts without blanks between words (Chinese, Japanese, Korean, Thai…) are split into
//      bigrams, and the last character of a run is a word of its own: "日本語" is 日本, 本語, 語. A
//      part of a run is then a phrase of bigrams, and a single character is a prefix of one.
//  (3) Words are truncated to kWordBytesMax bytes, so that encoded data remains small.

#include <array>        // IWYU pragma: export
#include <cstddef>      // IWYU pragma: export
#include <string>       // IWYU pragma: export
#include <string_view>  // IWYU pragma: export

namespace reprise::search {

inline constexpr std::size_t kWordBytesMax = 64;

// The bytes with which words begin, in both cases.
class FirstBytes {
 public:
  void add(char folded);
  bool has(char byte) const { return bytes_[static_cast<unsigned char>(byte)]; }

 private:
  std::array<bool, 256> bytes_{};
};

// Iterates over the words of a text, which must be valid UTF-8 and outlive this.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  // False at the end. The other functions return the current word.
  bool next();
  // Skips most words that begin with none of these bytes, without folding them. False if the next
  // word does not begin before `limit`.
  bool next(const FirstBytes& first, std::size_t limit = std::string_view::npos);
  const std::string& folded() const { return folded_; }
  std::size_t begin() const { return begin_; }  // in bytes of the text
  std::size_t end() const { return end_; }
  bool is_pair() const { return is_pair_; }  // a bigram, or the last character of its run

 private:
  void skip_ascii(const FirstBytes& first, std::size_t limit);
  void take_word();
  void take_ascii();
  void take_pair(std::size_t second);

  std::string_view text_;
  std::size_t at_ = 0;
  std::string folded_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool is_pair_ = false;
};

}  // namespace reprise::search
