#pragma once

// md4c, loaded when the first Markdown is shown: no other command pays for it.

#include <md4c.h>

#include "base/late_library.h"
#include "reprise/error.h"

namespace reprise {

struct MarkdownLibrary : LateFunctions {
  Late<decltype(&::md_parse)> parse{*this, "md_parse"};
};

// unsupported, naming the package, where it is not installed.
Result<const MarkdownLibrary*> markdown_library();

}  // namespace reprise
