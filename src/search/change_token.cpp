#include "search/change_token.h"

#include <sys/stat.h>
#include <time.h>

#include <cerrno>
#include <cstdint>

#include "base/text.h"

namespace reprise::search {

// Every change is written to the database file or its log, and updates the modification time. Two
// changes within the granularity of the file system's clock may leave the same time, so a recent
// change gives no token.
std::string change_token(std::string_view url) {
  constexpr std::string_view kScheme = "sqlite:";
  constexpr std::int64_t kSecond = 1'000'000'000;
  constexpr std::int64_t kGrain = 3 * kSecond;  // of the coarsest file systems, with a margin
  timespec now{};
  if (!url.starts_with(kScheme) || ::clock_gettime(CLOCK_REALTIME, &now) != 0) {
    return "";
  }
  std::string token;
  for (const std::string_view part : {"", "-wal"}) {
    struct stat file{};
    if (::stat(cat(url.substr(kScheme.size()), part).c_str(), &file) != 0) {
      if (errno != ENOENT || part.empty()) {
        return "";
      }
      token += "none ";
      continue;
    }
    const std::int64_t changed = file.st_mtim.tv_sec * kSecond + file.st_mtim.tv_nsec;
    if (now.tv_sec * kSecond + now.tv_nsec - changed < kGrain) {
      return "";
    }
    token += cat(file.st_ino, ".", file.st_size, ".", changed, " ");
  }
  return token;
}

}  // namespace reprise::search
