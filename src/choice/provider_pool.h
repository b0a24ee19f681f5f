#pragma once

// The providers of a process that serves several conversations.

#include <map>     // IWYU pragma: export
#include <memory>  // IWYU pragma: export
#include <mutex>   // IWYU pragma: export

#include "choice/candidates.h"  // IWYU pragma: export

namespace reprise::choice {

// Makes each provider once, when it is first asked for. Thread-safe; a key command that takes long
// makes only those wait who want the same provider.
class ProviderPool {
 public:
  // The settings, and what the functions use, must outlive it; several threads call the functions.
  // Of `wanted`, what is for all providers.
  explicit ProviderPool(Sources from, Wanted wanted = {});

  // `name` as for --provider, "" for the usual provider. The errors are those of resolve(); they
  // are not kept. `model` is the one of the first request; "" if that is not known.
  Result<std::shared_ptr<Provider>> get(std::string_view name, std::string_view model);

  // The names that get() accepts: kinds, well-known servers, and tables of the settings.
  std::vector<std::string> names() const;

 private:
  struct Entry {
    std::mutex mutex;
    std::shared_ptr<Provider> provider;  // null until it is made
  };

  Sources from_;
  Wanted wanted_;
  std::mutex mutex_;  // of the map
  std::map<std::string, std::shared_ptr<Entry>, std::less<>> entries_;
};

}  // namespace reprise::choice
