#include "provider/kinds.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>

#include "base/curl_transport.h"
#include "base/text.h"
#include "base/variable.h"
#include "provider/codec.h"
#include "provider/http_provider.h"

namespace reprise {
namespace {

// When this file was last compared with the providers' documentation.
constexpr std::string_view kAsOf = "2026-11-23";

constexpr std::string_view kOpenaiUrl = "https://api.openai.com/v1";

using Codec = std::unique_ptr<provider::Codec>;

Codec openai_responses(const ProviderOptions& options) {
  return provider::make_openai_responses(options.base_url, options.store);
}

Codec openai_chat(const ProviderOptions& options) {
  return provider::make_openai_chat(options.base_url);
}

Codec anthropic(const ProviderOptions& /*options*/) {
  return provider::make_anthropic();
}

// A new kind of provider needs an entry here, and a codec.
constexpr ProviderKind kKinds[] = {
    {.name = "echo",
     .protocol = "built in",
     .key_variable = "",
     .url_variable = "",
     .default_url = "",
     .default_model = "echo",
     .dev_model = "echo",
     .as_of = "",
     .codec = nullptr},
    {.name = "openai-responses",
     .protocol = "OpenAI Responses",
     .key_variable = "OPENAI_API_KEY",
     .url_variable = "OPENAI_BASE_URL",
     .selecting_variable = "OPENAI_API_KEY",
     .default_url = kOpenaiUrl,
     .default_model = "gpt-6.1-sol",
     .dev_model = "gpt-6-luna",
     .as_of = kAsOf,
     .codec = openai_responses},
    {.name = "openai-chat",
     .protocol = "OpenAI Chat Completions",
     .key_variable = "OPENAI_API_KEY",
     .url_variable = "OPENAI_BASE_URL",
     .selecting_variable = "OPENAI_BASE_URL",
     .default_url = kOpenaiUrl,
     .default_model = "gpt-6.1-sol",
     .dev_model = "gpt-6-luna",
     .as_of = kAsOf,
     .codec = openai_chat},
    {.name = "anthropic",
     .protocol = "Anthropic Messages",
     .key_variable = "ANTHROPIC_API_KEY",
     .url_variable = "ANTHROPIC_BASE_URL",
     .selecting_variable = "ANTHROPIC_API_KEY",
     .default_url = "https://api.anthropic.com",
     .default_model = "claude-sonnet-5-5",
     .dev_model = "claude-haiku-5-5",
     .as_of = kAsOf,
     .codec = anthropic},
};

struct Family {
  std::string_view prefix;  // after "claude-"
  std::int64_t max_tokens;
};

// The first match applies. Newer families write at least as much as the last one.
constexpr Family kClaudeFamilies[] = {
    {"3-7-sonnet", 64'000}, {"3-5-", 8'192},        {"3-", 4'096},          {"2", 4'096},
    {"instant", 4'096},     {"opus-4-1", 32'000},   {"opus-4-0", 32'000},   {"opus-4-2", 32'000},
    {"opus-4-5", 64'000},   {"sonnet-4-0", 64'000}, {"sonnet-4-2", 64'000}, {"sonnet-4-5", 64'000},
    {"haiku-4-5", 64'000},  {"opus-4-", 128'000},   {"sonnet-4-", 128'000}, {"opus-4", 32'000},
    {"sonnet-4", 64'000},   {"opus-5", 128'000},    {"sonnet-5", 128'000},  {"haiku-5", 128'000},
    {"fable-", 128'000},    {"mythos-", 128'000},
};
constexpr std::int64_t kUnknownClaude = 64'000;
// For other servers with this protocol, which reject more than their context.
constexpr std::int64_t kUnknownModel = 4'096;

// For testing the behaviour during a long answer.
std::chrono::milliseconds echo_delay() {
  const auto delay = parse_number<std::int64_t>(variable("REPRISE_ECHO_DELAY_MS"));
  return std::chrono::milliseconds(std::max<std::int64_t>(0, delay.value_or(0)));
}

}  // namespace

std::span<const ProviderKind> provider_kinds() {
  return kKinds;
}

const ProviderKind* find_provider_kind(std::string_view name) {
  const auto* const found = std::ranges::find(kKinds, name, &ProviderKind::name);
  return found == std::end(kKinds) ? nullptr : found;
}

namespace provider {

// Clouds and routers use variants of the names: "us.anthropic.claude-opus-4-5-v1:0",
// "anthropic/claude-3.7-sonnet".
std::int64_t anthropic_max_tokens(std::string_view model) {
  constexpr std::string_view kClaude = "claude-";
  std::string name = ascii_lower(model);
  const auto at = name.rfind(kClaude);
  if (at == std::string::npos) {
    return kUnknownModel;
  }
  name.erase(0, at + kClaude.size());
  std::ranges::replace(name, '.', '-');
  const auto* const family = std::ranges::find_if(
      kClaudeFamilies, [&](const Family& known) { return name.starts_with(known.prefix); });
  return family == std::end(kClaudeFamilies) ? kUnknownClaude : family->max_tokens;
}

bool is_openai(std::string_view base_url) {
  const std::string host = ascii_lower(http::host_of(base_url.empty() ? kOpenaiUrl : base_url));
  return host == "api.openai.com" || host.ends_with(".api.openai.com");
}

std::string kind_names() {
  return joined(kKinds, &ProviderKind::name);
}

bool provider_accepts(std::string_view name, std::string_view option) {
  const ProviderKind* const kind = find_provider_kind(name);
  return kind == nullptr || kind->codec == nullptr ||
         supports_option(kind->codec({})->option_encodings(), option);
}

}  // namespace provider

Result<std::unique_ptr<Provider>> make_provider(std::string_view name, ProviderOptions options) {
  const ProviderKind* const kind = find_provider_kind(name);
  if (kind == nullptr) {
    return fail(Code::invalid_argument,
                cat("unknown provider ", name, "; available: ", provider::kind_names()));
  }
  if (kind->codec == nullptr) {
    return make_echo_provider(echo_delay());
  }
  if (name.starts_with("openai-") && options.base_url.empty()) {
    options.base_url = variable(std::string(kind->url_variable).c_str());
  }
  auto codec = kind->codec(options);
  return provider::make_http_provider(
      std::move(codec), std::move(options),
      provider::Dependencies{.transport = http::make_curl_transport()});
}

std::jthread preload_http() {
  return http::preload_curl();
}

}  // namespace reprise
