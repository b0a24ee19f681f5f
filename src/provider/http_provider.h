#pragma once

// The driver of all providers that use HTTP: sends, reads, retries, and reports errors. Their
// differences are in their codecs.

#include "provider/codec.h"
#include "provider/model_list.h"
#include "provider/refusal.h"
#include "provider/retry.h"
#include "reprise/environment.h"

namespace reprise::provider {

// External dependencies. Referenced objects must outlive the provider.
struct Dependencies {
  std::unique_ptr<http::Transport> transport;
  Sleeper sleeper = sleep_for;
  Clock& clock = system_clock();
  Entropy& entropy = system_entropy();
};

// invalid_argument for an invalid base URL or key.
Result<std::unique_ptr<Provider>> make_http_provider(std::unique_ptr<Codec> codec,
                                                     ProviderOptions options,
                                                     Dependencies dependencies);

// The request without its body.
http::Request request_head(const Codec& codec, const ProviderOptions& options,
                           const Request& request, std::string_view api_key);

// The text of a dry run: user-defined values that may be secret are masked.
std::string format_request(const http::Request& sent, const ProviderOptions& options);

// Sets the default base URL. invalid_argument for options that would make an invalid request.
Result<> check_options(const ProviderKind& kind, ProviderOptions& options);

}  // namespace reprise::provider
