#include "provider/answer.h"

#include <algorithm>
#include <cerrno>

#include "base/http.h"
#include "base/json_view.h"
#include "base/text.h"
#include "provider/refusal.h"
#include "reprise/provider.h"

namespace reprise::provider {

using http::ReceiveAction;

ReceiveAction Answer::head(const http::ResponseHead& head) {
  head_ = head;
  return ReceiveAction::more;
}

ReceiveAction Answer::data(std::string_view bytes) {
  if (refused()) {
    body_ += bytes.substr(0, kRefusalBytesMax - body_.size());
    return body_.size() < kRefusalBytesMax ? ReceiveAction::more : ReceiveAction::nothing;
  }
  if (form_ == Form::unknown) {
    body_ += bytes;  // leading blanks may keep a slow connection open
    const std::string_view body = trimmed(body_);
    if (body.empty()) {
      body_.clear();
      outcome_ = check_empty_bytes(bytes.size());
      return outcome_ ? ReceiveAction::more : ReceiveAction::nothing;
    }
    form_ = body.front() == '{' ? Form::json : Form::events;
    const std::string first = std::exchange(body_, {});
    return receive(first);
  }
  return receive(bytes);
}

ReceiveAction Answer::receive(std::string_view bytes) {
  if (form_ == Form::json) {
    body_ += bytes;
    if (static_cast<std::int64_t>(body_.size()) > bytes_max_) {
      outcome_ = answer_too_large(bytes_max_);
    }
  } else {
    outcome_ = receive_events(bytes);
    if (outcome_) {
      outcome_ = check_empty_bytes(bytes.size());
    }
    out_.flush();  // deliver what arrived together at once, without waiting for more
  }
  if (!outcome_) {
    return ReceiveAction::nothing;
  }
  return reader_.done() ? ReceiveAction::end : ReceiveAction::more;
}

Result<> Answer::receive_events(std::string_view bytes) {
  return events_.feed(bytes, [this](std::string_view name, std::string_view data) {
    any_event_ = true;
    return reader_.done() ? Result<>() : receive_event(name, data);
  });
}

Result<> Answer::receive_event(std::string_view name, std::string_view data) {
  if (auto read = reader_.event(name, data); !read) {
    fault_ = data;
    return read;
  }
  if (size() > bytes_max_) {
    return answer_too_large(bytes_max_);
  }
  return out_.calls() > kAnswerCallsMax ? too_many_calls() : Result<>();
}

// Comments, blanks and empty events are allowed, but not without limit.
Result<> Answer::check_empty_bytes(std::size_t bytes) {
  const std::int64_t now = size();
  empty_bytes_ = now > largest_ ? 0 : empty_bytes_ + static_cast<std::int64_t>(bytes);
  largest_ = std::max(largest_, now);
  return empty_bytes_ > bytes_max_ ? answer_too_large(bytes_max_) : Result<>();
}

Result<> Answer::finish() {
  REPRISE_TRY(outcome_);
  if (form_ == Form::json) {
    if (!is_json_object(body_)) {
      return ended_early();
    }
    REPRISE_TRY(reader_.whole(body_));
  } else if (!reader_.complete()) {
    REPRISE_TRY(events_.finish([this](std::string_view name, std::string_view data) {
      any_event_ = true;
      return receive_event(name, data);
    }));
  }
  if (reader_.complete()) {
    return {};
  }
  if (form_ == Form::unknown) {
    return fail(Code::io, "it is empty; try again later, or check the base URL", ECONNRESET);
  }
  const std::string_view type = http::find_header(head_.headers, "content-type");
  if (!any_event_ && form_ == Form::events) {
    return fail(Code::io,
                cat("this is not a model's answer (", type.empty() ? "no type" : type,
                    "); check the base URL"),
                EPROTO);
  }
  return ended_early();
}

}  // namespace reprise::provider
