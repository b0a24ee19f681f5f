#include "choice/provider_pool.h"

#include <algorithm>
#include <utility>

#include "choice/provider_names.h"
#include "choice/resolve.h"

namespace reprise::choice {

ProviderPool::ProviderPool(Sources from, Wanted wanted)
    : from_(std::move(from)), wanted_(std::move(wanted)) {}

Result<std::shared_ptr<Provider>> ProviderPool::get(std::string_view name, std::string_view model) {
  const auto known = find_provider(from_.settings, name);
  std::shared_ptr<Entry> entry;
  {
    const std::lock_guard lock(mutex_);
    auto& slot = entries_[known ? known->name : std::string(name)];  // one for all its names
    if (slot == nullptr) {
      slot = std::make_shared<Entry>();
    }
    entry = slot;
  }
  const std::lock_guard lock(entry->mutex);
  if (entry->provider == nullptr) {
    Wanted wanted = wanted_;
    wanted.model = model;
    if (!name.empty()) {
      wanted.provider = name;
    }
    REPRISE_ASSIGN(ProviderChoice choice, resolve(from_, wanted));
    REPRISE_TRY(apply_sections(from_, wanted, choice));
    REPRISE_ASSIGN(entry->provider,
                   make_provider(choice.kind, provider_options(from_.settings, choice)));
  }
  return entry->provider;
}

std::vector<std::string> ProviderPool::names() const {
  std::vector<std::string> out;
  for (const std::string_view name : provider_names()) {
    out.emplace_back(name);
  }
  for (const auto& [name, section] : from_.settings.providers) {
    const auto own = find_provider(from_.settings, name);
    if (own && std::ranges::find(out, own->name) == out.end()) {
      out.push_back(own->name);
    }
  }
  return out;
}

}  // namespace reprise::choice
