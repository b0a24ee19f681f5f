#include "base/command_line.h"

#include <algorithm>

#include "base/terminal_text.h"
#include "base/text.h"

namespace reprise {
namespace {

bool is_plain_word(std::string_view text) {
  constexpr std::string_view kPlainMarks = "_-+./:@,";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return is_ascii_alnum(c) || kPlainMarks.contains(c);
  });
}

std::string octal_escape(char c) {
  const auto byte = static_cast<unsigned char>(c);
  const auto digit = [byte](int shift) { return static_cast<char>('0' + ((byte >> shift) & 7)); };
  return {'\\', digit(6), digit(3), digit(0)};
}

// With octal escapes for all but ASCII letters, digits and blanks.
std::string with_escapes(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += is_ascii_alnum(c) || c == ' ' ? std::string(1, c) : octal_escape(c);
  }
  return out;
}

}  // namespace

std::string shell_word(std::string_view text) {
  if (is_plain_word(text)) {
    return std::string(text);
  }
  if (terminal_line(text) != text) {
    // A substitution loses line ends at the end. fish does not read $'…', but then runs nothing.
    return text.ends_with('\n') ? cat("$'", with_escapes(text), "'")
                                : cat("\"$(printf '", with_escapes(text), "')\"");
  }
  std::string out;
  bool is_open = false;
  for (const char c : text) {
    const bool is_quoted =
        c != '\'' && c != '\\';  // fish reads a backslash in quotes, others do not
    if (is_quoted != is_open) {
      out += '\'';
      is_open = is_quoted;
    }
    out += is_quoted ? std::string(1, c) : cat('\\', c);
  }
  return is_open ? out + "'" : text.empty() ? "''" : out;
}

std::string shell_command(std::initializer_list<std::string_view> words) {
  std::string out = "reprise";
  for (const std::string_view word : words) {
    out += cat(' ', shell_word(word));
  }
  return out;
}

std::string unit_text(std::string_view text) {
  if (is_plain_word(text)) {
    return std::string(text);
  }
  std::string out = "\"";
  for (const char c : text) {
    const bool is_control = static_cast<unsigned char>(c) < ' ' || c == '\x7f';
    out += is_control              ? octal_escape(c)
           : c == '"' || c == '\\' ? cat('\\', c)
           : c == '%'              ? "%%"
                                   : std::string(1, c);
  }
  return out + "\"";
}

std::string unit_word(std::string_view text) {
  std::string out;
  for (const char c : unit_text(text)) {
    out += c == '$' ? "$$" : std::string(1, c);
  }
  return out;
}

}  // namespace reprise
