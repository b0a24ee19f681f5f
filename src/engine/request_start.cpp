#include "engine/request_start.h"

#include "base/json_view.h"
#include "base/json_write.h"
#include "reprise/types.h"

namespace reprise {
namespace {

constexpr std::string_view kStart = "request_start";

}  // namespace

// Values of other programs are ignored.
std::optional<RequestStart> request_start(const Extra& session) {
  const RawJson* const field = json::find_field(session, kStart);
  if (field == nullptr) {
    return std::nullopt;
  }
  const auto [seq, question_at, provider, model] =
      JsonView(field->text()).members({"seq", "asked_at", "provider", "model"});
  const auto number = json::integer_in(seq.raw());
  const auto time = parse_time(question_at.text());
  if (!number || *number < 0 || !time) {
    return std::nullopt;
  }
  return RequestStart{.seq = Seq{*number},
                      .question_at = *time,
                      .provider = provider.text(),
                      .model = model.text()};
}

Extra with_request_start(Extra session, const RequestStart& start) {
  json::set_field(
      session, kStart,
      json::take(json::object_of("seq", start.seq.value, "asked_at", format_time(start.question_at),
                                 "provider", start.provider, "model", start.model)));
  return session;
}

}  // namespace reprise
