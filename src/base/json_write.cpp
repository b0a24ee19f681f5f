#include "base/json_write.h"

#include <array>
#include <cstddef>

#include "base/json_run.h"
#include "base/json_scan.h"
#include "base/utf8.h"

namespace reprise {

namespace json {
namespace {

// The character after the backslash; 0 if the byte is not escaped, 'u' for \u00XX.
constexpr auto kEscapes = [] {
  std::array<char, 256> table{};
  for (int i = 0; i < 0x20; ++i) {
    table.at(static_cast<std::size_t>(i)) = 'u';
  }
  table['"'] = '"';
  table['\\'] = '\\';
  table['\b'] = 'b';
  table['\f'] = 'f';
  table['\n'] = 'n';
  table['\r'] = 'r';
  table['\t'] = 't';
  return table;
}();

// Returns whether all of the text was ASCII.
bool append_escaped(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  bool is_ascii = true;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const Run run = plain_run(text, at);
    is_ascii = is_ascii && run.ascii;
    out.append(text, at, run.end - at);
    at = run.end;
    if (at == text.size()) {
      break;
    }
    const auto byte = static_cast<unsigned char>(text[at]);
    const char escape = kEscapes[byte];
    out += '\\';
    out += escape;
    if (escape == 'u') {
      out += "00";
      out += kHex[byte >> 4U];
      out += kHex[byte & 0xFU];
    }
  }
  return is_ascii;
}

}  // namespace

void append_string(std::string& out, std::string_view text) {
  out.reserve(out.size() + text.size() + text.size() / 16 + 2);  // the minimum size
  out += '"';
  const std::size_t begin = out.size();
  if (!append_escaped(out, text) && !utf8::is_valid(text)) {
    out.resize(begin);
    append_escaped(out, utf8::sanitize(text));
  }
  out += '"';
}

std::string quoted(std::string_view text) {
  std::string out;
  append_string(out, text);
  return out;
}

std::string& ObjectWriter::key(std::string_view name) {
  if (!first_) {
    out_ += ',';
  }
  first_ = false;
  append_string(out_, name);
  out_ += ':';
  return out_;
}

ObjectWriter& ObjectWriter::field(std::string_view name, std::string_view text) {
  key(name);
  append_string(out_, text);
  return *this;
}

ObjectWriter& ObjectWriter::field(std::string_view name, std::int64_t number) {
  return raw(name, std::to_string(number));
}

ObjectWriter& ObjectWriter::field(std::string_view name, bool value) {
  return raw(name, value ? "true" : "false");
}

ObjectWriter& ObjectWriter::null(std::string_view name) {
  return raw(name, "null");
}

ObjectWriter& ObjectWriter::text_or_null(std::string_view name, std::string_view text) {
  return text.empty() ? null(name) : field(name, text);
}

ObjectWriter& ObjectWriter::raw(std::string_view name, std::string_view json) {
  key(name);
  out_ += json;
  return *this;
}

ObjectWriter& ObjectWriter::extra(const Extra& fields) {
  for (const ExtraField& field : fields) {
    raw(field.name, field.value.text());
  }
  return *this;
}

std::string array_of(const std::vector<std::string>& texts) {
  std::string out;
  ArrayWriter array(out);
  for (const std::string& text : texts) {
    array.item();
    append_string(out, text);
  }
  array.close();
  return out;
}

}  // namespace json

RawJson RawJson::string(std::string_view text) {
  return json::take(json::quoted(text));
}

}  // namespace reprise

namespace reprise::json {
namespace {

class Printer {
 public:
  Printer(std::string& out, int depth, std::size_t bytes_max)
      : out_(out), bytes_max_(bytes_max), depth_(depth) {}

  bool is_too_large() const { return is_too_large_; }

  bool value(Scanner& scanner) {
    switch (scanner.kind()) {
      case Kind::object:
        return object(scanner);
      case Kind::array:
        return array(scanner);
      default: {
        std::string_view raw;
        if (!scanner.raw(raw)) {
          return false;
        }
        out_ += raw;
        return true;
      }
    }
  }

 private:
  bool object(Scanner& scanner) {
    bool empty = true;
    begin('{');
    const bool is_valid = scanner.object([&](std::string_view key) {
      empty = false;
      member(key);
      return value(scanner);
    });
    end('}', empty);
    return is_valid;
  }

  void member(std::string_view key) {
    item();
    append_string(out_, key);
    out_ += ": ";
  }

  bool array(Scanner& scanner) {
    bool empty = true;
    begin('[');
    const bool is_valid = scanner.array([&] {
      empty = false;
      item();
      return value(scanner);
    });
    end(']', empty);
    return is_valid;
  }

  void begin(char open) {
    out_ += open;
    ++depth_;
    first_ = true;
  }

  void item() {
    out_ += first_ ? "" : ",";
    first_ = false;
    line();
  }

  void end(char close, bool empty) {
    --depth_;
    if (!empty) {
      line();
    }
    out_ += close;
    first_ = false;
  }

  void line() {
    is_too_large_ |= out_.size() > bytes_max_;
    if (is_too_large_) {
      return;
    }
    out_ += '\n';
    out_.append(static_cast<std::size_t>(depth_) * 2, ' ');
  }

  std::string& out_;
  const std::size_t bytes_max_;
  bool is_too_large_ = false;
  int depth_;
  bool first_ = true;
};

}  // namespace

Result<std::string> pretty(std::string_view json, int depth) {
  // Validates all of the text first: the depth limit applies to it, not to each inner scanner.
  if (Scanner check(json); !check.skip() || !check.end()) {
    return std::unexpected(check.fault());
  }
  std::string out;
  Scanner scanner(json);
  Printer printer(out, depth, indented_bytes_max(json.size()));
  printer.value(scanner);
  return printer.is_too_large() ? fail(Code::unsupported, "JSON nested too deeply to be indented")
                                : Result<std::string>(std::move(out));
}

std::string compact(std::string_view validated) {
  std::string out;
  out.reserve(validated.size());
  bool in_string = false;
  for (std::size_t at = 0; at < validated.size(); ++at) {
    const char c = validated[at];
    if (in_string && c == '\\') {
      out += c;
      out += validated[++at];
      continue;
    }
    if (c == '"') {
      in_string = !in_string;
    }
    if (in_string || (c != ' ' && c != '\n' && c != '\r' && c != '\t')) {
      out += c;
    }
  }
  return out;
}

}  // namespace reprise::json
