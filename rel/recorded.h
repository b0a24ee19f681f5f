#pragma once

// Answers of the test server, byte by byte.

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
  std::string bytes;  // the whole response, its head included
};

// One of each sort. `ask` is the run of the program that puts the question to the server.
std::vector<Recorded> record_answers(fake::FakeProvider& server,
                                     const std::function<Start(const Question&)>& ask);

}  // namespace reprise::rel
