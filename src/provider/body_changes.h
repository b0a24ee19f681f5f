#pragma once

// Learns from refusals which parts of a request a model rejects, so that the request is retried
// without them, and later requests omit them.

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::provider {

struct BodyChanges {
  std::set<std::string, std::less<>> left_out = {};  // "temperature", "reasoning.summary"
  bool is_limit_renamed = false;                     // between max_tokens and max_completion_tokens
  std::optional<std::int64_t> max_tokens = std::nullopt;  // replaces the default limit
  friend bool operator==(const BodyChanges&, const BodyChanges&) = default;
};

// `head` is the body without the messages, as an object.
std::string changed_head(std::string_view head, const BodyChanges& changes);

// A rejected body.
struct RejectedBody {
  std::string_view head;
  int status;
  std::string_view answer;
  bool is_default_limit =
      false;  // the default max_tokens, not the user's; the protocol requires one
  std::set<std::string, std::less<>> given = {};  // parameters that may not be left out
};

// The changes to make in addition to `changes`, which the head already has; nullopt if the refusal
// names nothing that can be removed. `left_out` is for the user, "" for nothing.
struct RequestAdjustment {
  BodyChanges changes;
  std::string left_out;
};
std::optional<RequestAdjustment> adjust(const BodyChanges& changes, const RejectedBody& rejected);

// Whether the refusal blames a parameter that was given for this turn: no other form helps.
bool blames_given(const RejectedBody& rejected);

// All parameters of the head that can be left out: neither given nor what is asked. Nested ones
// ("reasoning.effort") where a part of the parameter must stay.
std::set<std::string, std::less<>> droppable_parameters(
    std::string_view head, const std::set<std::string, std::less<>>& given);

// The parameters in an object, nested ones first: "reasoning.effort", "reasoning".
std::vector<std::string> parameters_of(std::string_view head);

}  // namespace reprise::provider
