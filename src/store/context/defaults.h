#pragma once

// The settings of a context file for requests made in its project.

#include <filesystem>
#include <optional>
#include <vector>

#include "reprise/error.h"

namespace reprise::store::context {

// The prompt of new files.
inline constexpr std::string_view kDefaultPrompt = "You are a helpful assistant.";

struct Defaults {
  std::string provider;  // see provider_name()
  std::string base_url;  // "" for the provider's own
  // What is sent to the model, if the file sets it.
  std::optional<std::string> model;
  std::optional<std::string> system;
  std::optional<double> temperature;
  std::optional<std::int64_t> max_tokens;
  bool stream = true;
  std::string save_path;  // "" for none
  std::string env_key;    // "" for the provider's default
  // The settings that could not be read and have their defaults, one line each. If `is_damaged`,
  // the first line is about the whole file.
  std::vector<std::string> faults;
  bool is_damaged = false;
};

// All defaults if the file does not exist.
Result<Defaults> read_defaults(const std::filesystem::path& file);

// Creates a file (mode 0600) with the defaults, a system prompt, this model and no conversation.
// conflict if it exists.
Result<> create_context_file(const std::filesystem::path& file, std::string_view model);

}  // namespace reprise::store::context
