#pragma once

// A folder as a place. A path is one spelling of it: behind a link, or after the folder was moved
// and a link left where it was, others lead there, too.

#include <sys/types.h>

#include <filesystem>   // IWYU pragma: export
#include <map>          // IWYU pragma: export
#include <optional>     // IWYU pragma: export
#include <set>          // IWYU pragma: export
#include <string>       // IWYU pragma: export
#include <string_view>  // IWYU pragma: export
#include <utility>      // IWYU pragma: export

namespace reprise {

// Asks the system about each folder once. For one thread.
class Place {
 public:
  explicit Place(std::string folder);

  // False if the folder does not exist on this machine: then it has one spelling.
  bool exists() const { return identity_.has_value(); }
  // Whether the path leads here.
  bool is_at(std::string_view folder);
  // The folder, or the highest one above it, that is_at() found missing: no path through it leads
  // anywhere. "" if there is none.
  std::string_view missing_part(std::string_view folder) const;

 private:
  using Identity = std::pair<dev_t, ino_t>;

  static std::optional<Identity> identify(const std::string& folder, bool& is_missing);
  void add_missing(std::string_view folder);

  std::string folder_;
  std::optional<Identity> identity_;
  std::map<std::string, bool, std::less<>> known_;
  std::set<std::string, std::less<>> missing_;
  std::string existing_;  // the folder last found above a missing one
};

// Whether the folder is known to be gone: it does not exist, while its parent does. A folder whose
// parent does not exist either may be on a disk that is not there, or on another machine. A link
// exists, whatever its target.
bool is_gone_folder(const std::filesystem::path& folder);

}  // namespace reprise
