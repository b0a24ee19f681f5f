#include "base/markdown_library.h"

#include "base/late_library.h"
#include "reprise/error.h"

namespace reprise {

Result<const MarkdownLibrary*> markdown_library() {
  static const auto loaded =
      load_late<MarkdownLibrary>("md4c (Debian's libmd4c0)", {"libmd4c.so.0", "libmd4c.so"});
  return loaded;
}

}  // namespace reprise
