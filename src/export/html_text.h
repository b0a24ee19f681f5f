#pragma once

// Foreign text in a page. Everything passes through here: what comes out has no markup, no control
// character and nothing that turns the reading direction around.

#include <cstdint>
#include <string>
#include <string_view>

namespace reprise::exporting {

// For an element's content or an attribute in double quotes.
std::string html_text(std::string_view text);

// Markdown as HTML; raw HTML in it is shown as it is written. Images become links, for a page loads
// nothing. Where md4c is missing, and for what would become a page of its own (a table of a million
// cells), the text as it stands.
enum class LineEnds : std::uint8_t { joined, shown };
std::string html_of_markdown(std::string_view text, LineEnds line_ends);

// The inside of <code>.
std::string html_of_code(std::string_view code, std::string_view language);

// Whether a link may lead there: http, https and mailto alone.
bool is_plain_link(std::string_view target);

// What every exported page has: its style, and what a browser may do with it, which is nothing but
// to show it: the content of <style>, and the policy that allows it by its SHA-256, and images in
// the page.
std::string_view page_style();
std::string_view page_policy();

}  // namespace reprise::exporting
