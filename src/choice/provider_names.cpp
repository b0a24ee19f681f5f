#include "choice/provider_names.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/http.h"
#include "base/text.h"

namespace reprise {
namespace {

struct Server {
  std::string_view name;
  std::string_view url;
  std::string_view key_variable;
};

// From their documentation; all use OpenAI's chat protocol.
constexpr Server kServers[] = {
    {"cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"},
    {"deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"},
    {"google", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"},
    {"groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"},
    {"huggingface", "https://router.huggingface.co/v1", "HF_TOKEN"},
    {"lmstudio", "http://127.0.0.1:1234/v1", ""},
    {"mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"},
    {"ollama", "http://127.0.0.1:11434/v1", ""},
    {"openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"},
    {"xai", "https://api.x.ai/v1", "XAI_API_KEY"},
};

// Other names for them, as stored by programs.
constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
    {"claude", "anthropic"},         {"gemini", "google"},
    {"lm_studio", "lmstudio"},       {"openai", kCompatibleKind},
    {"hugging_face", "huggingface"},
};

constexpr std::pair<std::string_view, std::string_view> kModels[] = {
    {"claude", "anthropic"},
    {"gpt-oss", ""},
    {"gpt", kCompatibleKind},
    {"chatgpt", kCompatibleKind},
    {"o1", kCompatibleKind},
    {"o3", kCompatibleKind},
    {"o4", kCompatibleKind},
    {"gemini", "google"},
    {"grok", "xai"},
    {"deepseek-chat", "deepseek"},
    {"deepseek-reasoner", "deepseek"},
};

NamedProvider of_server(const Server& server, std::string_view protocol = kCompatibleKind) {
  return {.kind = find_provider_kind(protocol),
          .name = std::string(server.name),
          .default_url = std::string(server.url),
          .key_variable = std::string(server.key_variable)};
}

}  // namespace

std::optional<NamedProvider> find_provider(const Settings& settings, std::string_view name) {
  const std::string lower = ascii_lower(name);
  const auto* const alias =
      std::ranges::find(kAliases, lower, &std::pair<std::string_view, std::string_view>::first);
  const std::string_view canonical = alias == std::end(kAliases) ? lower : alias->second;
  if (const ProviderKind* const kind = find_provider_kind(canonical); kind != nullptr) {
    return NamedProvider{.kind = kind,
                         .name = std::string(kind->name),
                         .default_url = std::string(kind->default_url),
                         .key_variable = std::string(kind->key_variable)};
  }
  const auto protocol_of = [&settings](std::string_view section) {
    const auto own = settings.providers.find(section);
    return own == settings.providers.end()
               ? std::string(kCompatibleKind)
               : own->second.protocol.value_or(std::string(kCompatibleKind));
  };
  if (const auto* const server = std::ranges::find(kServers, canonical, &Server::name);
      server != std::end(kServers)) {
    return of_server(*server, protocol_of(canonical));
  }
  const auto own = settings.providers.find(name);
  const std::optional<std::string> url =
      own == settings.providers.end() ? std::nullopt : own->second.base_url;
  if (!url) {
    return std::nullopt;
  }
  return NamedProvider{.kind = find_provider_kind(protocol_of(name)),
                       .name = std::string(name),
                       .default_url = *url,
                       .key_variable = ""};
}

std::optional<NamedProvider> find_provider_at(const ProviderKind& kind, std::string_view url) {
  if (kind.name != kCompatibleKind) {
    return std::nullopt;
  }
  const auto* const server = std::ranges::find_if(
      kServers, [&](const Server& known) { return http::is_same_server(known.url, url); });
  return server == std::end(kServers) ? std::nullopt : std::optional(of_server(*server));
}

std::string unknown_provider(std::string_view name, std::string_view from) {
  return cat("unknown provider '", name, "'", from.empty() ? "" : " in ", from,
             "; the providers are ", joined(provider_names()),
             ", and each [providers.NAME] with a base_url");
}

std::vector<std::string_view> provider_names() {
  std::vector<std::string_view> names;
  for (const ProviderKind& kind : provider_kinds()) {
    names.push_back(kind.name);
  }
  for (const Server& server : kServers) {
    names.push_back(server.name);
  }
  return names;
}

std::string key_variables(std::string_view between) {
  std::vector<std::string_view> names;
  for (const ProviderKind& kind : provider_kinds()) {
    if (!kind.key_variable.empty() && std::ranges::find(names, kind.key_variable) == names.end()) {
      names.push_back(kind.key_variable);
    }
  }
  std::string out;
  for (const std::string_view name : names) {
    out += cat(out.empty() ? "" : between, name);
  }
  return out;
}

std::string_view provider_of_model(std::string_view model) {
  const std::string lower = ascii_lower(model);
  const auto* const found = std::ranges::find_if(
      kModels, [&](const auto& known) { return lower.starts_with(known.first); });
  return found == std::end(kModels) ? "" : found->second;
}

}  // namespace reprise
