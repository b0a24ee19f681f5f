#pragma once

// For showing Markdown: md4c, loaded when it is first needed, and the tokens of its code blocks.

#include <md4c.h>

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/dynamic_library.h"
#include "reprise/error.h"

namespace reprise {

struct MarkdownLibrary : LibraryFunctions {
  LazyFunction<decltype(&::md_parse)> parse{*this, "md_parse"};
};

// unsupported, naming the package, when it is not installed.
Result<const MarkdownLibrary*> markdown_library();

// GitHub's Markdown without HTML, passed to a `Reader`: enter() and leave() for blocks and spans,
// with their details, and text(). Parsing ends when enter() returns false.
template <class Reader>
MD_PARSER markdown_parser() {
  // md4c may ignore a positive result.
  return {.abi_version = 0,
          .flags = MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS | MD_FLAG_PERMISSIVEURLAUTOLINKS |
                   MD_FLAG_TABLES | MD_FLAG_NOHTML,
          .enter_block =
              [](MD_BLOCKTYPE type, void* detail, void* reader) {
                return static_cast<Reader*>(reader)->enter(type, detail) ? 0 : -1;
              },
          .leave_block =
              [](MD_BLOCKTYPE type, void* detail, void* reader) {
                static_cast<Reader*>(reader)->leave(type, detail);
                return 0;
              },
          .enter_span =
              [](MD_SPANTYPE type, void* detail, void* reader) {
                return static_cast<Reader*>(reader)->enter(type, detail) ? 0 : -1;
              },
          .leave_span =
              [](MD_SPANTYPE type, void* detail, void* reader) {
                static_cast<Reader*>(reader)->leave(type, detail);
                return 0;
              },
          .text =
              [](MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size, void* reader) {
                static_cast<Reader*>(reader)->text(type, {text, size});
                return 0;
              },
          .debug_log = nullptr,
          .syntax = nullptr};
}

// Splits code of any language into comments, strings, numbers and common keywords. A heuristic, not
// a parser. Pure.
enum class CodeToken : std::uint8_t { other, comment, string, number, keyword };

// Calls `sink` with each token of the line, in order.
void for_each_code_token(std::string_view line, std::string_view language,
                         const std::function<void(std::string_view text, CodeToken token)>& sink);

}  // namespace reprise
