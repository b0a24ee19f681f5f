#pragma once

// Settings stored with a session: Session::config.

#include "reprise/session.h"

namespace reprise {

// Stores the URL of a server that is not the provider's default, so that the session returns to it.
// Secrets in the URL are not stored, and must be in the settings again. "" for the default server.
RawJson session_config(std::string_view base_url);

// Numbers may be stored as text, as some programs do; malformed and negative ones are ignored.
std::optional<double> stored_temperature(const Session& session);
std::optional<std::int64_t> stored_max_tokens(const Session& session);  // ignores 0, too

}  // namespace reprise
