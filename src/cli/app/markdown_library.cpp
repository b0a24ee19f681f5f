#include "cli/app/markdown_library.h"

#include "base/late_library.h"
#include "reprise/error.h"

namespace reprise::cli::app {
namespace {

Result<MarkdownLibrary> load_markdown() {
  REPRISE_ASSIGN(const auto library,
                 LateLibrary::load("md4c (Debian's libmd4c0)", {"libmd4c.so.0", "libmd4c.so"}));
  MarkdownLibrary out;
  REPRISE_TRY(library.bind(out.parse, "md_parse"));
  return out;
}

}  // namespace

const Result<MarkdownLibrary>& markdown_library() {
  static const Result<MarkdownLibrary> loaded = load_markdown();
  return loaded;
}

}  // namespace reprise::cli::app
