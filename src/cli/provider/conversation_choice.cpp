#include "cli/provider/conversation_choice.h"

#include <algorithm>

#include "base/text.h"
#include "cli/provider/provider_choice.h"
#include "engine/builtin_tools.h"
#include "reprise/capabilities.h"
#include "reprise/conversation.h"
#include "session/session_config.h"

namespace reprise::cli {

Result<const Mode*> find_mode(const Settings& settings, const RunFlags& flags) {
  if (!flags.mode) {
    return nullptr;
  }
  if (const auto found = settings.modes.find(*flags.mode); found != settings.modes.end()) {
    return &found->second;
  }
  std::string names;
  for (const auto& [name, mode] : settings.modes) {
    names += cat(names.empty() ? "; available: " : ", ", name);
  }
  return fail(Code::not_found, cat("unknown mode '", *flags.mode, "'",
                                   names.empty() ? "; your settings have no [mode.NAME]" : names));
}

Result<ToolRegistry> choose_tools(std::string_view list) {
  ToolRegistry all;
  add_builtin_tools(all);
  if (list == "all") {
    return all;
  }
  ToolRegistry chosen;
  while (list != "none" && !list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view name = trimmed(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    if (name == "recall:all") {
      // Sessions of other projects are available only if the tool is named, not with "all".
      REPRISE_TRY(chosen.add(make_recall_all_tool()));
      continue;
    }
    const Tool* const tool = all.find(name);
    if (tool == nullptr) {
      std::string names;
      for (const ToolSpec& spec : all.specs()) {
        names += cat(names.empty() ? "" : ", ", spec.name);
      }
      return fail(Code::not_found,
                  cat("unknown tool '", name, "'; available: ", names, ", recall:all"));
    }
    REPRISE_TRY(chosen.add(*tool));
  }
  return chosen;
}

ProviderOptions provider_options(const Settings& settings, const ProviderChoice& choice) {
  ProviderOptions options = choice.options;
  options.answer_bytes_max = settings.max_answer_bytes.value_or(options.answer_bytes_max);
  const auto own = settings.providers.find(choice.name);
  if (!options.store && own != settings.providers.end()) {
    options.store = own->second.store;
  }
  return options;
}

ConversationOptions conversation_options(const Settings& settings, const RunFlags& flags,
                                         const ProviderChoice& choice, const Session* session) {
  const Session* const own = choice.is_sessions_own ? session : nullptr;
  const auto first_of = [](auto flag, auto stored, auto setting) {
    return flag ? flag : stored ? stored : setting;
  };
  ConversationOptions options;
  options.model = choice.model;
  options.system = flags.system;
  options.temperature =
      first_of(flags.temperature, own != nullptr ? stored_temperature(*own) : std::nullopt,
               settings.temperature);
  options.max_tokens =
      first_of(flags.max_tokens, own != nullptr ? stored_max_tokens(*own) : std::nullopt,
               settings.max_tokens);
  if (const auto budget = flags.budget ? flags.budget : settings.budget) {
    options.budget = TokenCount{*budget};
  }
  options.stream = settings.stream.value_or(true);
  return options;
}

Result<std::optional<Author>> choose_author(const Settings& settings, Source* source) {
  if (settings.author) {
    if (settings.author->empty()) {
      return std::nullopt;
    }
    auto author = Author::parse(*settings.author);
    return author ? Result<std::optional<Author>>(*std::move(author))
                  : fail_with_context("the setting author", std::move(author).error());
  }
  UserReader* const users = source == nullptr ? nullptr : source->capabilities().user_reader;
  return users == nullptr ? std::nullopt : users->user();
}

}  // namespace reprise::cli
