#include "recorded.h"

#include <array>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <vector>

#include "base/text.h"
#include "fake_provider/fake_provider.h"
#include "fake_provider/raw_client.h"
#include "program.h"

namespace reprise::rel {
namespace {

// The questions for each sort of answer of the test server.
const std::array<Question, 7> kQuestions = {{
    {"fake", "hello"},
    {"fake", "think about leagues"},
    {"fake", "long:24"},
    {"fake:crlf,comments", "lines that end in two bytes"},
    {"fake", "preface call:list_dir {}"},
    {"fake:overloaded=5", "an error on the way"},
    {"fake:until_close", "without chunks"},
}};

// Asks with the program, and then repeats the same request to record the bytes of the response.
Recorded record(fake::FakeProvider& server, const Question& question, const Start& start) {
  const auto before = static_cast<std::size_t>(server.request_count());
  run_program(start);
  const auto requests = server.requests();
  if (requests.size() <= before) {
    throw std::runtime_error(cat("no request for ", question.text));
  }
  const fake::SeenRequest& request = requests.at(before);
  const fake::RawReply reply = fake::ask(
      server.port(),
      fake::post(request.path, request.body, "x-api-key: k\r\nanthropic-version: 2023-06-01\r\n"));
  if (reply.status != 200) {
    throw std::runtime_error(reply.bytes);
  }
  return {question, reply.bytes};
}

}  // namespace

std::vector<Recorded> record_answers(fake::FakeProvider& server,
                                     const std::function<Start(const Question&)>& ask) {
  std::vector<Recorded> out;
  out.reserve(kQuestions.size());
  for (const Question& question : kQuestions) {
    out.push_back(record(server, question, ask(question)));
  }
  return out;
}

}  // namespace reprise::rel
