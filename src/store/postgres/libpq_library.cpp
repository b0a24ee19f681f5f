#include "store/postgres/libpq_library.h"

#include "base/late_library.h"
#include "reprise/error.h"

namespace reprise::postgres {

Result<const LibpqLibrary*> libpq_library() {
  static const auto loaded = load_late<LibpqLibrary>("libpq (package libpq5)", {"libpq.so.5"});
  return loaded;
}

}  // namespace reprise::postgres
