#include "cli/output/tool_text.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "base/json_view.h"
#include "base/json_write.h"
#include "base/terminal_text.h"
#include "base/text.h"
#include "base/utf8.h"
#include "reprise/types.h"

namespace reprise::cli {
namespace {

// What a tool works on, in any notation of tools.
constexpr std::string_view kMain[] = {"path", "file_path", "filepath", "filename",
                                      "file", "command",   "cmd",      "script",
                                      "code", "url",       "query"};
constexpr std::size_t kOthersMax = 8;
constexpr std::size_t kMemberColumns = 24;

// The last characters that fit.
std::string_view width_suffix(std::string_view text, std::size_t columns) {
  constexpr std::size_t kBytesPerColumn = 16;
  if (const std::size_t bytes = columns * kBytesPerColumn; text.size() > bytes) {
    text.remove_prefix(text.size() - bytes);
    while (!text.empty() && utf8::is_continuation(text.front())) {
      text.remove_prefix(1);
    }
  }
  while (display_width(text) > columns) {
    text.remove_prefix(first_grapheme(text));
  }
  return text;
}

// Without its middle if it is too long: a path may begin harmlessly and end elsewhere.
std::string cut(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns || columns < 3) {
    return std::string(text);
  }
  const std::size_t end = columns / 3;
  return cat(width_prefix(text, columns - end - 1), "…", width_suffix(text, end));
}

using Members = std::vector<std::pair<std::string, std::string>>;  // names and values, as JSON

Members members_of(std::string_view object) {
  Members out;
  std::map<std::string, std::size_t, std::less<>> places;
  JsonView(object).each_member([&](std::string_view name, JsonView value) {
    const std::string key = terminal_json(json::quoted(name));
    const auto [place, is_new] = places.try_emplace(key, out.size());
    if (is_new) {
      out.emplace_back(key, "");
    }
    out[place->second].second = terminal_json(value.raw());
  });
  for (const std::string_view name : kMain) {
    const auto main = std::ranges::find(out, cat('"', name, '"'), &Members::value_type::first);
    if (main != out.end()) {
      std::rotate(out.begin(), main, std::next(main));
      break;
    }
  }
  return out;
}

}  // namespace

std::string tool_input_line(std::string_view input, std::size_t columns) {
  const auto parsed = RawJson::parse(std::string(input));
  if (!parsed || !JsonView(parsed->text()).is(json::Kind::object)) {
    return cut(trimmed(terminal_line(input)), columns);
  }
  const Members members = members_of(parsed->text());
  const std::string whole =
      joined(members, [](const auto& member) { return cat(member.first, ":", member.second); });
  const bool fits = display_width(whole) <= columns;
  std::string out = "{";
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i > kOthersMax && !fits) {
      out += ",…";
      break;
    }
    const std::size_t value_columns =
        i == 0 ? columns / 2 : std::max<std::size_t>(columns / 16, 12);
    out += i == 0 ? "" : ",";
    out += fits ? cat(members[i].first, ":", members[i].second)
                : cat(cut(members[i].first, kMemberColumns), ":",
                      cut(members[i].second, value_columns));
  }
  return out + "}";
}

}  // namespace reprise::cli
