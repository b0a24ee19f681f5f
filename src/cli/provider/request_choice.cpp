#include "cli/provider/request_choice.h"

#include <algorithm>
#include <ranges>

#include "base/file.h"
#include "base/text.h"
#include "choice/provider_names.h"
#include "choice/resolve.h"
#include "cli/settings/program_config.h"
#include "engine/builtin_tools.h"
#include "provider/request_options.h"
#include "reprise/capabilities.h"
#include "reprise/conversation.h"
#include "session/session_config.h"

namespace reprise::cli {
namespace {

constexpr std::int64_t kSchemaBytesMax = 1 << 20;

// Removes options that the provider does not support.
RequestOptions supported_options(Context& context, const RequestOptions& options,
                                 std::string_view provider) {
  RequestOptions out;
  for (const provider::RequestOption& option : provider::request_options()) {
    auto value = option.slot.get(options);
    if (!value) {
      continue;
    }
    if (provider::provider_accepts(provider, option.name)) {
      option.slot.set(out, *std::move(value));
    } else {
      context.console().warn(
          cat("the setting ", option.name, " is ignored: ", provider, " does not support it"));
    }
  }
  return out;
}

std::string option_names() {
  return joined(provider::request_options(), &provider::RequestOption::name);
}

Result<> set(RequestOptions& options, const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  const std::string_view name = std::string_view(assignment).substr(0, equals);
  if (equals == std::string::npos) {
    return fail(Code::invalid_argument, cat("--set takes NAME=VALUE, not '", assignment, "'"));
  }
  if (provider::find_request_option(name) == nullptr) {
    return fail(Code::invalid_argument,
                cat("unknown option '", name, "' for --set; available: ", option_names(),
                    "; other fields of a request go in [providers.NAME.extra]"));
  }
  return provider::set_option(options, name, std::string_view(assignment).substr(equals + 1));
}

Result<RequestOptions> options_of(const RunFlags& flags) {
  RequestOptions out;
  for (const std::string& assignment : flags.set) {
    REPRISE_TRY(set(out, assignment));
  }
  if (flags.effort) {
    out.effort = *flags.effort;
  }
  if (flags.schema) {
    REPRISE_ASSIGN(const std::string text, read_named_file(*flags.schema, kSchemaBytesMax));
    if (const auto taken = provider::set_option(out, "schema", trimmed(text)); !taken) {
      return fail(Code::invalid_argument,
                  cat(*flags.schema, " is not a JSON Schema (a JSON object)"));
    }
  }
  return out;
}

Result<> check_fields(const RequestOptions& options, std::string_view provider) {
  for (const provider::RequestOption& option : provider::request_options()) {
    if (!provider::option_value(option, options).empty() &&
        !provider::provider_accepts(provider, option.name)) {
      return fail(Code::unsupported, cat(provider, " has no field for ", option.name));
    }
  }
  return {};
}

}  // namespace

Result<RequestOptions> choose_request(Context& context, const RunFlags& flags,
                                      const Settings& settings, ProviderChoice& choice) {
  const std::size_t known = choice.warnings.size();
  auto set = choice::apply_sections(choice_sources(context, settings, flags),
                                    wanted_by(context, flags), choice);
  for (const std::string& warning : choice.warnings | std::views::drop(known)) {
    context.console().warn(warning);
  }
  choice.warnings.resize(known);
  if (!set) {
    return set;
  }
  RequestOptions out = supported_options(context, *set, choice.kind);
  REPRISE_ASSIGN(const RequestOptions flagged, options_of(flags));
  REPRISE_TRY(check_fields(flagged, choice.kind));
  provider::overlay(out, flagged);
  return out;
}

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

std::string run_flag_error(Context& context, const RunFlags& flags) {
  const auto settings = context.config().settings();
  if (!settings) {
    return "";
  }
  const std::string name = flags.provider.value_or("");
  if (flags.provider && !(*settings)->providers.contains(name) &&
      !find_provider(**settings, name)) {
    return unknown_provider(name);
  }
  RequestOptions options;
  for (const std::string& assignment : flags.set) {
    if (const auto valid = set(options, assignment); !valid) {
      return valid.error().message;
    }
  }
  const auto tools = choose_tools(flags.tools.value_or("none"));
  return tools ? "" : tools.error().message;
}

Result<ToolRegistry> choose_tools(std::string_view list) {
  ToolRegistry available;
  add_builtin_tools(available);
  if (list == "all") {
    return available;
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
    const Tool* const tool = available.find(name);
    if (tool == nullptr) {
      return fail(Code::invalid_argument,
                  cat("unknown tool '", name, "'; available: ",
                      joined(available.specs(), &ToolSpec::name), ", recall:all"));
    }
    REPRISE_TRY(chosen.add(*tool));
  }
  return chosen;
}

namespace {

// What the flags of this command say of the answer: no server's refusal makes it be left out.
std::vector<std::string> given_options(const RunFlags& flags) {
  std::vector<std::string> out;
  const auto add = [&out](bool is_given, std::string_view name) {
    if (is_given) {
      out.emplace_back(name);
    }
  };
  add(flags.temperature.has_value(), "temperature");
  add(flags.max_tokens.has_value(), "max_tokens");
  add(flags.effort.has_value(), "effort");
  add(flags.schema.has_value(), "schema");
  for (const std::string& assignment : flags.set) {
    out.push_back(assignment.substr(0, assignment.find('=')));
  }
  return out;
}

}  // namespace

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
  options.given = given_options(flags);
  return options;
}

Result<std::optional<Author>> choose_author(const Settings& settings, Source* source) {
  if (settings.author) {
    if (settings.author->empty()) {
      return std::nullopt;
    }
    constexpr std::string_view kAuthorVariable = "REPRISE_AUTHOR";
    const auto from = settings.origin.find("author");
    const bool is_variable = from != settings.origin.end() && from->second == kAuthorVariable;
    auto author = Author::parse(*settings.author);
    return author ? Result<std::optional<Author>>(*std::move(author))
                  : fail_with_context(is_variable ? kAuthorVariable : "the setting author",
                                      std::move(author).error());
  }
  UserReader* const users = source == nullptr ? nullptr : source->capabilities().user_reader;
  return users == nullptr ? std::nullopt : users->user();
}

}  // namespace reprise::cli
