#pragma once

// What a request holds of secrets (the key, and the values of headers) and a server repeats is
// masked before anything of the answer is stored or shown, also when it comes in pieces.

#include "reprise/provider.h"

namespace reprise::provider {

// Shorter ones are words that local servers take for a key ("none", "ollama"): an answer may well
// contain them.
inline constexpr std::size_t kKeyBytesMin = 7;

// `text` with "***" for each `key`; an empty key is nowhere in it.
std::string masked(std::string text, std::string_view key);

using Secrets = std::vector<std::string>;
// Those of at least kKeyBytesMin.
std::string masked(std::string_view text, const Secrets& secrets);

// Of headers that a person adds, these are shown as they are.
bool header_holds_no_secret(std::string_view name);
// What is secret in the others: their values, without the scheme ("Bearer ") of an authorization.
Secrets secrets_in(const std::vector<std::pair<std::string, std::string>>& headers);

// Masks secrets, none of them empty, in one text that comes in pieces. What may be the beginning of
// one waits for the next piece.
class KeyMask {
 public:
  explicit KeyMask(Secrets secrets) : secrets_(std::move(secrets)) {}
  std::string take(std::string_view piece);
  std::string rest();  // what waits, which turned out to be no beginning

 private:
  Secrets secrets_;
  std::string waiting_;
};

// A sink before another one. Of each event that has words of the server in it, the secrets are
// masked.
class MaskedSink {
 public:
  // `sink` must outlive it.
  MaskedSink(const StreamSink& sink, Secrets secrets);

  void operator()(const StreamEvent& event);
  // After the last event.
  void finish();

 private:
  enum class Kind : std::uint8_t { none, text, thinking, signature, input };

  void take(Kind kind, std::string_view piece);
  void hand_on(std::string_view text);
  bool masks() const { return !secrets_.empty(); }
  std::string whole(std::string_view text) const { return masked(text, secrets_); }

  void add(const TextDelta& one) { take(Kind::text, one.text); }
  void add(const ThinkingDelta& one) { take(Kind::thinking, one.text); }
  void add(const ThinkingSignature& one) { take(Kind::signature, one.signature); }
  void add(const ToolInputDelta& one) { take(Kind::input, one.json); }
  void add(const ToolUseBegin& one);
  void add(const RawBlock& one);
  void add(const ReplyStarted& one);
  void add(const UsageReport& one);
  void add(const ReplyEnded& one) { sink_(one); }
  void add(const Retrying& one) { sink_(one); }
  void add(const ParameterLeftOut& one) { sink_(one); }

  const StreamSink& sink_;
  Secrets secrets_;       // those that are long enough
  Secrets json_secrets_;  // as they stand in a JSON string
  KeyMask texts_;
  KeyMask inputs_;
  Kind kind_ = Kind::none;
};

}  // namespace reprise::provider
