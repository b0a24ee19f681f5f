#pragma once

// What a request view left out or mended, counted, and said once per request.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace reprise {

enum class RequestRepair : std::uint8_t {
  system_message,  // the prompt stands apart
  unknown_role,
  foreign_thinking,
  foreign_block,
  unfinished_call,  // of an answer that was cut
  sealed_call,      // got an error result
  repeated_call,    // the same id twice in one answer
  orphan_result,    // without its call, or a second one
  renamed_call,     // an id or a name that providers refuse
  wrapped_input,    // no JSON object
  unusable_image,
  unreadable_blob,
  first_answer,  // an answer without a question before it
  damaged_message,
  refused_question,  // asked again since, or given up
};
inline constexpr std::size_t kRequestRepairKinds = 15;

class RequestRepairs {
 public:
  void count(RequestRepair kind, std::int64_t times = 1) {
    counts_.at(static_cast<std::size_t>(kind)) += times;
  }
  std::int64_t of(RequestRepair kind) const { return counts_.at(static_cast<std::size_t>(kind)); }
  // One line for each kind that happened: "2 tool calls without a result: sealed with an error".
  std::vector<std::string> lines() const;

 private:
  std::array<std::int64_t, kRequestRepairKinds> counts_{};
};

}  // namespace reprise
