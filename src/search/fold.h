#pragma once

// How text becomes the words that are searched.
//
//  (1) A word is a run of letters and digits. Case, accents and compatible forms fold: "Ｃafé" and
//      "cafe" are one word, "ß" is "ss".
//  (2) Scripts without blanks between words (Chinese, Japanese, Korean, Thai…) are cut into pairs
//  of
//      neighbours, and the last character of a run stands alone as well: "日本語" is 日本, 本語,
//      語. A part of a run is then a phrase of pairs, and one character the beginning of a pair.
//  (3) At most kWordBytesMax bytes of a word count, so that encoded data stays small.

#include <cstddef>
#include <string>
#include <string_view>

namespace reprise::search {

inline constexpr std::size_t kWordBytesMax = 64;

// Walks over the words of a text, which is valid UTF-8 and outlives it.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  // False at the end. The others are about the word that was found.
  bool next();
  const std::string& folded() const { return folded_; }
  std::size_t begin() const { return begin_; }  // in bytes of the text
  std::size_t end() const { return end_; }
  bool is_pair() const { return is_pair_; }  // of a script without blanks, or its last character

 private:
  void take_word();
  void take_pair(std::size_t second);

  std::string_view text_;
  std::size_t at_ = 0;
  std::string folded_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool is_pair_ = false;
};

}  // namespace reprise::search
