#pragma once

// md4c, loaded when Markdown is shown for the first time.

#include <md4c.h>

#include "base/late_library.h"
#include "reprise/error.h"

namespace reprise {

struct MarkdownLibrary : LateFunctions {
  Late<decltype(&::md_parse)> parse{*this, "md_parse"};
};

// unsupported, naming the package, when it is not installed.
Result<const MarkdownLibrary*> markdown_library();

}  // namespace reprise
