#pragma once

// What stands within a paragraph of Markdown. Pure.

#include <md4c.h>

#include <string_view>

#include "cli/app/style.h"

namespace reprise::cli::app {

// The look of words in such a span, within others that look like `outside`.
Style style_within(MD_SPANTYPE type, Style outside);

// The character of "&amp;" and its like; what is not known stays as it is written.
std::string_view meaning_of_entity(std::string_view text);

}  // namespace reprise::cli::app
