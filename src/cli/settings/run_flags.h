#pragma once

// The flags of `ask` and `chat` that hold for one run.

#include "cli/program/arguments.h"

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
  std::optional<std::string> tools;  // "all", "none", or names with commas
  bool sends_nothing = false;        // no server is asked for its models, either
  bool force = false;                // a session whose signature failed, too
};

// Adds their options to a command's table.
void add_run_flags(ArgumentTable& table, RunFlags& flags);

}  // namespace reprise::cli
