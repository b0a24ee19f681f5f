#include "source/values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <iterator>

#include "base/encode.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/terminal_text.h"
#include "base/text.h"
#include "base/utf8.h"
#include "model/fields.h"
#include "source/branches.h"

namespace reprise::source {
namespace {

// Smaller numbers are seconds, milliseconds or microseconds. Each limit is after the year 5000 in
// one unit and before 1974 in the next.
constexpr double kSecondsMax = 1e11;
constexpr double kMillisecondsMax = 1e14;
constexpr double kMicrosecondsMax = 1e17;
constexpr double kNanosecondsMax = 9e18;
constexpr double kMicroseconds = 1e6;

constexpr std::size_t kIdBytesMax = 200;
constexpr std::size_t kHashDigits = 8;
constexpr std::size_t kTitleCharactersMax = 80;

}  // namespace

std::optional<Time> sniffed_time(double number) {
  if (!(number > 0) || number > kNanosecondsMax) {  // also false for NaN
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
  return *std::move(id);  // has only valid characters
}

SessionId session_id_in_folder(std::string_view name, const std::filesystem::path& file) {
  return session_id_of(cat(name, "@", hex_of(node_id(file.parent_path().native()))));
}

bool is_generated_id(const SessionId& id) {
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

RawJson arguments_of(JsonView value) {
  return value.is(json::Kind::string) ? json_in(value.text()) : raw_of(value);
}

std::string text_or_json(JsonView value) {
  if (value.is(json::Kind::string)) {
    return value.text();
  }
  return value ? std::string(value.raw()) : std::string();
}

void add_unknown_members(Extra& extra, std::string_view name, JsonView object,
                         std::initializer_list<std::string_view> known) {
  add_extra(extra, name, members_without(object, std::span(known.begin(), known.size())));
}

Extra unknown_members(std::string_view name, JsonView object,
                      std::initializer_list<std::string_view> known) {
  Extra extra;
  add_unknown_members(extra, name, object, known);
  return extra;
}

ToolResultBlock tool_result(std::string call, std::string text, bool is_error, Extra extra) {
  return {.tool_use_id = std::move(call),
          .text = std::move(text),
          .is_error = is_error,
          .blob = std::nullopt,
          .extra = std::move(extra)};
}

std::string first_text(JsonView content) {
  std::string text = content.text();
  content.each([&](JsonView block) {
    text = text.empty() && block["type"].text() == "text" ? block["text"].text() : text;
  });
  return text;
}

std::string text_of_result(JsonView content, std::vector<Block>& beside,
                           Block (*block_of)(JsonView part)) {
  std::string text = content.is(json::Kind::array) || !content ? "" : text_or_json(content);
  content.each([&](JsonView part) {
    if (part["type"].text() == "text") {
      text += cat(text.empty() ? "" : "\n", part["text"].text());
    } else {
      beside.push_back(block_of(part));
    }
  });
  return text;
}

Block unknown_block(JsonView part) {
  if (part.is(json::Kind::string)) {
    return TextBlock{part.text(), {}};
  }
  static constexpr std::string_view kOurs[] = {"text", "thinking", "tool_use", "tool_result"};
  if (std::string type = part["type"].text();
      !type.empty() && std::ranges::find(kOurs, type) == std::end(kOurs)) {
    return UnknownBlock{std::move(type), raw_of(part)};
  }
  std::string wrapped;
  json::ObjectWriter(wrapped).field("type", "unknown").raw("value", part.raw()).close();
  return UnknownBlock{"unknown", json::take(wrapped)};
}

std::optional<Money> cost_of(JsonView value) {
  return Money::parse(trimmed(value.raw()));
}

bool has_usage(const Usage& usage) {
  Usage tokens = usage;
  tokens.cost = usage.cost == Money{} ? std::nullopt : usage.cost;
  return tokens != Usage{};
}

std::uint32_t note_usage(std::vector<Usage>& usages, std::optional<Usage> usage) {
  if (!usage) {
    return 0;
  }
  usages.push_back(*std::move(usage));
  return static_cast<std::uint32_t>(usages.size());
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

ImageBlock image_at(std::string_view url) {
  constexpr std::string_view kData = "data:";
  const std::string_view media = url.substr(0, url.find(';'));
  return image_at(media.starts_with(kData) ? media.substr(kData.size()) : "image/png", url);
}

ImageBlock image_at(std::string_view media_type, std::string_view url) {
  return {.media_type = std::string(media_type),
          .blob = std::nullopt,
          .url = std::string(url),
          .extra = {}};
}

Extra extra_without(std::string_view tool, JsonView object,
                    std::initializer_list<std::string_view> known) {
  Extra extra;
  std::string nested;
  json::ObjectWriter ours(nested);
  object.each_member([&](std::string_view name, JsonView value) {
    if (std::ranges::find(known, name) != known.end()) {
      return;
    }
    const bool is_reserved =
        name == tool ||
        std::ranges::find(model::kBlockFields, name) != std::end(model::kBlockFields) ||
        std::ranges::find(extra, name, &ExtraField::name) != extra.end();
    if (is_reserved) {
      ours.raw(name, value.raw());
    } else {
      extra.push_back({std::string(name), json::take(value.raw())});
    }
  });
  ours.close();
  if (nested != "{}") {
    extra.push_back({std::string(tool), json::take(nested)});
  }
  return extra;
}

RawJson raw_of(JsonView value) {
  return value.raw().empty() ? RawJson() : json::take(value.raw());
}

ImageBlock image_of(std::string_view media_type, std::string_view base64) {
  return {.media_type = std::string(media_type),
          .blob = std::nullopt,
          .url = cat("data:", media_type, ";base64,", base64),
          .extra = {}};
}

void add_extra(Extra& extra, std::string_view name, std::optional<RawJson> value) {
  if (value) {
    extra.push_back({std::string(name), *std::move(value)});
  }
}

void mark_injected(Message& message) {
  message.extra.push_back({std::string(kInjectedField), RawJson::parse("true").value()});
}

void mark_summary(Message& message) {
  message.extra.push_back({std::string(model::kSummaryMark), RawJson::parse("true").value()});
}

void mark_task(bool is_child, Message& message) {
  if (is_child && message.role == role::kUser && !is_injected(message)) {
    mark_injected(message);
  }
}

std::optional<Time> time_of(JsonView value) {
  if (value.is(json::Kind::string)) {
    std::string buffer;
    return parse_time(value.text(buffer));
  }
  const std::int64_t milliseconds = value.count();
  constexpr std::int64_t kYear10000 = 253'402'300'800'000;  // in milliseconds
  return milliseconds == 0 || milliseconds > kYear10000
             ? std::nullopt
             : std::optional(Time(std::chrono::milliseconds(milliseconds)));
}

std::optional<RawJson> members_without(JsonView object, std::span<const std::string_view> known) {
  std::string out;
  json::ObjectWriter writer(out);
  bool has_any = false;
  object.each_member([&](std::string_view name, JsonView value) {
    if (std::ranges::find(known, name) == known.end()) {
      writer.raw(name, value.raw());
      has_any = true;
    }
  });
  writer.close();
  return has_any ? std::optional(json::take(out)) : std::nullopt;
}

std::string intact_beginning(std::string_view text) {
  std::size_t end = 0;
  bool is_in_list = false;
  json::Scanner scanner(text);
  std::string_view value;
  (void)scanner.object([&](std::string_view /*name*/) {  // fails at the damage
    is_in_list = false;
    const bool is_list = scanner.kind() == json::Kind::array;
    const bool is_whole = is_list ? scanner.array([&] {
      const bool is_whole_element = scanner.raw(value);
      if (is_whole_element) {
        is_in_list = true;
        end = scanner.position();
      }
      return is_whole_element;
    })
                                  : scanner.raw(value);
    if (is_whole) {
      is_in_list = false;
      end = scanner.position();
    }
    return is_whole;
  });
  return end == 0 ? "" : cat(text.substr(0, end), is_in_list ? "]}" : "}");
}

std::string title_of(std::string_view text) {
  const std::string clean = utf8::sanitize(trimmed(text).substr(0, 4096));
  std::string line;
  for (const char c : trimmed(clean)) {
    const bool is_blank = c == '\n' || c == '\r' || c == '\t' || c == ' ';
    if (!is_blank) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  return std::string(trimmed(grapheme_prefix(line, kTitleCharactersMax)));
}

}  // namespace reprise::source
