#include "store/chatdir/trailer.h"

#include <string.h>

#include <memory>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "model/known_time.h"
#include "store/chatdir/line_parser.h"

namespace reprise::store::chatdir {
namespace {

// The beginning of a trailer. Quotes inside strings are escaped, so this occurs only where we wrote
// it, and not after our last trailer.
constexpr std::string_view kMarkStart = R"("log":{"seq":)";
constexpr std::string_view kMarkKey = R"("log":)";
constexpr std::string_view kMarkEnd = "}}}";
constexpr std::size_t kStateKeyBytes = std::string_view(R"(,"state":)").size();

// npos if there is none. Searches backwards for braces, of which few follow it.
std::size_t last_trailer_start(std::string_view bytes) {
  std::size_t end = bytes.size();
  while (const void* const brace = ::memrchr(bytes.data(), '{', end)) {
    end = static_cast<std::size_t>(static_cast<const char*>(brace) - bytes.data());
    if (end >= kMarkKey.size() && bytes.substr(end - kMarkKey.size()).starts_with(kMarkStart)) {
      return end - kMarkKey.size();
    }
  }
  return std::string_view::npos;
}

bool read_time(std::string_view text, Time& time) {
  const auto parsed = parse_time(text);
  time = parsed.value_or(time);
  return parsed.has_value();
}

// The members that every trailer of ours begins with.
bool read_trailer_start(LineParser& cursor, Trailer& trailer) {
  std::string_view time;
  return cursor.eat(kMarkStart) && cursor.number(trailer.seq.value) && cursor.eat(R"(,"line":)") &&
         cursor.number(trailer.line) && cursor.eat(R"(,"at":)") && cursor.number(trailer.at) &&
         trailer.seq.value >= 0 &&
         (!cursor.eat(R"(,"created_at":)") ||
          (cursor.word(time) && read_time(time, trailer.created_at)));
}

bool read_batch(json::Scanner& scanner, Trailer& trailer) {
  bool first = true;
  return scanner.array([&] {
    return scanner.integer(std::exchange(first, false) ? trailer.number : trailer.of);
  }) && trailer.number >= 1 &&
         trailer.number <= trailer.of;
}

bool read_operation(std::string_view text, Trailer& trailer) {
  auto operation = OperationId::parse(text);
  if (!operation) {
    return false;
  }
  trailer.operation = *std::move(operation);
  return true;
}

bool read_trailer_member(json::Scanner& scanner, std::string_view name, Trailer& trailer) {
  if (name == "seq") {
    return scanner.integer(trailer.seq.value) && trailer.seq.value >= 0;
  }
  if (name == "line") {
    return scanner.integer(trailer.line);
  }
  if (name == "at") {
    return scanner.integer(trailer.at);
  }
  if (std::string text; name == "created_at") {
    return scanner.string(text) && read_time(text, trailer.created_at);
  }
  if (name == "batch") {
    return read_batch(scanner, trailer);
  }
  if (name == "request") {
    return scanner.string(trailer.request);
  }
  std::string_view raw;
  if (!scanner.raw(raw)) {
    return false;
  }
  if (name == "operation" && raw.size() >= 2) {
    return read_operation(raw.substr(1, raw.size() - 2), trailer);
  }
  if (name == "state") {
    trailer.state = raw;
  }
  return true;
}

}  // namespace

void append_trailer(std::string& out, const Trailer& trailer) {
  out += kMarkKey;
  json::ObjectWriter object(out);
  object.field("seq", trailer.seq.value).field("line", trailer.line).field("at", trailer.at);
  if (is_known(trailer.created_at)) {
    object.field("created_at", format_time(trailer.created_at));
  }
  if (trailer.of > 1) {
    object.raw("batch", cat("[", trailer.number, ",", trailer.of, "]"));
  }
  if (!trailer.request.empty()) {
    object.field("request", trailer.request);
  }
  if (trailer.ends_batch()) {
    if (trailer.operation) {
      object.field("operation", trailer.operation->str());
    }
    if (!trailer.state.empty()) {
      object.raw("state", trailer.state);
    }
  }
  object.close();
}

bool read_written_trailer(std::string_view text, Trailer& trailer) {
  LineParser cursor(text);
  std::string_view word;
  if (!read_trailer_start(cursor, trailer) ||
      (cursor.eat(R"(,"batch":[)") &&
       !(cursor.number(trailer.number) && cursor.eat(",") && cursor.number(trailer.of) &&
         cursor.eat("]") && trailer.number >= 1 && trailer.number <= trailer.of))) {
    return false;
  }
  if (cursor.eat(R"(,"request":)")) {
    if (!cursor.word(word)) {
      return false;
    }
    trailer.request = word;
  }
  if (cursor.eat(R"(,"operation":)") && !(cursor.word(word) && read_operation(word, trailer))) {
    return false;
  }
  std::string_view remaining = trimmed(cursor.rest());
  if (remaining.starts_with(R"(,"state":)") && remaining.ends_with(kMarkEnd)) {
    remaining.remove_prefix(kStateKeyBytes);
    trailer.state = remaining.substr(0, remaining.size() - kMarkEnd.size());
    return true;
  }
  return remaining == kMarkEnd;
}

std::optional<FoundTrailer> find_trailer(std::string_view bytes) {
  const std::string_view text = trimmed(bytes);
  if (!text.ends_with(kMarkEnd)) {
    return std::nullopt;
  }
  const std::size_t position = last_trailer_start(bytes);
  if (position == std::string_view::npos) {
    return std::nullopt;
  }
  auto trailer = std::make_shared<Trailer>();
  if (read_written_trailer(bytes.substr(position), *trailer)) {
    return FoundTrailer{std::move(trailer), position};
  }
  *trailer = {};
  json::Scanner scanner(bytes.substr(position + kMarkKey.size()));
  if (!scanner.object(
          [&](std::string_view name) { return read_trailer_member(scanner, name, *trailer); }) ||
      trimmed(scanner.rest()) != "}}") {
    return std::nullopt;
  }
  return FoundTrailer{std::move(trailer), position};
}

}  // namespace reprise::store::chatdir
