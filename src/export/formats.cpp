#include "export/formats.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/assert.h"

namespace reprise {
namespace exporting {
namespace {

constexpr Format kFormats[] = {
    {.shown = {.name = "md",
               .ending = ".md",
               .summary = "Markdown, as `show --full`",
               .has_files = true},
     .loses = {Part::settings, Part::todos, Part::artefacts, Part::session_fields,
               Part::response_ids, Part::message_fields, Part::signatures},
     .make = make_markdown},
    {.shown = {.name = "html", .ending = ".html", .summary = "one page, readable offline"},
     .loses = {Part::settings, Part::todos, Part::artefacts, Part::session_fields,
               Part::response_ids, Part::message_fields, Part::signatures},
     .make = make_html},
    {.shown = {.name = "json",
               .ending = ".json",
               .summary = "everything, to be read again by reprise"},
     .make = make_json},
};

constexpr auto kShown = [] {
  std::array<ExportFormat, std::size(kFormats)> shown{};
  std::ranges::transform(kFormats, shown.begin(), &Format::shown);
  return shown;
}();

}  // namespace

const Format& format_of(const ExportFormat& shown) {
  const auto* const found = std::ranges::find(
      kFormats, shown.name, [](const Format& format) { return format.shown.name; });
  REPRISE_ASSERT(found != std::end(kFormats));
  return *found;
}

}  // namespace exporting

std::span<const ExportFormat> export_formats() {
  return exporting::kShown;
}

const ExportFormat* find_export_format(std::string_view name) {
  const auto* const found = std::ranges::find(exporting::kShown, name, &ExportFormat::name);
  return found == exporting::kShown.end() ? nullptr : found;
}

}  // namespace reprise
