#pragma once

// The one driver of all providers that are reached by HTTP: sends, reads, tries again, and says
// what went wrong. What differs between them is their codec.

#include "provider/codec.h"
#include "provider/model_list.h"
#include "provider/refusal.h"
#include "provider/retry.h"
#include "reprise/environment.h"

namespace reprise::provider {

// The outside world. What the references name must outlive the provider.
struct Dependencies {
  std::unique_ptr<http::Transport> transport;
  Sleeper sleeper = sleep_for;
  Clock& clock = system_clock();
  Entropy& entropy = system_entropy();
};

// invalid_argument for a base URL or key that cannot be sent.
Result<std::unique_ptr<Provider>> make_http_provider(std::unique_ptr<Codec> codec,
                                                     ProviderOptions options,
                                                     Dependencies dependencies);

// All of a request but its body.
http::Request request_head(const Codec& codec, const ProviderOptions& options,
                           const Request& request, std::string_view api_key);

// As a dry run shows it: what a person adds is masked where it may be a secret.
std::string spell(const http::Request& sent, const ProviderOptions& options);

// Fills in the base URL. invalid_argument for what would end in a wrong request.
Result<> check_options(const ProviderKind& kind, ProviderOptions& options);

// timeout when the page is not there by then, unsupported from a server that lists none.
Result<ModelPage> fetch_model_page(http::Transport& transport, const http::Request& sent,
                                   std::chrono::steady_clock::time_point deadline,
                                   const Recipient& recipient, const std::stop_token& stop);

// The error with the models that may have been meant.
Error with_names_near(Error error, std::string_view model, const std::vector<ModelInfo>& offered);

}  // namespace reprise::provider
