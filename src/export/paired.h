#pragma once

// For formats that store each call with its result, or require one: a message with calls, and those
// of others after it, are held back until all its results or another answer arrive.

#include <functional>
#include <map>
#include <variant>  // IWYU pragma: export

#include "export/tool_values.h"  // IWYU pragma: export
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
  // Writes a message that is not an answer; its results are removed.
  virtual Result<> other(const Message& message) = 0;
  // Writes an answer with the available results of its calls.
  virtual Result<> answer(const Message& message, const CallResults& results) = 0;

  Job& job() { return job_; }
  // Escapes U+0085, U+2028 and U+2029, which some readers treat as line ends.
  Result<> write(std::string_view json) { return job_.output.write(on_one_line(json)); }
  // The text to write as this call's result: the whole result, or a note that it is missing.
  struct Outcome {
    std::string text;
    bool is_error = false;
    Time at;
  };
  Result<Outcome> outcome(const CallResults& results, const ToolUseBlock& call, Time question_at);
  // Calls `write` for each call of an answer, in order, with its outcome.
  using OutcomeSink = std::function<Result<>(const ToolUseBlock& call, const Outcome& result)>;
  Result<> each_outcome(const Message& answer, const CallResults& results,
                        const OutcomeSink& write);

 private:
  Result<> flush();
  void take_results(const Message& message);
  bool has_all_results() const;

  Job& job_;
  std::optional<Message> pending_;
  CallResults results_;
  std::vector<Message> following_;  // not answers
};

}  // namespace reprise::exporting
