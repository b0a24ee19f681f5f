#pragma once

// What a session brings along of how it was held: Session::config.

#include "reprise/session.h"

namespace reprise {

// Where a server that is not the provider's own was, so that the session goes back to it. Secrets
// in the URL are not stored: the settings that had it are needed again. "" for the provider's own.
RawJson session_config(std::string_view base_url);

// Some programs write numbers as text; what is no number, or below 0, is not there.
std::optional<double> stored_temperature(const Session& session);
std::optional<std::int64_t> stored_max_tokens(const Session& session);  // 0 is not there either

}  // namespace reprise
