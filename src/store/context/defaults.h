#pragma once

// What a context file sets for whoever asks in its project.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "reprise/error.h"

namespace reprise::store::context {

struct Defaults {
  std::string provider;  // as Reprise names it
  std::string base_url;  // "" for the provider's own
  std::string model;
  std::string system;  // "" when a prompt in the conversation comes first
  double temperature = 0;
  std::int64_t max_tokens = 0;
  bool stream = true;
  std::string save_path;  // "" for none
  std::string env_key;
  // What could not be read and has its default, a line each. The first one is about the whole file
  // when `is_damaged`.
  std::vector<std::string> faults;
  bool is_damaged = false;
};

// All defaults when there is no such file.
Result<Defaults> read_defaults(const std::filesystem::path& file);

// A new file with the defaults and no conversation, 0600. conflict when there is one.
Result<> create_context_file(const std::filesystem::path& file);

}  // namespace reprise::store::context
