#pragma once

// The answers of the test server, and what a run of the program stored of them.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fake_provider/fake_provider.h"
#include "program.h"

namespace reprise::rel {

struct Question {
  std::string model;
  std::string text;
};

struct Recorded {
  Question question;
  std::string bytes;  // the whole response, including its head
};

// Records a response of each sort. `ask` returns how to run the program with the question.
std::vector<Recorded> record_answers(fake::FakeProvider& server,
                                     const std::function<Start(const Question&)>& ask);

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
