#pragma once

// Receives one response: a stream of events, one JSON object or a refusal, distinguished by its
// content and not by its headers.

#include "provider/codec.h"
#include "provider/sse.h"

namespace reprise::provider {

inline constexpr std::size_t kRefusalBytesMax = 64 << 10;

class Answer final : public http::Receiver {
 public:
  // `reader` writes to `out`; both must outlive this.
  Answer(ReplyReader& reader, ReplyWriter& out, std::int64_t bytes_max)
      : reader_(reader), out_(out), bytes_max_(bytes_max), events_(bytes_max) {}

  http::ReceiveAction head(const http::ResponseHead& head) override;
  http::ReceiveAction data(std::string_view bytes) override;

  // Call after the transport has succeeded. An error if the answer is incomplete. Messages are the
  // reader's, without the host.
  Result<> finish();

  const http::ResponseHead& response() const { return head_; }
  bool refused() const { return head_.status < 200 || head_.status > 299; }
  const std::string& body() const { return body_; }  // of a refusal
  // What the reader took for an error: an event's data, or the whole answer.
  const std::string& fault() const { return form_ == Form::json ? body_ : fault_; }

 private:
  enum class Form : std::uint8_t { unknown, events, json };

  http::ReceiveAction receive(std::string_view bytes);
  std::int64_t size() const { return out_.bytes() + reader_.bytes_buffered(); }
  Result<> check_empty_bytes(std::size_t bytes);
  Result<> receive_events(std::string_view bytes);
  Result<> receive_event(std::string_view name, std::string_view data);

  ReplyReader& reader_;
  ReplyWriter& out_;
  std::int64_t bytes_max_;
  std::int64_t empty_bytes_ = 0;  // since something was added to the answer
  std::int64_t largest_ = 0;      // its size then
  http::ResponseHead head_;
  Form form_ = Form::unknown;
  std::string body_;
  std::string fault_;
  SseParser events_;
  bool any_event_ = false;
  Result<> outcome_;
};

}  // namespace reprise::provider
