#pragma once

// What a context file sets for whoever asks in its project.

#include <filesystem>
#include <optional>
#include <vector>

#include "reprise/error.h"

namespace reprise::store::context {

struct Defaults {
  std::string provider;  // as Reprise names it
  std::string base_url;  // "" for the provider's own
  // What goes to the model, where the file says it.
  std::optional<std::string> model;
  std::optional<std::string> system;
  std::optional<double> temperature;
  std::optional<std::int64_t> max_tokens;
  bool stream = true;
  std::string save_path;  // "" for none
  std::string env_key;    // "" for the provider's usual one
  // What could not be read and has its default, a line each. The first one is about the whole file
  // when `is_damaged`.
  std::vector<std::string> faults;
  bool is_damaged = false;
};

// All defaults when there is no such file.
Result<Defaults> read_defaults(const std::filesystem::path& file);

// A new file with the defaults, a system prompt, this model and no conversation, 0600. conflict
// when there is one.
Result<> create_context_file(const std::filesystem::path& file, std::string_view model);

}  // namespace reprise::store::context
