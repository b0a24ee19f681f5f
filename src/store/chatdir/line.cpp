#include "store/chatdir/line.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <unordered_map>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "base/utf8.h"
#include "reprise/message.h"
#include "store/chatdir/file_window.h"
#include "store/chatdir/line_parser.h"
#include "store/chatdir/trailer.h"
#include "store/document/sidecar.h"

namespace reprise::store::chatdir {
namespace {

constexpr std::string_view kSidecarStart = R"(,"reprise":{)";

// A member of ours, present if the tool names in the line are not from the message.
constexpr std::string_view kToolNames = "tool_names";

// The maximum size reserved for a text before its length is known.
constexpr std::size_t kReserveMax = std::size_t{1} << 20U;

constexpr std::array<std::string_view, 3> kKnownMembers = {"role", "content", kSidecar};

void append_extra(json::ObjectWriter& object, const Extra& extra) {
  for (const ExtraField& field : extra) {
    if (std::ranges::find(kKnownMembers, field.name) == kKnownMembers.end()) {
      object.raw(field.name, field.value.text());
    }
  }
}

bool has_line_end(std::string_view text) {
  return text.find_first_of("\n\r") != std::string_view::npos;
}

// The members role and content and the unknown ones, without the closing brace.
std::string native_members(const Message& message) {
  std::string out;
  json::ObjectWriter object(out);
  object.field("role", message.role);
  object.key("content");
  append_content(out, message.blocks);
  append_extra(object, message.extra);
  return out;
}

std::string message_member(const Message& message) {
  return cat(R"("whole":)", json::quoted(message_to_json(message)), ",");
}

// The blocks in the usual spelling, for a message that the original does not accept.
std::string content_member(const Message& message) {
  std::string out = R"("content":)";
  append_content(out, message.blocks);
  return out += ',';
}

// The parts of the message missing from the native members, as the beginning of our member: "" or
// members and a comma.
std::string sidecar_members(std::string& native, const Message& message, bool is_accepted) {
  if (has_line_end(native)) {
    replace_line_ends(native);
    // Opaque JSON of several lines: its exact spelling is preserved as text.
    return message_member(message);
  }
  const auto parsed = read_line(cat(native, "}"));
  Message plain = parsed ? parsed->message : Message{};
  std::string out;
  if (lacks_tool_names(message)) {
    drop_tool_names(plain);
    out = cat(json::quoted(kToolNames), R"(:"added",)");
  }
  if (!is_accepted && plain.blocks != message.blocks) {
    out += content_member(message);
    bool lossy = false;
    plain.blocks.clear();
    json::Scanner scanner(std::string_view(out).substr(out.find(R"("content":)") + 10));
    read_content(scanner, plain.blocks, lossy);
  }
  plain.created_at = message.created_at;
  std::string sidecar = message_sidecar(message, plain);
  if (has_line_end(sidecar) || has_line_end(out)) {
    return message_member(message);
  }
  if (sidecar.empty()) {
    return out;
  }
  sidecar.back() = ',';
  return cat(out, std::string_view(sidecar).substr(1));
}

// Whether the native members still show this message: another program may have changed them.
bool matches_line(const Message& line, const Message& message) {
  const std::string text = plain_text(line);
  if (plain_text(message) == text) {
    return true;
  }
  const auto form = accepted_form(message, {});
  return form && plain_text(*form) == text;
}

bool read_time(json::Scanner& scanner, std::optional<Time>& time) {
  std::string text;
  if (!scanner.string(text)) {
    return false;
  }
  time = parse_time(text);
  return time.has_value();
}

// The parsed member of ours.
struct SidecarMember {
  std::optional<Time> created = {};
  std::string whole = {};
  std::optional<std::vector<Block>> content = {};
  bool has_sidecar = false;
  bool names_added = false;
};

bool read_sidecar_member(json::Scanner& scanner, std::string_view name, SidecarMember& sidecar) {
  const json::Kind kind = scanner.kind();
  if (name == "log" && kind == json::Kind::object) {
    return scanner.object([&](std::string_view inner) {
      return inner == "created_at" ? read_time(scanner, sidecar.created) : scanner.skip();
    });
  }
  if (name == "whole" && kind == json::Kind::string) {
    return scanner.string(sidecar.whole);
  }
  if (name == "content" && (kind == json::Kind::string || kind == json::Kind::array)) {
    bool lossy = false;  // we write valid Unicode
    return read_content(scanner, sidecar.content.emplace(), lossy);
  }
  sidecar.names_added = sidecar.names_added || name == kToolNames;
  sidecar.has_sidecar = sidecar.has_sidecar || name != kToolNames;
  return scanner.skip();
}

// Applies our member, which has what the native ones cannot represent.
Result<> apply_sidecar(Line& line, std::string_view json) {
  SidecarMember sidecar;
  json::Scanner scanner(json);
  if (!scanner.object(
          [&](std::string_view name) { return read_sidecar_member(scanner, name, sidecar); })) {
    return std::unexpected(scanner.fault());
  }
  Message& message = line.message;
  if (sidecar.names_added) {
    drop_tool_names(message);
  }
  if (!sidecar.whole.empty()) {
    REPRISE_ASSIGN(Message stored, message_from_json(sidecar.whole));
    if (matches_line(message, stored)) {
      message = std::move(stored);
      message.seq = {};
    }
  } else if (sidecar.content) {
    Message stored = message;
    stored.blocks = *std::move(sidecar.content);
    REPRISE_TRY(add_message_sidecar(stored, json));
    if (matches_line(message, stored)) {
      message = std::move(stored);
    } else {
      REPRISE_TRY(add_message_sidecar(message, json));
    }
  } else if (sidecar.has_sidecar) {
    REPRISE_TRY(add_message_sidecar(message, json));
  }
  if (sidecar.created) {
    message.created_at = *sidecar.created;
  }
  return {};
}

// Reads the members of one line; ours is applied last.
class LineReader {
 public:
  explicit LineReader(std::string_view text) : scanner_(text) {}

  Result<Line> read() {
    if (!scanner_.object([this](std::string_view name) { return member(name); }) ||
        !scanner_.end()) {
      return std::unexpected(scanner_.fault());
    }
    line_.lossy = line_.lossy || scanner_.lossy();
    line_.is_ours = !sidecar_.empty() && apply_sidecar(line_, sidecar_).has_value();
    if (!sidecar_.empty() && !line_.is_ours) {
      // Not written by us: preserved like any other unknown member.
      line_.message.extra.push_back({std::string(kSidecar), json::take(sidecar_)});
    }
    return std::move(line_);
  }

 private:
  bool member(std::string_view name) {
    Message& message = line_.message;
    const json::Kind kind = scanner_.kind();
    if (name == "role" && kind == json::Kind::string) {
      line_.duplicate = line_.duplicate || std::exchange(has_role_, true);
      return scanner_.string(message.role);
    }
    if (name == "content" && (kind == json::Kind::string || kind == json::Kind::array)) {
      line_.duplicate = line_.duplicate || std::exchange(has_content_, true);
      message.blocks.clear();
      return read_content(scanner_, message.blocks, line_.lossy);
    }
    std::string_view raw;
    if (!scanner_.raw(raw)) {
      return false;
    }
    if (name == kSidecar && kind == json::Kind::object) {
      line_.duplicate = line_.duplicate || !sidecar_.empty();
      sidecar_ = raw;
      return true;
    }
    add_extra(name, raw);
    return true;
  }

  void add_extra(std::string_view name, std::string_view raw) {
    Extra& extra = line_.message.extra;
    const auto [known, is_new] = indexes_.try_emplace(std::string(name), extra.size());
    if (is_new) {
      extra.push_back({std::string(name), json::take(raw)});
    } else {
      extra[known->second].value = json::take(raw);
      line_.duplicate = true;
    }
  }

  json::Scanner scanner_;
  Line line_;
  std::unordered_map<std::string, std::size_t> indexes_;  // of the members in `extra`
  std::string_view sidecar_;
  bool has_role_ = false;
  bool has_content_ = false;
};

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20;
}

// The same JSON with escapes for the control characters inside strings.
std::string with_escaped_controls(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  bool in_string = false;
  bool escaped = false;
  for (const char c : text) {
    if (in_string && is_control(c)) {
      const auto byte = static_cast<unsigned char>(c);
      if (std::exchange(escaped, false)) {
        out.pop_back();  // removes a backslash before the line end, which escapes nothing
      }
      out.append("\\u00").append(1, kHex[byte >> 4U]).append(1, kHex[byte & 0xFU]);
      continue;
    }
    out += c;
    if (c == '"' && !escaped) {
      in_string = !in_string;
    }
    escaped = in_string && c == '\\' && !escaped;
  }
  return out;
}

}  // namespace

void replace_line_ends(std::string& json) {
  std::ranges::replace_if(json, [](char c) { return c == '\n' || c == '\r'; }, ' ');
}

Result<> append_line(std::string& out, std::int64_t start, const Message& message, Trailer trailer,
                     const ToolNames& names) {
  const std::size_t begin = out.size();
  const std::optional<Message> form = accepted_form(message, names);
  std::string native = native_members(form ? *form : message);
  const std::string sidecar = sidecar_members(native, message, !form);
  out.append(native).append(",").append(json::quoted(kSidecar)).append(":{").append(sidecar);
  trailer.created_at = message.created_at;
  trailer.line = start;
  trailer.at = start + static_cast<std::int64_t>(out.size() - begin);
  append_trailer(out, trailer);
  out += "}}";
  if (json::Scanner check(std::string_view(out).substr(begin)); !check.skip()) {
    return fail(Code::invalid_argument,
                cat("this message cannot be stored: ", check.fault().message));
  }
  if (const std::size_t bytes = out.size() - begin; bytes >= FileWindow::kLineBytesMax) {
    return fail(Code::unsupported, cat("a message of ", bytes >> 20U,
                                       " MiB is longer than a chat directory can hold (",
                                       FileWindow::kLineBytesMax >> 20U, " MiB)"));
  }
  out += '\n';
  return {};
}

std::optional<Line> read_plain_line(std::string_view text, const FoundTrailer* found) {
  Line line;
  std::string_view role;
  LineParser cursor(text);
  if (!cursor.eat(R"({"role":)") || !cursor.word(role) || !cursor.eat(R"(,"content":)") ||
      !cursor.rest().starts_with('"')) {
    return std::nullopt;
  }
  TextBlock& block = std::get<TextBlock>(line.message.blocks.emplace_back(TextBlock{}));
  block.text.reserve(std::min(found == nullptr ? text.size() : found->position, kReserveMax));
  if (!cursor.text(block.text, line.lossy)) {
    return std::nullopt;
  }
  if (cursor.eat(kSidecarStart)) {
    Trailer trailer;
    const bool is_known = found != nullptr && cursor.position() == found->position;
    if (!is_known && !read_written_trailer(cursor.rest(), trailer)) {
      return std::nullopt;
    }
    line.is_ours = true;
    line.message.created_at = is_known ? found->trailer->created_at : trailer.created_at;
  } else if (cursor.rest() != "}") {
    return std::nullopt;
  }
  if (!utf8::is_valid(role)) {
    return std::nullopt;
  }
  line.message.role = role;
  return line;
}

Result<Line> read_line(std::string_view text) {
  if (auto plain = read_plain_line(text); plain) {
    return *std::move(plain);
  }
  auto line = LineReader(text).read();
  if (!line && std::ranges::any_of(text, is_control)) {
    return LineReader(with_escaped_controls(text)).read();
  }
  return line;
}

}  // namespace reprise::store::chatdir
