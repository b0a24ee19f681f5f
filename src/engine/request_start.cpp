#include "engine/request_start.h"

#include <algorithm>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "reprise/types.h"

namespace reprise {
namespace {

constexpr std::string_view kStart = "request_start";

}  // namespace

// What another program has put there is no reason to fail.
std::optional<RequestStart> request_start(const Extra& session) {
  const auto field = std::ranges::find(session, kStart, &ExtraField::name);
  if (field == session.end()) {
    return std::nullopt;
  }
  RequestStart start;
  std::optional<Time> asked_at;
  std::int64_t seq = -1;
  json::Scanner scanner(field->value.text());
  const auto member = [&](std::string_view name) {
    std::string text;
    if (name == "seq") {
      return scanner.integer(seq);
    }
    if (name == "asked_at" && scanner.string(text)) {
      asked_at = parse_time(text);
      return asked_at.has_value();
    }
    if (name == "provider") {
      return scanner.string(start.provider);
    }
    return name == "model" ? scanner.string(start.model) : scanner.skip();
  };
  if (scanner.kind() != json::Kind::object || !scanner.object(member) || seq < 0 || !asked_at) {
    return std::nullopt;
  }
  start.seq = Seq{seq};
  start.asked_at = *asked_at;
  return start;
}

Extra with_request_start(Extra session, const RequestStart& start) {
  std::string text;
  json::ObjectWriter(text)
      .field("seq", start.seq.value)
      .field("asked_at", format_time(start.asked_at))
      .field("provider", start.provider)
      .field("model", start.model)
      .close();
  const auto field = std::ranges::find(session, kStart, &ExtraField::name);
  if (field == session.end()) {
    session.push_back({std::string(kStart), json::take(text)});
  } else {
    field->value = json::take(text);
  }
  return session;
}

}  // namespace reprise
