#pragma once

// What differs between the protocols: how a request is written and how an answer is read. All else
// (sending, retries, errors, server-sent events) is http_provider.h.

#include <set>  // IWYU pragma: export

#include "base/http.h"                 // IWYU pragma: export
#include "base/json_write.h"           // IWYU pragma: export
#include "provider/reply_out.h"        // IWYU pragma: export
#include "provider/request_options.h"  // IWYU pragma: export
#include "reprise/provider.h"          // IWYU pragma: export

namespace reprise::provider {

// Reads one answer and hands it on.
class ReplyReader {
 public:
  virtual ~ReplyReader() = default;
  // One server-sent event. An Error is the provider's own, or garbage.
  virtual Result<> event(std::string_view name, std::string_view data) = 0;
  // The whole answer as one JSON object, which is valid.
  virtual Result<> whole(std::string_view json) = 0;
  // The answer's words are complete, though the usage may still come.
  virtual bool complete() const = 0;
  // Nothing that matters can follow.
  virtual bool done() const = 0;
  // After a complete answer: hands on the usage and the end. `request_id` is the one of the HTTP
  // answer's head, "" for none.
  virtual void finish(std::string_view request_id) = 0;
};

class Codec {
 public:
  virtual ~Codec() = default;
  virtual std::string_view name() const = 0;  // of its ProviderKind
  // After the base URL.
  virtual std::string path(std::string_view base_url, const Request& request) const = 0;
  // Where the list of the models is.
  virtual std::string_view models_path(std::string_view /*base_url*/) const { return "/models"; }
  virtual std::vector<http::Header> headers(std::string_view api_key) const = 0;
  virtual bool keeps_responses() const { return false; }
  virtual bool needs_max_tokens() const { return false; }  // in each request
  virtual bool continues_responses() const { return keeps_responses(); }
  virtual bool is_bound_to_model(const Block& /*block*/) const { return false; }
  // A refusal names something that requests can do without: true when they do so from now on.
  // Thread-safe.
  virtual bool do_without(int /*status*/, std::string_view /*body*/) const { return false; }

  // How the request's options are said, in request_options.h.
  virtual std::span<const Spelling> spellings() const = 0;

  // The body is one object: what begin_body() writes as an object, with the options and what a
  // person adds merged into it, then the messages as an array, then end_fields().
  virtual void begin_body(std::string& out, const Request& request) const = 0;
  virtual std::string_view messages_field() const { return "messages"; }
  // Another object, whose members are left out where the body has them. `called` names the tools
  // that the messages call, when the request offers none.
  virtual std::string end_fields(const std::set<std::string>& /*called*/) const { return "{}"; }
  // Adds what the message is in this protocol: none, one or several items. Its seq is its place in
  // the request. A system prompt that is a message is written by begin_messages.
  virtual void begin_messages(json::ArrayWriter& /*items*/, std::string& /*out*/,
                              const Request& /*request*/) const {}
  virtual void add_message(json::ArrayWriter& items, std::string& out,
                           const Message& message) const = 0;
  // The same for the last message of the request.
  virtual void add_last_message(json::ArrayWriter& items, std::string& out, const Message& message,
                                const Request& /*request*/) const {
    add_message(items, out, message);
  }

  virtual std::unique_ptr<ReplyReader> reader(ReplyOut& out) const = 0;
};

std::unique_ptr<Codec> make_openai_chat(std::string_view base_url);
std::unique_ptr<Codec> make_openai_responses(std::string_view base_url = {},
                                             std::optional<bool> store = std::nullopt);
std::unique_ptr<Codec> make_anthropic();

// `out` must outlive what reads into it. Items that go back to the server are marked with `host`;
// "" for none.
std::unique_ptr<ReplyReader> make_anthropic_reader(ReplyOut& out);
std::unique_ptr<ReplyReader> make_responses_reader(ReplyOut& out, std::string_view host);

}  // namespace reprise::provider
