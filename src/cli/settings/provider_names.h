#pragma once

// The names that a provider may be called by: a kind of provider, a well-known server that speaks
// the protocol of one, or a [providers.NAME] of the settings with a base_url.

#include "cli/settings/settings.h"  // IWYU pragma: export
#include "reprise/provider.h"       // IWYU pragma: export

namespace reprise::cli {

struct NamedProvider {
  const ProviderKind* kind;  // how it is talked to
  std::string name;          // of its [providers.NAME]
  std::string own_url;       // its server when nothing else is set; "" for one without
  std::string key_variable;  // where its key usually is; "" for none
  bool is_kind() const { return name == kind->name; }
};

// nullopt for a name there is not.
std::optional<NamedProvider> find_provider(const Settings& settings, std::string_view name);

// The well-known server that a URL reaches, when it speaks this protocol.
std::optional<NamedProvider> find_provider_at(const ProviderKind& kind, std::string_view url);

// Kinds and well-known servers, for help and completions.
std::vector<std::string_view> provider_names();

// The variables in which keys of the kinds of providers are looked for: "A or B".
std::string key_variables(std::string_view between);

// Who has a model of this name, as far as the name tells; "" otherwise.
std::string_view provider_of_model(std::string_view model);

}  // namespace reprise::cli
