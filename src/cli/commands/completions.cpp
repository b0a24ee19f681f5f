#include "cli/commands/completions.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/text.h"
#include "choice/provider_names.h"
#include "cli/output/session_json.h"
#include "cli/program/search_files.h"
#include "cli/program/store_opener.h"
#include "cli/provider/request_choice.h"

namespace reprise::cli {
namespace {

constexpr std::size_t kSessionsMax = 200;

// Adds sessions of the whole store whose title or id starts with `prefix`.
void add_matching(Source& source, const std::string& prefix, SessionQuery query,
                  SessionPage& page) {
  if (prefix.empty()) {
    return;
  }
  query.working_dir.reset();
  SessionQuery by_id = query;
  by_id.short_id_prefix = ascii_lower(prefix);
  query.title_contains = prefix;
  for (const SessionQuery& lookup : {query, by_id}) {
    auto found = source.list(lookup);
    for (SessionInfo& info : found ? found->sessions : std::vector<SessionInfo>()) {
      const bool is_new =
          std::ranges::find(page.sessions, info.id, &SessionInfo::id) == page.sessions.end();
      const bool fits = lookup.title_contains.empty() || info.title.starts_with(prefix);
      if (is_new && fits) {
        page.sessions.push_back(std::move(info));
      }
    }
  }
}

// "claude:" of "claude:Tit", for commands that continue sessions of other tools; else "".
std::string tool_of(const CommandEntry* entry, std::string_view prefix) {
  const std::string tool(prefix.substr(0, prefix.find(':') + 1));
  constexpr std::array<std::string_view, 3> kContinue = {"ask", "chat", "resume"};
  const bool continues =
      entry != nullptr && std::ranges::find(kContinue, entry->name) != kContinue.end();
  const bool is_tool = std::ranges::any_of(
      source_kinds(), [&](const SourceKind& kind) { return tool == cat(kind.name, ":"); });
  return continues && is_tool ? tool : "";
}

}  // namespace

Completion complete_one_of(const std::vector<std::string_view>& texts) {
  Completion out;
  for (const std::string_view text : texts) {
    out.candidates.push_back({std::string(text)});
  }
  return out;
}

Completion complete_providers(Context& context) {
  Completion out = complete_one_of(provider_names());
  if (const auto settings = context.config().settings()) {
    for (const auto& [name, provider] : (*settings)->providers) {
      out.candidates.push_back({name});
    }
  }
  return out;
}

Completion complete_tools(std::string_view word) {
  const std::string before(word.substr(0, word.rfind(',') + 1));
  Completion out;
  if (before.empty()) {
    out = complete_one_of({"all", "none"});
  }
  if (const auto tools = choose_tools("all")) {
    for (const ToolSpec& tool : tools->specs()) {
      out.candidates.push_back({cat(before, tool.name)});
    }
  }
  out.candidates.push_back({cat(before, "recall:all")});
  return out;
}

Completion complete_modes(Context& context) {
  Completion out;
  if (const auto settings = context.config().settings()) {
    for (const auto& [name, mode] : (*settings)->modes) {
      out.candidates.push_back({name, mode.system.substr(0, mode.system.find('\n'))});
    }
  }
  return out;
}

Completion complete_histories() {
  Completion out;
  for (const SourceKind& kind : source_kinds()) {
    out.candidates.push_back({cat(kind.name, ":"), std::string(kind.title)});
  }
  return out;
}

Completion complete_stores(Context& context) {
  Completion out;
  for (const StoreKind& kind : store_kinds()) {
    out.candidates.push_back(
        {cat(kind.name, kind.location == StoreKind::Location::server ? "://" : ":")});
  }
  std::ranges::move(complete_histories().candidates, std::back_inserter(out.candidates));
  // Paths in this folder are relative to it.
  const std::string here = context.config().working_dir().native() + "/";
  for (std::string& url : find_stores_around(context)) {
    const std::size_t path = url.find(':') + 1;
    if (url.compare(path, here.size(), here) == 0) {
      url.erase(path, here.size());
    }
    out.candidates.push_back({std::move(url)});
  }
  out.shell_paths = Completion::ShellPaths::files;
  return out;
}

Completion complete_sessions(Context& context, const CommandEntry* entry, std::string_view prefix) {
  const std::string tool = tool_of(entry, prefix);
  Completion out{.candidates = {{cat(tool, "last"), "the newest session of this folder"}}};
  const auto of_tool = tool.empty() ? Result<std::unique_ptr<Source>>(nullptr)
                                    : context.stores().open_source_at(tool);
  const auto source = !of_tool       ? std::unexpected(of_tool.error())
                      : tool.empty() ? context.stores().source()
                                     : Result<Source*>(of_tool->get());
  if (!source) {
    return out;
  }
  SessionQuery query{.limit = kSessionsMax};
  if ((*source)->capabilities().many_folders) {
    query.working_dir = context.config().project();
  }
  query.states = {SessionState::active, SessionState::closed};
  if (entry != nullptr && entry->name == "restore") {
    query.states = {SessionState::trashed, SessionState::archived};
  }
  auto page = (*source)->list(query);
  if (!page) {
    return out;
  }
  add_matching(**source, std::string(prefix.substr(tool.size())), query, *page);
  const std::vector<std::string> ids = short_ids_of(page->sessions);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (const std::string& title = page->sessions[i].title; !title.empty()) {
      out.candidates.push_back({cat(tool, title), ids[i]});
    }
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    out.candidates.push_back({cat(tool, ids[i]), page->sessions[i].title});
  }
  return out;
}

}  // namespace reprise::cli
