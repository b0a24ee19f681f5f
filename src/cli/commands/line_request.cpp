#include "cli/commands/line_request.h"

#include <algorithm>

#include "base/json_scan.h"
#include "base/text.h"
#include "base/utf8.h"

namespace reprise::cli {
namespace {

std::unexpected<Error> refuse_member(std::string_view name, std::string_view expected) {
  return fail(Code::invalid_argument, cat("'", name, "' must be ", expected));
}

}  // namespace

Result<LineRequest> LineRequest::parse(std::string_view line) {
  if (!utf8::is_valid(line)) {
    return fail(Code::invalid_argument, "the request is not valid UTF-8");
  }
  json::Scanner scanner(line);
  const bool is_object = scanner.kind() == json::Kind::object;
  LineRequest request;
  const auto add = [&](std::string_view name) {
    Member member{.name = std::string(name), .raw = {}};
    const bool is_read = scanner.raw(member.raw);
    request.members_.push_back(std::move(member));
    return is_read;
  };
  const bool is_read = is_object ? scanner.object(add) : scanner.skip();
  if (!is_read || !scanner.end()) {
    return fail(Code::invalid_argument, scanner.fault().message);
  }
  return is_object ? Result<LineRequest>(std::move(request))
                   : fail(Code::invalid_argument, "a request must be an object");
}

Result<> LineRequest::check_members(std::span<const std::string_view> known) const {
  for (const Member& member : members_) {
    if (std::ranges::find(known, member.name) == known.end()) {
      const std::string_view near = nearest(member.name, known);
      return fail(Code::invalid_argument,
                  cat("this request has no '", member.name, "'",
                      near.empty() ? "" : cat("; did you mean '", near, "'?")));
    }
  }
  for (const std::string_view name : known) {
    if (std::ranges::count(members_, name, &Member::name) > 1) {
      return fail(Code::invalid_argument, cat("'", name, "' stands twice"));
    }
  }
  return {};
}

std::string_view LineRequest::raw(std::string_view name) const {
  const auto found = std::ranges::find(members_, name, &Member::name);
  return found == members_.end() ? std::string_view() : found->raw;
}

Result<std::optional<std::string>> LineRequest::find_text(std::string_view name) const {
  const std::string_view value = raw(name);
  if (value.empty()) {
    return std::nullopt;
  }
  json::Scanner scanner(value);
  std::string text;
  if (scanner.kind() != json::Kind::string || !scanner.string(text)) {
    return refuse_member(name, "a string");
  }
  if (scanner.lossy()) {
    return refuse_member(name, "without halves of surrogate pairs");
  }
  return std::optional(std::move(text));
}

Result<std::string> LineRequest::text(std::string_view name) const {
  REPRISE_ASSIGN(std::optional<std::string> text, find_text(name));
  if (!text) {
    return fail(Code::invalid_argument, cat("this request needs '", name, "'"));
  }
  return *std::move(text);
}

Result<std::optional<std::int64_t>> LineRequest::find_number(std::string_view name,
                                                             std::int64_t min) const {
  const std::string_view value = raw(name);
  if (value.empty()) {
    return std::nullopt;
  }
  const std::optional<std::int64_t> number = json::integer_in(value);
  if (!number || *number < min) {
    return refuse_member(name, cat("a whole number from ", min, " on"));
  }
  return number;
}

Result<bool> LineRequest::flag(std::string_view name) const {
  const std::string_view value = raw(name);
  if (!value.empty() && value != "true" && value != "false") {
    return refuse_member(name, "true or false");
  }
  return value == "true";
}

}  // namespace reprise::cli
