#pragma once

// Escapes foreign text for a page. All of it passes through here; the output has no markup, no
// control characters and no characters that change the text direction.

#include <cstdint>
#include <string>
#include <string_view>

namespace reprise::exporting {

// For element content and double-quoted attributes.
std::string html_text(std::string_view text);

// A line end within a paragraph: a blank, as in Markdown, or a line break.
enum class LineEnds : std::uint8_t { joined, shown };

// Converts Markdown to HTML; raw HTML is escaped. Images become links, since a page loads nothing.
// If md4c is missing or the output would be too large (a table of a million cells), returns the
// text preformatted.
std::string html_of_markdown(std::string_view text, LineEnds line_ends);

// The content of <code>.
std::string html_of_code(std::string_view code, std::string_view language);

// Whether a link may have this target: only http, https and mailto.
bool is_plain_link(std::string_view target);

// The content of <style> for all exported pages, and the Content-Security-Policy, which allows only
// that style, by its SHA-256, and embedded images.
std::string_view page_style();
std::string_view page_policy();

}  // namespace reprise::exporting
