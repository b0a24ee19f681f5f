#include "session/session_config.h"

#include "base/http.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "reprise/conversation.h"
#include "reprise/mode.h"
#include "reprise/session.h"
#include "reprise/store.h"

namespace reprise {
namespace {

template <class Number>
std::optional<Number> number_of(const Session& session, std::string_view name) {
  std::string_view value = json::find_member(session.config.text(), name);
  if (value.size() > 2 && value.starts_with('"')) {
    value = value.substr(1, value.size() - 2);
  }
  const auto number = parse_number<Number>(value);
  return number && *number >= 0 ? number : std::nullopt;
}

}  // namespace

RawJson session_config(std::string_view base_url) {
  if (base_url.empty()) {
    return {};
  }
  std::string out;
  json::ObjectWriter object(out);
  object.field("base_url", http::masked_url(base_url)).close();
  return RawJson::parse(out).value_or(RawJson());
}

std::string stored_base_url(const Session& session) {
  return json::text_in(json::find_member(session.config.text(), "base_url")).value_or("");
}

std::optional<double> stored_temperature(const Session& session) {
  return number_of<double>(session, "temperature");
}

std::optional<std::int64_t> stored_max_tokens(const Session& session) {
  const auto stored = number_of<std::int64_t>(session, "max_tokens");
  return stored == 0 ? std::nullopt : stored;
}

std::optional<std::string> system_prompt_of(const SystemPromptSources& sources,
                                            const Session& session, std::stop_token stop) {
  if (session.info.mode.empty()) {
    return sources.default_text;
  }
  const auto mode = sources.modes.find(session.info.mode);
  if (mode == sources.modes.end()) {
    sources.observer.on_warning(
        cat("unknown mode '", session.info.mode, "': its instructions are not sent"));
    return sources.default_text;
  }
  const std::string& folder = session.info.working_dir;
  auto loaded =
      load_context(mode->second, folder.empty() ? sources.folder : std::filesystem::path(folder),
                   sources.observer, std::move(stop));
  if (!loaded) {
    sources.observer.on_warning(cat("without the mode's context: ", loaded.error().message));
    return mode->second.system;
  }
  return *std::move(loaded);
}

void clear_system_prompt(Session& session, const Mode* mode, ConversationOptions& options) {
  if (mode == nullptr || mode->path == PathPolicy::none) {
    session.info.working_dir.clear();
  }
  if (mode != nullptr) {
    std::string prompt = std::exchange(session.system_prompt, "");
    if (!options.system) {
      options.system = std::move(prompt);
    }
  }
}

Result<std::optional<std::string>> resumed_system_prompt(const SystemPromptSources& sources,
                                                         const Mode* mode, const Store* store,
                                                         const Session& session,
                                                         std::stop_token stop) {
  if (mode != nullptr) {
    REPRISE_ASSIGN(std::string system, load_context(*mode, session.info.working_dir,
                                                    sources.observer, std::move(stop)));
    return std::optional(std::move(system));
  }
  if (store != nullptr && !store->capabilities().messages && session.system_prompt.empty()) {
    return system_prompt_of(sources, session, std::move(stop));
  }
  return std::nullopt;
}

}  // namespace reprise
