#include "base/json_pretty.h"

#include <algorithm>
#include <cstddef>

#include "base/json_scan.h"
#include "base/json_write.h"

namespace reprise::json {
namespace {

class Printer {
 public:
  Printer(std::string& out, PrettyOptions options)
      : out_(out), options_(options), depth_(options.depth) {}

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
    if (options_.order == KeyOrder::by_bytes) {
      return sorted_object(scanner);
    }
    bool empty = true;
    begin('{');
    const bool whole = scanner.object([&](std::string_view key) {
      empty = false;
      member(key);
      return value(scanner);
    });
    end('}', empty);
    return whole;
  }

  bool sorted_object(Scanner& scanner) {
    std::vector<std::pair<std::string, std::string_view>> members;
    const bool whole = scanner.object([&](std::string_view key) {
      std::string_view raw;
      if (!scanner.raw(raw)) {
        return false;
      }
      members.emplace_back(key, raw);
      return true;
    });
    std::ranges::stable_sort(members, {}, [](const auto& one) { return one.first; });
    begin('{');
    for (const auto& [key, raw] : members) {
      member(key);
      Scanner inner(raw);
      value(inner);
    }
    end('}', members.empty());
    return whole;
  }

  void member(std::string_view key) {
    item();
    append_string(out_, key);
    out_ += ": ";
  }

  bool array(Scanner& scanner) {
    bool empty = true;
    begin('[');
    const bool whole = scanner.array([&] {
      empty = false;
      item();
      return value(scanner);
    });
    end(']', empty);
    return whole;
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
    out_ += '\n';
    out_.append(static_cast<std::size_t>(depth_) * static_cast<std::size_t>(options_.indent), ' ');
  }

  std::string& out_;
  PrettyOptions options_;
  int depth_;
  bool first_ = true;
};

}  // namespace

Result<std::string> pretty(std::string_view json, PrettyOptions options) {
  // Validates all of the text first: the depth limit applies to it, not to each inner scanner.
  if (Scanner check(json); !check.skip() || !check.end()) {
    return std::unexpected(check.fault());
  }
  std::string out;
  Scanner scanner(json);
  Printer(out, options).value(scanner);
  return out;
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
