#include "export/formats.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string_view>

#include "base/assert.h"
#include "export/tool_values.h"

namespace reprise {
namespace exporting {
namespace {

// Parts that no other program stores.
constexpr Parts kOwnParts = {Part::settings,       Part::todos,          Part::artefacts,
                             Part::session_fields, Part::prompt_history, Part::response_ids,
                             Part::message_fields, Part::other_blocks,   Part::authors};

constexpr Format kFormats[] = {
    {.info = {.name = "md",
              .ending = ".md",
              .summary = "Markdown, as `show --full`",
              .has_files = true},
     .losses = {Part::settings, Part::todos, Part::artefacts, Part::session_fields,
                Part::response_ids, Part::message_fields, Part::signatures},
     .make = make_markdown},
    {.info = {.name = "html", .ending = ".html", .summary = "one page, readable offline"},
     .losses = {Part::settings, Part::todos, Part::artefacts, Part::session_fields,
                Part::response_ids, Part::message_fields, Part::signatures},
     .make = make_html},
    {.info = {.name = "json",
              .ending = ".json",
              .summary = "everything, to be read again by reprise"},
     .make = make_json},
    {.info = {.name = "jsonl",
              .ending = ".jsonl",
              .summary = "chat messages to train models on, one session a line",
              .holds_many_sessions = true},
     .losses = kOwnParts.with({Part::injected, Part::incomplete_answers, Part::times, Part::models,
                               Part::usage, Part::thinking, Part::signatures, Part::documents}),
     .make = make_training},
    {.info = {.name = "codex",
              .ending = ".jsonl",
              .summary = "a rollout of Codex",
              .tool = "Codex",
              .import_command = "codex resume ID"},
     .losses =
         kOwnParts.with({Part::title, Part::incomplete_answers, Part::signatures, Part::documents}),
     .make = make_codex,
     .accepts_originals = true,
     .stem = codex_stem,
     .folder = codex_folder},
    {.info = {.name = "copilot",
              .ending = ".jsonl",
              .summary = "what Copilot CLI imports",
              .tool = "Copilot CLI",
              .import_command = "copilot sessions import FILE"},
     .losses = kOwnParts.with({Part::system_prompt, Part::system_messages, Part::injected,
                               Part::incomplete_answers, Part::usage, Part::thinking,
                               Part::signatures, Part::images, Part::documents}),
     .make = make_copilot},
    {.info = {.name = "opencode",
              .ending = ".json",
              .summary = "what opencode imports",
              .tool = "opencode",
              .import_command = "opencode import FILE"},
     .losses = kOwnParts.with({Part::system_prompt, Part::signatures}),
     .make = make_opencode},
    {.info = {.name = "gemini",
              .ending = ".jsonl",
              .summary = "a chat recording of Gemini CLI",
              .tool = "Gemini CLI",
              .import_command = "gemini --session-file FILE"},
     .losses = kOwnParts.with({Part::system_prompt, Part::system_messages, Part::injected,
                               Part::incomplete_answers, Part::signatures}),
     .make = make_gemini,
     .accepts_originals = true,
     .stem = gemini_stem},
    {.info = {.name = "claude",
              .ending = ".jsonl",
              .summary = "a transcript of Claude Code",
              .tool = "Claude Code",
              .import_command = "claude --resume ID"},
     .losses = kOwnParts.with({Part::system_prompt, Part::system_messages}),
     .make = make_claude,
     .accepts_originals = true,
     .stem = uuid_of,
     .folder = claude_folder},
    {.info = {.name = "pi",
              .ending = ".jsonl",
              .summary = "a session of pi",
              .tool = "pi",
              .import_command = "pi --session FILE"},
     .losses = kOwnParts.with({Part::system_prompt, Part::system_messages, Part::injected}),
     .make = make_pi,
     .accepts_originals = true,
     .stem = pi_stem,
     .folder = pi_folder},
};

constexpr auto kExportFormats = [] {
  std::array<ExportFormat, std::size(kFormats)> info{};
  std::ranges::transform(kFormats, info.begin(), &Format::info);
  return info;
}();

}  // namespace

const Format& format_of(const ExportFormat& info) {
  const auto* const found =
      std::ranges::find(kFormats, info.name, [](const Format& format) { return format.info.name; });
  REPRISE_ASSERT(found != std::end(kFormats));
  return *found;
}

}  // namespace exporting

std::span<const ExportFormat> export_formats() {
  return exporting::kExportFormats;
}

const ExportFormat* find_export_format(std::string_view name) {
  const auto* const found = std::ranges::find(exporting::kExportFormats, name, &ExportFormat::name);
  return found == exporting::kExportFormats.end() ? nullptr : found;
}

}  // namespace reprise
