#pragma once

// A format implements a Writer, which receives a session message by message, and names the parts of
// a session that it cannot hold. formats.h has the table of formats.

#include <initializer_list>
#include <memory>
#include <set>

#include "reprise/export.h"

namespace reprise::exporting {

using Losses = std::set<std::string, std::less<>>;

// A session being exported.
struct Job {
  Source& source;
  const Session& session;
  ExportOutput& output;
  Losses losses = {};
  std::vector<Damage> damage = {};
};

class Writer {
 public:
  virtual ~Writer() = default;
  // Called in this order: begin(), message() for each message, end(). An error of the output or the
  // source aborts the export.
  virtual Result<> begin() { return {}; }
  virtual Result<> message(const Message& message) = 0;
  virtual Result<> end() { return {}; }
};

enum class Part : std::uint8_t {
  title,
  system_prompt,
  settings,
  prompt_history,
  todos,
  artefacts,
  session_fields,  // unknown fields from other programs
  system_messages,
  incomplete_answers,  // that an answer is incomplete
  times,
  authors,
  models,
  usage,
  response_ids,
  injected,
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
