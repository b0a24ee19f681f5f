#pragma once

// Completion: the scripts for the shells, and the candidates that the scripts request.

#include <string>
#include <string_view>
#include <vector>

namespace reprise::cli {

// These scripts run `reprise __complete` for each word.
std::string_view bash_completions();
std::string_view zsh_completions();
std::string_view fish_completions();

struct Candidate {
  std::string text;  // the whole word
  std::string help = {};
};

// The candidates for the last word, which may be empty.
struct Completion {
  enum class Rest : unsigned char { nothing, files, folders };
  std::vector<Candidate> candidates = {};
  Rest rest = Rest::nothing;  // what the shell adds itself
};

}  // namespace reprise::cli
