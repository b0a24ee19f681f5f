#pragma once

// Scans unescaped runs of JSON strings, which are most of what is read or written. Private to the
// scanner, the views and the writer.

#include <cstddef>
#include <string_view>

#ifdef __SSE2__
#include <emmintrin.h>

#include <bit>
#endif

namespace reprise::json {

inline bool is_plain(char c) {
  return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20;
}

// The first byte from `at` on that is not plain string content, and whether the bytes before it are
// all ASCII.
struct Run {
  std::size_t end;
  bool ascii;
};

inline Run plain_run(std::string_view text, std::size_t at) {
  bool ascii = true;
#ifdef __SSE2__
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i slash = _mm_set1_epi8('\\');
  const __m128i control_max = _mm_set1_epi8(0x1F);
  __m128i seen = _mm_setzero_si128();
  while (at + 16 <= text.size()) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): how SSE2 loads are spelled.
    const __m128i chunk = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(chunk, control_max), chunk);
    const __m128i special = _mm_or_si128(
        control, _mm_or_si128(_mm_cmpeq_epi8(chunk, quote), _mm_cmpeq_epi8(chunk, slash)));
    const auto special_mask = static_cast<unsigned>(_mm_movemask_epi8(special));
    if (special_mask != 0) {
      const auto offset = static_cast<unsigned>(std::countr_zero(special_mask));
      const auto high_mask = static_cast<unsigned>(_mm_movemask_epi8(chunk));
      const bool ends_ascii = (high_mask & ((1U << offset) - 1U)) == 0;
      return {at + offset, ends_ascii && _mm_movemask_epi8(seen) == 0};
    }
    seen = _mm_or_si128(seen, chunk);
    at += 16;
  }
  ascii = _mm_movemask_epi8(seen) == 0;
#endif
  while (at < text.size() && is_plain(text[at])) {
    ascii = ascii && (static_cast<unsigned char>(text[at]) & 0x80U) == 0;
    ++at;
  }
  return {at, ascii};
}

}  // namespace reprise::json
