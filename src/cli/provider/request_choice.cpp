#include "cli/provider/request_choice.h"

#include <algorithm>

#include "base/file.h"
#include "base/http.h"
#include "base/text.h"
#include "cli/provider/provider_choice.h"
#include "cli/settings/program_config.h"
#include "cli/settings/provider_key.h"
#include "engine/builtin_tools.h"
#include "provider/request_options.h"
#include "provider/secret_mask.h"
#include "reprise/capabilities.h"
#include "reprise/conversation.h"
#include "session/session_config.h"

namespace reprise::cli {
namespace {

constexpr std::int64_t kSchemaBytesMax = 1 << 20;

// Whether [providers.NAME] describes the chosen server.
bool describes_server(const Context& context, const Settings& settings, std::string_view section,
                      const RunFlags& flags, const ProviderChoice& choice) {
  const ProviderKind* const kind = find_provider_kind(choice.kind);
  const std::string requested = choice.options.base_url.empty() && kind != nullptr
                                    ? std::string(kind->default_url)
                                    : choice.options.base_url;
  const auto own = settings.providers.find(section);
  const std::string default_url =
      own == settings.providers.end() ? "" : own->second.base_url.value_or("");
  if (!default_url.empty()) {
    const bool is_kind = find_provider_kind(section) != nullptr;
    const bool fits = is_kind ? section == choice.kind
                              : own->second.protocol.value_or(choice.kind) == choice.kind;
    return fits && http::is_same_server(requested, default_url);
  }
  if (const auto named = find_provider(settings, section); named && !named->is_kind()) {
    return named->kind == kind && http::is_same_server(requested, named->default_url);
  }
  if (section != choice.kind || kind == nullptr || flags.base_url) {
    return false;
  }
  const auto top = settings.any().base_url;
  const auto from_variable = context.environment().find(kind->url_variable);
  return http::is_same_server(requested, kind->default_url) ||
         (from_variable && http::is_same_server(requested, *from_variable)) ||
         (top && http::is_same_server(requested, *top));
}

void add_to_provider(ProviderOptions& out, const RequestSettings& section) {
  out.path = section.path.value_or(out.path);
  out.auth = section.auth.value_or(out.auth);
  out.auth_header = section.auth_header.value_or(out.auth_header);
  for (const auto& [name, value] : section.headers) {
    out.headers.emplace_back(name, value);
  }
  if (!section.extra.is_null()) {
    out.extra = section.extra;
  }
}

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

// Headers and fields added by the user may be secrets and must not be sent in clear text.
Result<> check_clear_text(const Context& context, const Settings& settings,
                          const ProviderOptions& options) {
  const std::string_view field = !provider::secrets_in(options.headers).empty() ? "headers"
                                 : !provider::secrets_in(options.extra).empty() ? "extra"
                                                                                : "";
  if (field.empty() || is_safe_for_secrets(options.base_url) ||
      context.config().is_insecure(settings)) {
    return {};
  }
  return fail(Code::unauthorized,
              cat("the secret in ", field, " would be sent unencrypted to ",
                  http::host_of(options.base_url), "; use https, or --insecure"));
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
  RequestOptions out;
  if (const auto defaults = settings.requests.find(""); defaults != settings.requests.end()) {
    out = defaults->second.options;
  }
  // A provider that was chosen by its own name has only its own section, even if others describe
  // the same server.
  const bool has_own_name = find_provider_kind(choice.name) == nullptr &&
                            describes_server(context, settings, choice.name, flags, choice);
  const auto applies = [&](std::string_view name) {
    return has_own_name ? name == choice.name
                        : describes_server(context, settings, name, flags, choice);
  };
  if (const auto general = settings.requests.find(choice.kind);
      general != settings.requests.end() && !applies(choice.kind)) {
    const RequestSettings& section = general->second;
    provider::overlay(out, section.options);
    if (!section.headers.empty() || section.auth || !section.extra.is_null()) {
      context.console().warn(cat("headers, extra and auth of [providers.", choice.kind,
                                 "] are not sent to ", http::host_of(choice.options.base_url)));
    }
    if (section.path || section.auth_header) {
      context.console().warn(cat("path and auth_header of [providers.", choice.kind,
                                 "] are not used for ", http::host_of(choice.options.base_url)));
    }
  }
  for (const auto& [name, section] : settings.requests) {
    if (!name.empty() && applies(name)) {
      provider::overlay(out, section.options);
      add_to_provider(choice.options, section);
    }
  }
  for (const auto& [name, section] : settings.providers) {
    if (section.store && applies(name)) {
      choice.options.store = section.store;
    }
  }
  REPRISE_TRY(check_clear_text(context, settings, choice.options));
  out = supported_options(context, out, choice.kind);
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

ProviderOptions provider_options(const Settings& settings, const ProviderChoice& choice) {
  ProviderOptions options = choice.options;
  options.answer_bytes_max = settings.max_answer_bytes.value_or(options.answer_bytes_max);
  const auto own = settings.providers.find(choice.kind);
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
