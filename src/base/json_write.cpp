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
