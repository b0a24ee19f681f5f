#include "cli/app/glyph.h"

#include <wchar.h>

#include <string_view>

#include "base/utf8.h"

namespace reprise::cli::app {

Glyph glyph_of(std::string_view text, int columns) {
  constexpr char32_t kJoiner = 0x200D;
  constexpr char32_t kEmojiPresentation = 0xFE0F;
  Glyph glyph;
  bool taking = true;
  while (!text.empty()) {
    const utf8::Decoded next = utf8::decode(text);
    text.remove_prefix(next.bytes);
    const auto character = static_cast<wchar_t>(next.code_point);
    const int width = ::wcwidth(character);
    glyph.parts += width > 0 ? 1 : 0;
    if (glyph.length == 0) {
      glyph.columns = width;
      glyph.characters.at(glyph.length++) = character;
      continue;
    }
    if (next.code_point == kJoiner || next.code_point == kEmojiPresentation || width > 0) {
      glyph.whole = false;
      taking = taking && width <= 0;
    } else if (taking && width == 0 && glyph.length < kGlyphCharacters) {
      glyph.characters.at(glyph.length++) = character;
    }
  }
  if (glyph.columns < 1 || glyph.columns > columns) {
    glyph = {};
    glyph.characters[0] = columns == 1 ? L'?' : L'\uFFFD';
    glyph.length = 1;
  }
  return glyph;
}

}  // namespace reprise::cli::app
