#include "cli/repl/edit_library.h"

#include "base/late_library.h"
#include "reprise/error.h"

namespace reprise::cli {

Result<const EditLibrary*> edit_library() {
  static const auto loaded =
      load_late<EditLibrary>("libedit (Debian's libedit2)", {"libedit.so.2", "libedit.so"});
  return loaded;
}

}  // namespace reprise::cli
