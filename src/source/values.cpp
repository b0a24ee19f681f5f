#include "source/values.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/hash.h"
#include "base/text.h"
#include "base/utf8.h"
#include "source/branches.h"
#include "source/transcript.h"

namespace reprise::source {
namespace {

// Below these a number is of seconds, milliseconds, microseconds. Each is a time after 5000 in one
// unit and before 1974 in the next.
constexpr double kSecondsMax = 1e11;
constexpr double kMillisecondsMax = 1e14;
constexpr double kMicrosecondsMax = 1e17;
constexpr double kNanosecondsMax = 9e18;
constexpr double kMicroseconds = 1e6;

constexpr std::size_t kIdBytesMax = 200;
constexpr std::size_t kHashDigits = 8;

}  // namespace

std::optional<Time> sniffed_time(double number) {
  if (!(number > 0) || number > kNanosecondsMax) {  // NaN, too
    return std::nullopt;
  }
  double microseconds = number;
  if (number < kSecondsMax) {
    microseconds = number * kMicroseconds;
  } else if (number < kMillisecondsMax) {
    microseconds = number * 1e3;
  } else if (number >= kMicrosecondsMax) {
    microseconds = number / 1e3;
  }
  return Time(std::chrono::microseconds(std::llround(microseconds)));
}

std::optional<Time> sniffed_time(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) {
    return sniffed_time(number);
  }
  return parse_time(text);
}

std::optional<Time> sniffed_time(JsonView value) {
  return value.is(json::Kind::string) ? sniffed_time(std::string_view(value.text()))
                                      : sniffed_time(trimmed(value.raw()));
}

SessionId session_id_of(std::string_view foreign) {
  if (auto id = SessionId::parse(foreign)) {
    return *std::move(id);
  }
  std::string safe = "x";
  for (const char c : foreign.substr(0, kIdBytesMax - kHashDigits - 2)) {
    const bool is_good = is_ascii_alnum(c) || std::string_view("._:@+-").contains(c);
    safe += is_good ? c : '-';
  }
  auto id = SessionId::parse(cat(safe, '-', hex_of(fnv1a(foreign))));
  return *std::move(id);  // made of what an id may have
}

bool is_made_id(const SessionId& id) {
  return id.str().starts_with('x');
}

RawJson json_in(std::string_view text) {
  if (!trimmed(text).empty()) {
    if (auto value = RawJson::parse(std::string(trimmed(text)))) {
      return *std::move(value);
    }
  }
  return RawJson::string(text);
}

std::string text_or_json(JsonView value) {
  if (value.is(json::Kind::string)) {
    return value.text();
  }
  return value ? std::string(value.raw()) : std::string();
}

void add_rest(Extra& extra, std::string_view name, JsonView object,
              std::initializer_list<std::string_view> known) {
  add_extra(extra, name, members_without(object, std::span(known.begin(), known.size())));
}

std::optional<Money> cost_of(JsonView value) {
  const auto money = Money::parse(trimmed(value.raw()));
  return money && money->nanos != 0 ? money : std::nullopt;
}

bool is_true(JsonView value) {
  return value.raw() == "true";
}

void note_parent(Session& session, std::string_view parent) {
  if (!parent.empty()) {
    session.extra.push_back({"parent", RawJson::string(session_id_of(parent).str())});
  }
}

void mark_injected(TextBlock& block) {
  block.extra.push_back({std::string(kInjectedField), json::take("true")});
}

ImageBlock image_at(std::string_view media_type, std::string_view url) {
  return {.media_type = std::string(media_type),
          .blob = std::nullopt,
          .url = std::string(url),
          .extra = {}};
}

std::string_view image_type_of(std::string_view file_name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kTypes = {
      {{".png", "image/png"},
       {".jpg", "image/jpeg"},
       {".jpeg", "image/jpeg"},
       {".gif", "image/gif"},
       {".webp", "image/webp"},
       {".svg", "image/svg+xml"},
       {".pdf", "application/pdf"}}};
  const std::string name = ascii_lower(file_name);
  for (const auto& [ending, type] : kTypes) {
    if (name.ends_with(ending)) {
      return type;
    }
  }
  return "";
}

}  // namespace reprise::source
