#pragma once

// Masks the secrets of a request (the key, and those in headers, in the URL and in extra members)
// that a server echoes, before anything is stored or displayed, even if they are split between
// pieces or escaped. Errors and headers have none of them; a model's words are changed only where
// they are a key beyond doubt.

#include "reprise/provider.h"

namespace reprise::provider {

// Shorter keys are words that local servers accept ("none", "ollama"), and may occur in answers.
inline constexpr std::size_t kKeyBytesMin = 7;

// Replaces each `key` in `text` by "***"; an empty key never occurs.
std::string masked(std::string text, std::string_view key);

using Secrets = std::vector<std::string>;
// JSON may be a part of a document; secrets in its strings are found in any spelling.
enum class TextForm : std::uint8_t { plain, json };
// For secrets of at least kKeyBytesMin.
std::string masked(std::string_view text, const Secrets& secrets, TextForm form = TextForm::plain);

// Whether a text that equals it cannot be anything else: it begins like the keys of a well-known
// service or is long and random, and is no placeholder ("not-needed").
bool is_telling(std::string_view secret);

// All secrets in the options, of any length.
Secrets secrets_of(const ProviderOptions& options);

// Names of custom headers whose values are not masked.
bool header_holds_no_secret(std::string_view name);
// The secrets of the other headers: their values, without the scheme ("Bearer ") of an
// authorization.
Secrets secrets_in(const std::vector<std::pair<std::string, std::string>>& headers);
// The secrets of extra members: strings below a secret name, and "Bearer …" anywhere.
Secrets secrets_in(const RawJson& extra);
// The extra members with "***" instead of them.
RawJson masked_extra(const RawJson& extra);

// Masks secrets, which must not be empty, in a text that arrives in pieces. A possible start of a
// secret is held back until the next piece.
class SecretMask {
 public:
  explicit SecretMask(Secrets secrets, TextForm form = TextForm::plain)
      : secrets_(std::move(secrets)), form_(form) {}
  std::string feed(std::string_view piece);
  std::string finish();  // the held-back text, which is not a secret
  bool has_masked() const { return has_masked_; }

 private:
  Secrets secrets_;
  TextForm form_;
  std::string pending_;
  bool has_masked_ = false;
};

// A sink decorator that masks the telling ones among the secrets in all text of the server, and
// reports it at the end.
class MaskedSink {
 public:
  // `sink` must outlive this.
  MaskedSink(const StreamSink& sink, Secrets secrets);

  void operator()(const StreamEvent& event);
  // Emits the text that was held back.
  void finish();
  // Call after the last event.
  void end();

 private:
  enum class Kind : std::uint8_t { none, text, thinking, signature, input };

  void feed(Kind kind, std::string_view piece);
  void emit(std::string_view text);
  bool masks() const { return !secrets_.empty(); }
  std::string mask(std::string_view text, TextForm form = TextForm::plain);

  void add(const TextDelta& event) { feed(Kind::text, event.text); }
  void add(const ThinkingDelta& event) { feed(Kind::thinking, event.text); }
  void add(const ThinkingSignature& event) { feed(Kind::signature, event.signature); }
  void add(const ToolInputDelta& event) { feed(Kind::input, event.json); }
  void add(const ToolUseBegin& event);
  void add(const RawBlock& event);
  void add(const BlockMembers& event);
  void add(const ReplyStarted& event);
  void add(const UsageReport& event);
  void add(const ReplyEnded& event);
  void add(const Retrying& event) { sink_(event); }
  void add(const ParameterLeftOut& event) { sink_(event); }
  void add(const KeyMasked& event) { sink_(event); }

  const StreamSink& sink_;
  Secrets secrets_;  // the telling ones
  SecretMask texts_;
  SecretMask inputs_;
  Kind kind_ = Kind::none;
  bool has_masked_ = false;
};

}  // namespace reprise::provider
