#pragma once

// A request's body. Small ones are made whole; a long history is rendered message by message while
// it is sent, so that memory holds one message of it.

#include "provider/body_changes.h"
#include "provider/codec.h"

namespace reprise::provider {

inline constexpr std::int64_t kWholeBodyBytes = 1'000'000;

// All but the messages, as an object. `extra` is merged into it, null for nothing; then come the
// changes.
Result<std::string> body_head(const Codec& codec, const Request& request, const RawJson& extra,
                              const BodyChanges& changes = {});

// The whole body. Starts at the first message.
Result<std::string> render_body(const Codec& codec, Request& request, const RawJson& extra = {},
                                const BodyChanges& changes = {});

// Reads the request's messages as it is read. All must outlive it.
class StreamedBody final : public http::BodySource {
 public:
  StreamedBody(const Codec& codec, Request& request, const RawJson& extra,
               const BodyChanges& changes)
      : codec_(codec), request_(request), extra_(extra), changes_(changes) {}
  Result<std::size_t> read(std::span<char> into) override;
  Result<> rewind() override;
  // Some more of it; "" at the end.
  Result<std::string> next_piece();

 private:
  enum class Next : std::uint8_t { begin, messages, nothing };
  Result<> make_more();
  Result<> begin();
  Result<> add_next_message();
  void end();
  void note_calls(const Message& message);

  const Codec& codec_;
  Request& request_;
  const RawJson& extra_;
  const BodyChanges& changes_;
  Next next_ = Next::begin;
  std::string made_;
  std::size_t taken_ = 0;
  std::unique_ptr<json::ArrayWriter> items_;
  std::optional<Message> held_;    // the next message: the last one is told apart
  std::set<std::string> members_;  // of the body, before the messages
  std::set<std::string> called_;
  std::int64_t count_ = 0;  // of the messages so far
};

}  // namespace reprise::provider
