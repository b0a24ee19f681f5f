#pragma once

// For formats in which each call of a tool stands with its result, or must have one: a message with
// calls is held back until its results have come, or others follow.

#include <map>

#include "export/tool_facts.h"  // IWYU pragma: export
#include "export/writer.h"

namespace reprise::exporting {

struct CallResult {
  ToolResultBlock block;
  Time at;
};
using CallResults = std::map<std::string, CallResult, std::less<>>;

class PairedWriter : public Writer {
 public:
  explicit PairedWriter(Job& job) : job_(job) {}

  Result<> message(const Message& message) final;
  Result<> end() override { return flush(); }

 protected:
  // A question or anything else that is no answer, without results.
  virtual Result<> other(const Message& message) = 0;
  // An answer, and the results of its calls as far as there are any.
  virtual Result<> answer(const Message& message, const CallResults& results) = 0;

  Job& job() { return job_; }
  // JSON, of which no reader makes two lines: U+0085, U+2028 and U+2029 are escaped.
  Result<> write(std::string_view json) { return job_.output.write(on_one_line(json)); }
  // What goes for the result of this call: its text, whole, or that there is none.
  struct Outcome {
    std::string text;
    bool is_error = false;
    Time at;
  };
  Result<Outcome> outcome(const CallResults& results, const ToolUseBlock& call, Time question_at);

 private:
  Result<> flush();
  void take_results(const Message& message);

  Job& job_;
  std::optional<Message> pending_;
  CallResults results_;
};

}  // namespace reprise::exporting
