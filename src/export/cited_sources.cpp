#include "export/cited_sources.h"

#include <algorithm>
#include <array>

#include "base/json_view.h"
#include "base/terminal_text.h"
#include "base/text.h"

namespace reprise {
namespace {

constexpr std::array<std::string_view, 3> kLists = {"citations", "annotations", "search_results"};

std::string first_text(JsonView json, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (std::string text = json[name].text(); !text.empty()) {
      return text;
    }
  }
  return "";
}

CitedSource source_of(JsonView json) {
  if (json.is(json::Kind::string)) {
    return {.title = "", .url = json.text()};
  }
  const JsonView inner = json["url_citation"] ? json["url_citation"] : json;
  return {.title = first_text(inner, {"title", "document_title", "filename", "file_id", "source"}),
          .url = first_text(inner, {"url"})};
}

void add(std::vector<CitedSource>& sources, CitedSource source) {
  if (source.url.empty() && source.title.empty()) {
    return;
  }
  const auto found = std::ranges::find_if(sources, [&source](const CitedSource& other) {
    return other.url == source.url && (!source.url.empty() || other.title == source.title);
  });
  if (found == sources.end()) {
    sources.push_back(std::move(source));
  } else if (found->title.empty()) {
    found->title = std::move(source.title);
  }
}

}  // namespace

std::vector<CitedSource> cited_sources(const Message& message) {
  std::vector<CitedSource> sources;
  const auto add_all = [&sources](const Extra& extra) {
    for (const std::string_view name : kLists) {
      if (const RawJson* const list = json::find_field(extra, name); list != nullptr) {
        JsonView(list->text()).each([&](JsonView item) { add(sources, source_of(item)); });
      }
    }
  };
  for (const Block& block : message.blocks) {
    if (const auto* const text = std::get_if<TextBlock>(&block)) {
      add_all(text->extra);
    }
  }
  add_all(message.extra);
  return sources;
}

std::string source_line(const CitedSource& source) {
  return terminal_line(
      cat(source.title, source.title.empty() || source.url.empty() ? "" : ": ", source.url));
}

}  // namespace reprise
