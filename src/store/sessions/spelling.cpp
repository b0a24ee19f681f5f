#include "store/sessions/spelling.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "base/utf8.h"

namespace reprise::store::sessions {
namespace {

constexpr std::size_t kSortedMembersMax = 32;

// The decimal digits of a float; its value is DIGITS * 10^exponent.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

Decimal shortest_decimal(double magnitude) {
  std::array<char, 32> buffer{};
  // "D.DDDe+XX"
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), magnitude,
                                 std::chars_format::scientific)
                       .ptr;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  const std::size_t e = text.find('e');
  Decimal decimal;
  decimal.digits = text[0];
  if (e > 2) {
    decimal.digits += text.substr(2, e - 2);
  }
  std::string_view power = text.substr(e + 1);
  if (power.starts_with('+')) {
    power.remove_prefix(1);
  }
  std::from_chars(power.data(), power.data() + power.size(), decimal.exponent);
  decimal.exponent -= static_cast<int>(decimal.digits.size()) - 1;
  return decimal;
}

// Erlang uses the shorter form, and the plain one if both have the same length, except from 2^53
// on, where the plain form would suggest digits that the number does not have.
bool is_plain(const Decimal& decimal, double magnitude) {
  const auto count = static_cast<int>(decimal.digits.size());
  const int scientific = decimal.exponent + count - 1;
  const int smallest = count == 1 ? -4 : -(count + 2);
  const int largest = count == 1 || scientific >= 10 ? 2 : 1;
  constexpr double kExactMax = 9007199254740992.0;
  return decimal.exponent >= smallest && decimal.exponent <= largest &&
         (decimal.exponent < 0 || magnitude < kExactMax);
}

std::string plain(const Decimal& decimal) {
  const auto& digits = decimal.digits;
  if (decimal.exponent >= 0) {
    return cat(digits, std::string(static_cast<std::size_t>(decimal.exponent), '0'), ".0");
  }
  const auto after_point = static_cast<std::size_t>(-decimal.exponent);
  if (after_point < digits.size()) {
    const std::size_t before = digits.size() - after_point;
    return cat(digits.substr(0, before), ".", digits.substr(before));
  }
  return cat("0.", std::string(after_point - digits.size(), '0'), digits);
}

std::string scientific(const Decimal& decimal) {
  const auto count = static_cast<int>(decimal.digits.size());
  return cat(decimal.digits[0], ".", count == 1 ? "0" : decimal.digits.substr(1), "e",
             decimal.exponent + count - 1);
}

void append_number(std::string& out, std::string_view number) {
  if (number.find_first_of(".eE") == std::string_view::npos) {
    out += number == "-0" ? "0" : number;
    return;
  }
  // A number too large for a float has no such spelling and is unchanged.
  const auto value = parse_number<double>(number);
  out += value ? float_text(*value) : std::string(number);
}

void append_escaped(std::string& out, std::string_view text) {
  constexpr std::string_view kNamed = "\"\\\b\f\n\r\t";
  constexpr std::string_view kNames = "\"\\bfnrt";
  constexpr std::string_view kHex = "0123456789ABCDEF";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (const auto named = kNamed.find(c); named != std::string_view::npos) {
      out += '\\';
      out += kNames[named];
    } else if (byte < 0x20) {
      out += "\\u00";
      out += kHex[byte >> 4U];
      out += kHex[byte & 0xFU];
    } else {
      out += c;
    }
  }
}

bool needs_escapes(std::string_view text) {
  return std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; });
}

class Formatter {
 public:
  Formatter(std::string_view json, std::string& out, int depth)
      : scanner_(json),
        out_(out),
        depth_(depth),
        bytes_max_(json::indented_bytes_max(json.size())) {}

  Result<> run() {
    const bool is_valid = value() && scanner_.end();
    if (is_too_large_) {
      return fail(Code::unsupported, "JSON nested too deeply to be indented");
    }
    return is_valid ? Result<>() : std::unexpected(scanner_.fault());
  }

 private:
  // A member in `out_`, including the line end before it.
  struct Member {
    std::string key;
    std::size_t from;
    std::size_t to;
  };

  bool value() {
    switch (scanner_.kind()) {
      case json::Kind::object:
        return object();
      case json::Kind::array:
        return array();
      case json::Kind::string:
        return string();
      default: {
        const bool is_number = scanner_.kind() == json::Kind::number;
        std::string_view raw;
        if (!scanner_.raw(raw)) {
          return false;
        }
        if (is_number) {
          append_number(out_, raw);
        } else {
          out_ += raw;
        }
        return true;
      }
    }
  }

  bool string() {
    std::string_view raw;
    if (!scanner_.raw(raw)) {
      return false;
    }
    if (raw.find('\\') == std::string_view::npos && utf8::is_valid(raw)) {
      out_ += raw;
      return true;
    }
    append_string(out_, json::text_in(raw).value_or(""));
    return true;
  }

  bool object() {
    std::vector<Member> members;
    const std::size_t start = out_.size();
    ++depth_;
    const bool is_valid = scanner_.object([&](std::string_view key) {
      Member member{std::string(key), out_.size(), 0};
      line();
      append_string(out_, key);
      out_ += ": ";
      if (!value()) {
        return false;
      }
      member.to = out_.size();
      members.push_back(std::move(member));
      return true;
    });
    --depth_;
    if (is_valid) {
      sort_members(members, start);
    }
    return is_valid;
  }

  // Sorts the members written from `start` on.
  void sort_members(std::vector<Member>& members, std::size_t start) {
    if (members.size() <= kSortedMembersMax) {
      std::ranges::stable_sort(members, {}, &Member::key);
    }
    const std::string written = out_.substr(start);
    out_.resize(start);
    out_ += '{';
    const std::size_t empty = out_.size();
    for (std::size_t i = 0; i < members.size(); ++i) {
      const bool is_repeated = i + 1 < members.size() && members[i + 1].key == members[i].key;
      if (!is_repeated) {
        out_ += out_.size() == empty ? "" : ",";
        out_.append(written, members[i].from - start, members[i].to - members[i].from);
      }
    }
    if (!members.empty()) {
      line();
    }
    out_ += '}';
  }

  bool array() {
    out_ += '[';
    ++depth_;
    bool empty = true;
    const bool is_valid = scanner_.array([&] {
      out_ += empty ? "" : ",";
      empty = false;
      line();
      return value();
    });
    --depth_;
    if (!empty) {
      line();
    }
    out_ += ']';
    return is_valid;
  }

  void line() {
    is_too_large_ |= out_.size() > bytes_max_;
    if (is_too_large_) {
      return;
    }
    out_ += '\n';
    out_.append(static_cast<std::size_t>(depth_) * 2, ' ');
  }

  json::Scanner scanner_;
  std::string& out_;
  int depth_;
  const std::size_t bytes_max_;
  bool is_too_large_ = false;
};

}  // namespace

void append_string(std::string& out, std::string_view text) {
  out += '"';
  const std::string readable = utf8::is_valid(text) ? std::string() : utf8::sanitize(text);
  const std::string_view valid = readable.empty() ? text : std::string_view(readable);
  if (needs_escapes(valid)) {
    append_escaped(out, valid);
  } else {
    out += valid;
  }
  out += '"';
}

std::string quoted_string(std::string_view text) {
  std::string out;
  append_string(out, text);
  return out;
}

std::string float_text(double number) {
  std::string out = std::signbit(number) ? "-" : "";
  const double magnitude = std::fabs(number);
  const Decimal decimal = shortest_decimal(magnitude);
  out += is_plain(decimal, magnitude) ? plain(decimal) : scientific(decimal);
  return out;
}

Result<std::string> formatted(std::string_view json, int depth) {
  std::string out;
  out.reserve(json.size() + json.size() / 8);
  REPRISE_TRY(Formatter(json, out, depth).run());
  return out;
}

}  // namespace reprise::store::sessions
