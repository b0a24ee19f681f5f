#pragma once

// The flags of `ask` and `chat` that apply to one run.

#include "cli/process/arguments.h"

namespace reprise::cli {

struct RunFlags {
  std::optional<std::string> provider;
  std::optional<std::string> model;
  bool dev = false;
  std::optional<std::string> base_url;
  std::optional<std::string> system;
  std::optional<double> temperature;
  std::optional<std::int64_t> max_tokens;
  std::optional<std::int64_t> budget;
  std::optional<std::string> effort;
  std::optional<std::string> schema;  // a file
  std::vector<std::string> set;       // NAME=VALUE, options of requests
  std::optional<std::string> mode;
  std::optional<std::string> tools;  // "all", "none", or comma-separated names
  bool sends_nothing = false;        // make no requests, not even for models
  bool force = false;                // even if the session's signature failed
};

// Adds these options to a command's table.
void add_run_flags(ArgumentTable& table, RunFlags& flags);

}  // namespace reprise::cli
