#pragma once

// Recorded responses of the test server.

#include <functional>
#include <string>
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

}  // namespace reprise::rel
