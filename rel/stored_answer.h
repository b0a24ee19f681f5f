#pragma once

// The data that a run of the program stored.

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace reprise::rel {

struct StoredAnswer {
  std::string fault = {};
  std::size_t questions = 0;
  std::string answer = {};  // the texts of all answers, joined
  bool is_whole = true;
  bool holds_questions = true;  // including unanswered ones
};

// Reads the only session of a store; `url` is relative to `folder`.
StoredAnswer stored_answer_in(const std::filesystem::path& folder, std::string_view url);

}  // namespace reprise::rel
