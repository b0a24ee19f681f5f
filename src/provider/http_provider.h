#pragma once

// The one driver of all providers that are reached by HTTP: sends, reads, tries again, and says
// what went wrong. What differs between them is their codec.

#include "provider/codec.h"
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

}  // namespace reprise::provider
