#pragma once

// Completion: the scripts that shells read, and the candidates that they ask the program for.

#include <string>
#include <string_view>
#include <vector>

namespace reprise::cli {

// Each calls `reprise __complete` for every word.
std::string_view bash_completions();
std::string_view zsh_completions();
std::string_view fish_completions();

struct Candidate {
  std::string text;  // the whole word
  std::string help = {};
};

// What may stand for the last word; empty words count.
struct Completion {
  enum class Rest : unsigned char { nothing, files, folders };
  std::vector<Candidate> candidates = {};
  Rest rest = Rest::nothing;  // what the shell adds itself
};

}  // namespace reprise::cli
