#pragma once

// Chooses from the candidates.

#include "choice/candidates.h"  // IWYU pragma: export

namespace reprise::choice {

// The provider with its server, key and model. Errors: unauthorized if there is no key or it would
// be sent in clear text, not_found if nothing is set, invalid_argument for an unknown provider or
// if there is no model.
Result<ProviderChoice> resolve(const Sources& from, const Wanted& wanted);

// What a new session would use, as far as settings and variables tell: no key, and the model only
// if the server need not be asked. The name is empty if nothing is set.
Result<ProviderChoice> expected(const Sources& from);

// Whether a request probably goes to a server, judging by the same.
bool expects_server(const Sources& from, const Wanted& wanted);

// The kind's default model, or its cheaper one, if it is offered or the server is the kind's own;
// else the first one.
std::string default_model(const ProviderKind& kind, bool dev, std::string_view base_url,
                          const std::vector<ModelInfo>& offered);

// Of the models that a server offers, the one that would be used.
std::string usual_model(const Sources& from, const Wanted& wanted, const ProviderChoice& choice,
                        const std::vector<ModelInfo>& offered);

// The options of requests, from the sections that are for the chosen server. Their headers, fields
// and way to send the key are added to `choice`, and a warning if some are not for this server.
// unauthorized if a secret among them would be sent in clear text.
Result<RequestOptions> apply_sections(const Sources& from, const Wanted& wanted,
                                      ProviderChoice& choice);

// The options for make_provider().
ProviderOptions provider_options(const Settings& settings, const ProviderChoice& choice);

}  // namespace reprise::choice
