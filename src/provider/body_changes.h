#pragma once

// What a model refuses in a request and can do without: learned from its refusals, so that the
// same request is tried again without it, and the requests that follow are right at once.

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace reprise::provider {

struct BodyChanges {
  std::set<std::string, std::less<>> left_out = {};  // "temperature", "reasoning.summary"
  bool is_limit_renamed = false;                     // between max_tokens and max_completion_tokens
  std::optional<std::int64_t> max_tokens = std::nullopt;  // instead of ours
  friend bool operator==(const BodyChanges&, const BodyChanges&) = default;
};

// `head` is all of a body but its messages, as an object.
std::string changed_head(std::string_view head, const BodyChanges& changes);

// The body that was refused.
struct Refused {
  std::string_view head;
  int status;
  std::string_view answer;
  bool is_limit_ours = false;  // nobody has asked for this max_tokens, and the protocol needs one
};

// What to change, beside `changes`, which the head has had already; nullopt when the refusal names
// nothing that can be left out. `left_out` is what a person should hear of, "" for nothing.
struct Lesson {
  BodyChanges changes;
  std::string left_out;
};
std::optional<Lesson> learn(const BodyChanges& changes, const Refused& refused);

}  // namespace reprise::provider
