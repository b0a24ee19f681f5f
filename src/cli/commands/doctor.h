#pragma once

// What `reprise doctor` finds, and its checks of the store.

#include <filesystem>   // IWYU pragma: export
#include <string>       // IWYU pragma: export
#include <string_view>  // IWYU pragma: export
#include <vector>       // IWYU pragma: export

#include "cli/program/context.h"  // IWYU pragma: export

namespace reprise::cli {

struct Finding {
  std::string_view name;  // in the JSON document
  std::string value;
  std::string fix = {};  // a command that helps; "" if there is no problem
  bool is_ok = true;     // false: a turn would not be stored or answered
};

class Findings {
 public:
  void add(std::string_view name, std::string value, std::string fix = {}) {
    list_.push_back({name, std::move(value), std::move(fix)});
  }
  void add_problem(std::string_view name, std::string value, std::string fix) {
    list_.push_back({name, std::move(value), std::move(fix), false});
  }
  const std::vector<Finding>& list() const { return list_; }

 private:
  std::vector<Finding> list_;
};

// Only the owner should be able to read the file.
void check_private_mode(Findings& findings, std::string_view name,
                        const std::filesystem::path& file);

// Opens the store, counts its sessions, and tests writing where it is.
void check_store(Context& context, const std::string& url, Findings& findings);

}  // namespace reprise::cli
