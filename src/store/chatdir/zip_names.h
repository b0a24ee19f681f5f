#pragma once

// The names of entries in zip files.

#include <set>
#include <string>
#include <string_view>

namespace reprise::store::chatdir {

// Relative, and nowhere else on this system.
bool is_relative_name(std::string_view name);
// The same on any system.
bool is_safe_name(std::string_view name);
// The name of an entry for a file with this name, which all programs accept.
std::string name_of_entry(std::string_view name);

// The names so far, and the folders that they require.
class ZipNames {
 public:
  // false if the name exists, or if a file has the name of a required folder.
  bool add(std::string_view name);

 private:
  std::set<std::string> files_;
  std::set<std::string> folders_;
  std::set<std::string> named_;  // folders that have their own entry
};

}  // namespace reprise::store::chatdir
