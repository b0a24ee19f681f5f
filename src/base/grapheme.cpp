#include "base/grapheme.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/utf8.h"

namespace reprise {
namespace {

constexpr char32_t kEmojiPresentation = 0xFE0F;

bool is_plain_ascii(char c) {
  return c >= ' ' && c <= '~';
}

bool is_flag_letter(char32_t code_point) {
  return code_point >= 0x1F1E6 && code_point <= 0x1F1FF;
}

// The first character of `text`, and its length in bytes; length 0 for invalid UTF-8.
utf8::Decoded decode_or_none(std::string_view text) {
  const std::size_t valid = utf8::valid_prefix(text.substr(0, 4));
  return valid == 0 ? utf8::Decoded{0, 0} : utf8::decode(text.substr(0, valid));
}

struct Cluster {
  std::size_t bytes = 0;
  std::size_t columns = 0;
};

std::size_t columns_of(char32_t code_point) {
  const int width = utf8proc_charwidth(static_cast<utf8proc_int32_t>(code_point));
  return width > 0 ? static_cast<std::size_t>(width) : 0;
}

Cluster first_cluster(std::string_view text) {
  if (is_plain_ascii(text.front()) && (text.size() == 1 || is_plain_ascii(text[1]))) {
    return {1, 1};
  }
  auto one = decode_or_none(text);
  if (one.bytes == 0) {
    return {1, 1};
  }
  Cluster cluster{one.bytes, columns_of(one.code_point)};
  const bool flag = is_flag_letter(one.code_point);
  std::int32_t state = 0;
  while (cluster.bytes < text.size()) {
    const auto next = decode_or_none(text.substr(cluster.bytes));
    if (next.bytes == 0 ||
        utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(one.code_point),
                                         static_cast<utf8proc_int32_t>(next.code_point), &state)) {
      break;
    }
    cluster.bytes += next.bytes;
    // utf8proc assigns flags one column; terminals show two.
    if (flag || next.code_point == kEmojiPresentation) {
      cluster.columns = 2;
    }
    cluster.columns = std::max(cluster.columns, columns_of(next.code_point));
    one = next;
  }
  return cluster;
}

}  // namespace

std::size_t first_grapheme(std::string_view text) {
  return text.empty() ? 0 : first_cluster(text).bytes;
}

std::string_view grapheme_prefix(std::string_view text, std::size_t count) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count && bytes < text.size(); ++i) {
    bytes += first_cluster(text.substr(bytes)).bytes;
  }
  return text.substr(0, bytes);
}

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const auto cluster = first_cluster(text);
    columns += cluster.columns;
    text.remove_prefix(cluster.bytes);
  }
  return columns;
}

std::string_view width_prefix(std::string_view text, std::size_t columns) {
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const auto cluster = first_cluster(text.substr(bytes));
    if (cluster.columns > columns) {
      break;
    }
    columns -= cluster.columns;
    bytes += cluster.bytes;
  }
  return text.substr(0, bytes);
}

}  // namespace reprise
