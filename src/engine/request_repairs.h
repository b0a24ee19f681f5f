#pragma once

// Counts the repairs of a request view, which are reported once per request.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace reprise {

enum class RequestRepair : std::uint8_t {
  system_message,  // the prompt is sent separately
  unknown_role,
  foreign_thinking,
  foreign_block,
  unfinished_call,  // of an interrupted answer
  sealed_call,      // got an error result
  repeated_call,    // the same id twice in one answer
  orphan_result,    // without its call, or a duplicate
  renamed_call,     // an id or a name that providers reject
  wrapped_input,    // not a JSON object
  unusable_image,
  unreadable_blob,
  first_answer,  // an answer without a preceding question
  damaged_message,
  refused_question,  // asked again, or abandoned
};
inline constexpr std::size_t kRequestRepairKinds = 15;

class RequestRepairs {
 public:
  void count(RequestRepair kind, std::int64_t times = 1) {
    counts_.at(static_cast<std::size_t>(kind)) += times;
  }
  std::int64_t of(RequestRepair kind) const { return counts_.at(static_cast<std::size_t>(kind)); }
  // One line for each kind that occurred: "2 tool calls without a result: sealed with an error".
  std::vector<std::string> lines() const;

 private:
  std::array<std::int64_t, kRequestRepairKinds> counts_{};
};

}  // namespace reprise
