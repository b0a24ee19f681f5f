#pragma once

// What differs between protocols: writing requests and reading responses. Everything else (sending,
// retries, errors, server-sent events) is in http_provider.h.

#include <memory>  // IWYU pragma: export
#include <set>     // IWYU pragma: export

#include "base/http.h"                 // IWYU pragma: export
#include "base/json_write.h"           // IWYU pragma: export
#include "provider/reply_out.h"        // IWYU pragma: export
#include "provider/request_options.h"  // IWYU pragma: export
#include "reprise/provider.h"          // IWYU pragma: export

namespace reprise::provider {

// Two answers that a gateway joined are not one: nothing of it may be run.
inline std::unexpected<Error> second_answer() {
  return fail(Code::io, "another answer begins within this one");
}

// Reads one response and writes it to a ReplyWriter.
class ReplyReader {
 public:
  virtual ~ReplyReader() = default;
  // One server-sent event. Errors are the provider's, or report malformed data.
  virtual Result<> event(std::string_view name, std::string_view data) = 0;
  // The whole response as one valid JSON object.
  virtual Result<> whole(std::string_view json) = 0;
  // Whether the content is complete; the usage may still follow.
  virtual bool complete() const = 0;
  // Whether nothing relevant can follow.
  virtual bool done() const = 0;
  // What it has received and not yet written to the ReplyWriter, with an overhead per part.
  virtual std::int64_t bytes_buffered() const = 0;
  // Call after a complete response: emits the usage and the end. `request_id` is from the HTTP
  // headers, "" for none.
  virtual void finish(std::string_view request_id) = 0;
};

class Codec {
 public:
  virtual ~Codec() = default;
  virtual std::string_view name() const = 0;  // of its ProviderKind
  // The path after the base URL.
  virtual std::string_view path(std::string_view base_url) const = 0;
  // The path of the model list.
  virtual std::string_view models_path(std::string_view /*base_url*/) const { return "/models"; }
  virtual std::vector<http::Header> headers(std::string_view api_key) const = 0;
  virtual bool stores_responses() const { return false; }
  virtual bool needs_max_tokens() const { return false; }  // every request must have it
  virtual bool continues_responses() const { return stores_responses(); }

  // The representation of the request's options, see request_options.h.
  virtual std::span<const OptionEncoding> option_encodings() const = 0;

  // The body is one object: the members written by begin_body(), merged with the options and the
  // user's extra members, then the messages as an array, then end_fields().
  virtual void begin_body(std::string& out, const Request& request) const = 0;
  virtual std::string_view messages_field() const { return "messages"; }
  // More members as an object; those that the body already has are dropped. `called` names the
  // tools called in the messages, if the request offers no tools.
  virtual std::string end_fields(const std::set<std::string>& /*called*/) const { return "{}"; }
  // Writes the message as zero or more items. Its seq is its index in the request. A system prompt
  // that is a message is written by begin_messages().
  virtual void begin_messages(json::ArrayWriter& /*items*/, std::string& /*out*/,
                              const Request& /*request*/) const {}
  virtual void add_message(json::ArrayWriter& items, std::string& out, const Message& message,
                           const RequestForm& form) const = 0;
  // For the last message of the request.
  virtual void add_last_message(json::ArrayWriter& items, std::string& out, const Message& message,
                                const Request& request) const {
    add_message(items, out, message, request.form);
  }

  virtual std::unique_ptr<ReplyReader> reader(ReplyWriter& out) const = 0;
};

std::unique_ptr<Codec> make_openai_chat(std::string_view base_url);
std::unique_ptr<Codec> make_openai_responses(std::string_view base_url = {},
                                             std::optional<bool> store = std::nullopt);
std::unique_ptr<Codec> make_anthropic();

// `out` must outlive the reader.
std::unique_ptr<ReplyReader> make_anthropic_reader(ReplyWriter& out);
std::unique_ptr<ReplyReader> make_responses_reader(ReplyWriter& out);
std::unique_ptr<ReplyReader> make_chat_reader(ReplyWriter& out, std::string_view host);

// In chat/completions, reasoning is sent back in the field that it came in, which is the signature
// of a thinking block, with the server; reasoning_details, which have no plain text, and other
// members of a message are raw blocks.
std::string reasoning_signature(std::string_view field, std::string_view host);
inline constexpr std::string_view kReasoningContent = "reasoning_content";  // most servers
inline constexpr std::string_view kReasoning = "reasoning";                 // vLLM, OpenRouter
inline constexpr std::string_view kMessageMembersType = "message_members";
inline constexpr std::string_view kReasoningDetails = "reasoning_details";  // OpenRouter

}  // namespace reprise::provider
