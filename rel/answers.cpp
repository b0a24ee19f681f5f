#include "answers.h"

#include <array>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <vector>

#include "base/text.h"
#include "fake_provider/fake_provider.h"
#include "fake_provider/raw_client.h"
#include "program.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"

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

StoredAnswer stored_answer_in(const std::filesystem::path& folder, std::string_view url) {
  StoredAnswer out;
  const auto colon = url.find(':') + 1;
  const auto store = open_store(cat(url.substr(0, colon), (folder / url.substr(colon)).native()),
                                {.access = Access::read});
  const auto page =
      store ? (*store)->list({}) : Result<SessionPage>(std::unexpected(store.error()));
  if (!page && page.error().code == Code::not_found) {
    return {.holds_questions = false};  // a context file starts with the first answer
  }
  if (!page) {
    return {.fault = page.error().message};
  }
  if (page->sessions.size() != 1 || !page->damage.empty()) {
    return {.fault = cat("shows ", page->sessions.size(), " sessions")};
  }
  out.holds_questions = (*store)->capabilities().open_questions;
  const auto read = (*store)->read(page->sessions[0].id, {}, [&](const Message& message) {
    out.questions += message.role == role::kUser && !plain_text(message).empty() ? 1U : 0U;
    out.is_whole = message.role == role::kAssistant && message.state == MessageState::complete;
    if (message.role == role::kAssistant) {
      out.answer += plain_text(message);
    }
    return Flow::proceed;
  });
  if (!read || read->damaged > 0) {
    return {.fault = read ? "shows damage" : read.error().message};
  }
  const std::optional<Partial> running =
      (*store)->capabilities().partials->find_partial(page->sessions[0].id).value_or(std::nullopt);
  if (running) {
    Message answer;
    answer.blocks = running->blocks;
    out.answer += plain_text(answer);
    out.is_whole = false;
  }
  return out;
}

}  // namespace reprise::rel
