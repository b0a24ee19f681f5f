#pragma once

// The parts of a session that a format cannot hold.

#include <initializer_list>

#include "export/writer.h"

namespace reprise::exporting {

enum class Part : std::uint8_t {
  title,
  system_prompt,
  settings,
  prompt_history,
  todos,
  artefacts,
  session_fields,  // unknown fields from other programs
  system_messages,
  cut_answers,  // that an answer is incomplete
  times,
  authors,
  models,
  usage,
  response_ids,
  message_fields,
  thinking,
  signatures,
  tools,
  images,
  documents,
  other_blocks,
};

class Parts {
 public:
  constexpr Parts() = default;
  constexpr Parts(std::initializer_list<Part> parts) {
    for (const Part part : parts) {
      bits_ |= bit(part);
    }
  }
  constexpr Parts with(Parts others) const {
    others.bits_ |= bits_;
    return others;
  }
  constexpr bool has(Part part) const { return (bits_ & bit(part)) != 0; }

 private:
  static constexpr std::uint32_t bit(Part part) {
    return std::uint32_t{1} << static_cast<std::uint32_t>(part);
  }
  std::uint32_t bits_ = 0;
};

// Adds a loss for each of `parts` that the session or the message has.
Result<> add_losses(Job& job, Parts parts);
void add_losses(Job& job, const Message& message, Parts parts);

}  // namespace reprise::exporting
