#include "store/quarantine.h"

#include <fcntl.h>

#include <cerrno>

#include "base/file.h"
#include "base/text.h"

namespace reprise::store {
namespace {

namespace fs = std::filesystem;

constexpr int kNamesMax = 10'000;

fs::path numbered(const fs::path& file, std::string_view suffix, int number) {
  fs::path name = file;
  name += number == 0 ? cat(".", suffix) : cat(".", suffix, ".", number);
  return name;
}

bool holds(const fs::path& file, std::string_view bytes) {
  const auto there = read_file(file);
  return there && *there == bytes;
}

// A crash may leave it incomplete; then the original bytes are still in their file.
Result<> fill(const Fd& out, std::string_view bytes, const fs::path& name) {
  REPRISE_TRY(write_all(out.get(), bytes, name));
  REPRISE_TRY(sync_file(out.get(), name));
  return sync_folder(folder_of(name));
}

}  // namespace

Result<fs::path> quarantine(const fs::path& file, std::string_view bytes, std::string_view suffix) {
  for (int number = 0; number < kNamesMax; ++number) {
    fs::path name = numbered(file, suffix, number);
    auto created = open_file(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (!created && created.error().os_errno == EEXIST) {
      if (holds(name, bytes)) {
        return name;
      }
      continue;
    }
    REPRISE_ASSIGN(const Fd out, std::move(created));
    REPRISE_TRY(fill(out, bytes, name));
    return name;
  }
  return fail(Code::conflict, cat("cannot set ", file.native(), " aside: there are ", kNamesMax,
                                  " such files already"));
}

}  // namespace reprise::store
