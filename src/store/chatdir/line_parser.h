#pragma once

// Parses JSON in exactly the form that we write, without full validation; other JSON is left to the
// scanner. Only for the lines of this store.

#include <charconv>
#include <cstddef>
#include <system_error>

#include "base/json_scan.h"

namespace reprise::store::chatdir {

class LineParser {
 public:
  explicit LineParser(std::string_view text) : text_(text) {}

  // Consumes exactly this text.
  bool eat(std::string_view literal) {
    if (!text_.substr(at_).starts_with(literal)) {
      return false;
    }
    at_ += literal.size();
    return true;
  }

  bool number(std::int64_t& out) {
    const char* const first = text_.data() + at_;
    const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), out);
    at_ += static_cast<std::size_t>(end - first);
    return error == std::errc();
  }

  // Consumes a string without escapes; `out` is the text between its quotes.
  bool word(std::string_view& out) {
    if (!eat("\"")) {
      return false;
    }
    const std::size_t end = text_.find('"', at_);
    if (end == std::string_view::npos) {
      return false;
    }
    out = text_.substr(at_, end - at_);
    at_ = end + 1;
    return out.find('\\') == std::string_view::npos;
  }

  bool text(std::string& out, bool& lossy) {
    json::Scanner scanner(text_.substr(at_));
    if (!scanner.string(out)) {
      return false;
    }
    lossy = lossy || scanner.lossy();
    at_ += scanner.position();
    return true;
  }

  std::string_view rest() const { return text_.substr(at_); }
  std::size_t position() const { return at_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace reprise::store::chatdir
