#pragma once

// What a provider over HTTP is told: checked once, before anything is sent.

#include "provider/codec.h"

namespace reprise::provider {

// All of a request but its body.
http::Request request_head(const Codec& codec, const ProviderOptions& options,
                           const Request& request, std::string_view api_key);

// As a dry run shows it: what a person adds is masked where it may be a secret.
std::string spell(const http::Request& sent, const ProviderOptions& options);

// Fills in the base URL. invalid_argument for what would end in a wrong request.
Result<> check_options(const ProviderKind& kind, ProviderOptions& options);

}  // namespace reprise::provider
