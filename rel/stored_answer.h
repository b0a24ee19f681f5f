#pragma once

// What a run of the program has left in its store.

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace reprise::rel {

struct StoredAnswer {
  std::string fault = {};
  std::size_t questions = 0;
  std::string answer = {};  // the texts of all answers, one after the other
  bool is_whole = true;
  bool holds_questions = true;  // also those that got no answer
};

// What is in the one session of a store; `url` names its place in `folder`.
StoredAnswer stored_answer_in(const std::filesystem::path& folder, std::string_view url);

}  // namespace reprise::rel
