#include <algorithm>

#include "base/curl_transport.h"
#include "base/text.h"
#include "base/variable.h"
#include "provider/codec.h"
#include "provider/http_provider.h"
#include "provider/kinds.h"

namespace reprise {
namespace {

// For testing the behaviour during a long answer.
std::chrono::milliseconds echo_delay() {
  const auto delay = parse_number<std::int64_t>(variable("REPRISE_ECHO_DELAY_MS"));
  return std::chrono::milliseconds(std::max<std::int64_t>(0, delay.value_or(0)));
}

}  // namespace

bool provider::provider_accepts(std::string_view name, std::string_view option) {
  const ProviderKind* const kind = find_provider_kind(name);
  return kind == nullptr || kind->codec == nullptr ||
         can_spell(kind->codec({})->spellings(), option);
}

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
