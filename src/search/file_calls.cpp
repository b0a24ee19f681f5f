#include "search/file_calls.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json_view.h"
#include "base/text.h"

namespace reprise::search {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSeparators = " \t\r\n\"'`;|&<>()=,";

class FileName {
 public:
  FileName(std::string_view file, std::string_view folder)
      : file_(fs::path(file).lexically_normal()), folder_(folder) {}

  bool is_in(std::string_view text) const {
    return is_named(text) || std::ranges::any_of(words_of(text), [this](std::string_view word) {
             return is_named(word);
           });
  }

 private:
  static std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    while (!text.empty()) {
      const std::string_view word = text.substr(0, text.find_first_of(kSeparators));
      if (!word.empty()) {
        words.push_back(word);
      }
      text.remove_prefix(std::min(word.size() + 1, text.size()));
    }
    return words;
  }

  // Whether the path is the file, or ends with its components.
  bool is_named(std::string_view path) const {
    if (!path.ends_with(file_.filename().native())) {
      return false;
    }
    if (file_.is_absolute()) {
      return (folder_ / path).lexically_normal() == file_;
    }
    const std::vector<fs::path> named = components_of(fs::path(path).lexically_normal());
    const std::vector<fs::path> end = components_of(file_);
    return named.size() >= end.size() && std::equal(end.rbegin(), end.rend(), named.rbegin());
  }

  static std::vector<fs::path> components_of(const fs::path& path) {
    return {path.begin(), path.end()};
  }

  fs::path file_;
  fs::path folder_;
};

bool has_file(JsonView json, const FileName& file) {
  if (json.is(json::Kind::string)) {
    return file.is_in(json.text());
  }
  bool found = false;
  json.each([&](JsonView element) { found = found || has_file(element, file); });
  json.each_member(
      [&](std::string_view /*name*/, JsonView member) { found = found || has_file(member, file); });
  return found;
}

}  // namespace

bool names_file(const Message& message, std::string_view file, std::string_view folder) {
  const FileName name(file, folder);
  return std::ranges::any_of(message.blocks, [&name](const Block& block) {
    const auto* const call = std::get_if<ToolUseBlock>(&block);
    return call != nullptr && has_file(JsonView(call->input.text()), name);
  });
}

}  // namespace reprise::search
