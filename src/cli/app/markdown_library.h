#pragma once

// md4c, loaded when the first Markdown is shown: no other command pays for it.

#include <md4c.h>

#include "reprise/error.h"

namespace reprise::cli::app {

struct MarkdownLibrary {
  decltype(&::md_parse) parse = nullptr;
};

// unsupported, naming the package, where it is not installed.
const Result<MarkdownLibrary>& markdown_library();

}  // namespace reprise::cli::app
