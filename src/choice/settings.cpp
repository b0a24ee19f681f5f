#include "choice/settings.h"

namespace reprise {

ProviderSettings Settings::any() const {
  ProviderSettings out;
  for (const TopSettings& top : tops) {
    for (const auto slot :
         {&ProviderSettings::base_url, &ProviderSettings::model, &ProviderSettings::dev_model,
          &ProviderSettings::env_key, &ProviderSettings::key_command}) {
      if (top.own.*slot) {
        out.*slot = top.own.*slot;
      }
    }
  }
  return out;
}

bool Settings::is_untrusted(std::string_view key) const {
  const auto from = origin.find(key);
  return !untrusted_file.empty() && from != origin.end() && from->second == untrusted_file;
}

}  // namespace reprise
