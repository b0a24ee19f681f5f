#include "search/fold.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/fold.h"
#include "base/text.h"
#include "base/utf8.h"

namespace reprise::search {
namespace {

struct CodeRange {
  char32_t first;
  char32_t last;
};

// Scripts without blanks between words.
constexpr CodeRange kUnspaced[] = {
    {0x0E00, 0x0EFF},    // Thai, Lao
    {0x1000, 0x109F},    // Myanmar
    {0x1100, 0x11FF},    // Hangul
    {0x1780, 0x17FF},    // Khmer
    {0x2E80, 0x2FDF},    // radicals
    {0x3005, 0x3007},    // ideographic marks
    {0x3040, 0x30FF},    // Hiragana, Katakana
    {0x3130, 0x318F},    // Hangul
    {0x31F0, 0x31FF},    // Katakana
    {0x3400, 0x4DBF},    // Han
    {0x4E00, 0x9FFF},    // Han
    {0xA960, 0xA97F},    // Hangul
    {0xAC00, 0xD7FF},    // Hangul
    {0xF900, 0xFAFF},    // Han
    {0xFF66, 0xFFDC},    // half-width Katakana and Hangul
    {0x20000, 0x3FFFF},  // Han
};

// The folded form of letters and digits; 0 for other bytes.
constexpr auto kAsciiWord = [] {
  std::array<char, 256> folded{};
  for (const char c : std::string_view("0123456789abcdefghijklmnopqrstuvwxyz")) {
    folded[static_cast<unsigned char>(c)] = c;
    folded[static_cast<unsigned char>(c >= 'a' ? c - 'a' + 'A' : c)] = c;
  }
  return folded;
}();

bool is_unspaced(char32_t code_point) {
  if (code_point < kUnspaced[0].first) {
    return false;
  }
  const auto* const found = std::ranges::lower_bound(kUnspaced, code_point, {}, &CodeRange::last);
  return found != std::end(kUnspaced) && found->first <= code_point;
}

// Letters, digits and their modifiers.
bool is_word_part(char32_t code_point) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code_point))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
    case UTF8PROC_CATEGORY_CO:
      return true;
    default:
      return false;
  }
}

bool is_mark(char32_t code_point) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code_point));
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME;
}

// The folded letters and digits of a character.
void append_word_parts(std::string& out, char32_t code_point) {
  const std::size_t before = out.size();
  append_folded(out, code_point);
  for (std::size_t at = before; at < out.size();) {
    const auto [part, bytes] = utf8::decode(std::string_view(out).substr(at));
    if (is_word_part(part)) {
      at += bytes;
    } else {
      out.erase(at, bytes);
    }
  }
}

}  // namespace

void FirstBytes::add(char folded) {
  bytes_.at(static_cast<unsigned char>(folded)) = true;
  if (folded >= 'a' && folded <= 'z') {
    bytes_.at(static_cast<unsigned char>(folded - 'a' + 'A')) = true;
  }
}

bool Words::next() {
  while (at_ < text_.size()) {
    folded_.clear();
    begin_ = at_;
    if (const char c = text_[at_]; static_cast<unsigned char>(c) < 0x80) {
      if (!is_ascii_alnum(c)) {
        ++at_;
        continue;
      }
      take_word();
      return true;
    }
    const auto [code_point, bytes] = utf8::decode(text_.substr(at_));
    if (!is_word_part(code_point) || is_mark(code_point)) {
      at_ += bytes;
      continue;
    }
    if (is_unspaced(code_point)) {
      append_word_parts(folded_, code_point);
      at_ += bytes;
      take_pair(at_);
    } else {
      take_word();
    }
    if (!folded_.empty()) {
      return true;
    }
  }
  return false;
}

bool Words::next(const FirstBytes& first, std::size_t limit) {
  limit = std::min(limit, text_.size());
  skip_ascii(first, limit);
  return at_ < limit && next() && begin_ < limit;
}

// Skips words of letters and digits, and what is between them, up to `limit`.
void Words::skip_ascii(const FirstBytes& first, std::size_t limit) {
  const auto is_word_before = [this](std::size_t at) {
    return at > at_ && kAsciiWord[static_cast<unsigned char>(text_[at - 1])] != 0;
  };
  std::size_t at = at_;
  while (at < limit && static_cast<unsigned char>(text_[at]) < 0x80 &&
         (!first.has(text_[at]) || is_word_before(at))) {
    ++at;
  }
  if (at < limit && static_cast<unsigned char>(text_[at]) >= 0x80) {
    while (is_word_before(at)) {
      --at;
    }
  }
  at_ = at;
}

void Words::take_word() {
  is_pair_ = false;
  take_ascii();
  while (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) >= 0x80) {
    const auto [code_point, bytes] = utf8::decode(text_.substr(at_));
    if (!is_word_part(code_point) || is_unspaced(code_point)) {
      break;
    }
    if (folded_.size() < kWordBytesMax) {
      append_word_parts(folded_, code_point);
    }
    at_ += bytes;
    take_ascii();
  }
  end_ = at_;
}

// Takes letters and digits, many at once since most text consists of them.
void Words::take_ascii() {
  std::array<char, kWordBytesMax> folded;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::size_t size = 0;
  std::size_t at = at_;
  for (; at < text_.size(); ++at) {
    const char c = kAsciiWord[static_cast<unsigned char>(text_[at])];
    if (c == '\0') {
      break;
    }
    if (size < folded.size()) {
      folded[size++] = c;
    }
  }
  at_ = at;
  folded_.append(folded.data(),
                 std::min(size, kWordBytesMax - std::min(kWordBytesMax, folded_.size())));
}

// Call after the character before `second` was consumed; combining marks are not counted.
void Words::take_pair(std::size_t second) {
  is_pair_ = true;
  end_ = second;
  while (second < text_.size() && static_cast<unsigned char>(text_[second]) >= 0x80) {
    const auto [code_point, bytes] = utf8::decode(text_.substr(second));
    second += bytes;
    if (is_word_part(code_point) && is_mark(code_point)) {
      at_ = end_ = second;
      continue;
    }
    if (is_unspaced(code_point) && is_word_part(code_point)) {
      append_word_parts(folded_, code_point);
      end_ = second;
    }
    return;
  }
}

}  // namespace reprise::search
