#pragma once

// Request bodies. Small ones are made completely; a long history is rendered while it is sent, so
// that memory holds one message.

#include "provider/body_changes.h"
#include "provider/codec.h"

namespace reprise::provider {

inline constexpr std::int64_t kBufferedBodyBytes = 1'000'000;

// The body without messages, as an object. `extra` is merged into it (null for none), then the
// changes are applied.
Result<std::string> body_head(const Codec& codec, const Request& request, const RawJson& extra,
                              const BodyChanges& changes = {});

// The names in the body of the options that were given for this turn.
std::set<std::string, std::less<>> given_parameters(const Codec& codec, const Request& request);

// The whole body. Starts at the first message.
Result<std::string> render_body(const Codec& codec, Request& request, const RawJson& extra = {},
                                const BodyChanges& changes = {});

// Reads the request's messages while it is read. All references must outlive it.
class StreamedBody final : public http::BodySource {
 public:
  StreamedBody(const Codec& codec, Request& request, const RawJson& extra,
               const BodyChanges& changes)
      : codec_(codec), request_(request), extra_(extra), changes_(changes) {}
  Result<std::size_t> read(std::span<char> into) override;
  Result<> rewind() override;
  // The next piece; "" at the end.
  Result<std::string> next_piece();

 private:
  enum class Next : std::uint8_t { begin, messages, nothing };
  Result<> fill_buffer();
  Result<> begin();
  Result<> add_next_message();
  void end();
  void record_calls(const Message& message);

  const Codec& codec_;
  Request& request_;
  const RawJson& extra_;
  const BodyChanges& changes_;
  Next next_ = Next::begin;
  std::string buffer_;
  std::size_t offset_ = 0;
  std::unique_ptr<json::ArrayWriter> items_;
  std::optional<Message> next_message_;  // to recognise the last one
  std::set<std::string> members_;        // of the body, before the messages
  std::set<std::string> called_;
  std::int64_t count_ = 0;  // of the messages so far
};

}  // namespace reprise::provider
