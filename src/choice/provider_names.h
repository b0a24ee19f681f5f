#pragma once

// The names of providers: a kind of provider, a well-known server with the protocol of one, or a
// [providers.NAME] of the settings with a base_url.

#include <vector>  // IWYU pragma: export

#include "choice/settings.h"   // IWYU pragma: export
#include "reprise/provider.h"  // IWYU pragma: export

namespace reprise {

// The kind whose protocol other servers use.
inline constexpr std::string_view kCompatibleKind = "openai-chat";

struct NamedProvider {
  const ProviderKind* kind;  // determines the protocol
  std::string name;          // as in [providers.NAME]
  std::string default_url;   // "" if it has no server of its own
  std::string key_variable;  // usually has its key; "" for none
  bool is_kind() const { return name == kind->name; }
};

// nullopt for an unknown name.
std::optional<NamedProvider> find_provider(const Settings& settings, std::string_view name);

// The well-known server at a URL, if it uses this protocol.
std::optional<NamedProvider> find_provider_at(const ProviderKind& kind, std::string_view url);

// The error for an unknown name, which lists the known ones. `from` is where it was set; "" for
// nowhere.
std::string unknown_provider(std::string_view name, std::string_view from = {});

// Kinds and well-known servers, for help and completions.
std::vector<std::string_view> provider_names();

// The variables with the keys of the kinds of providers: "A or B".
std::string key_variables(std::string_view between);

// The provider of a model, guessed from its name; "" if unknown.
std::string_view provider_of_model(std::string_view model);

}  // namespace reprise
