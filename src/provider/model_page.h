#pragma once

// Asking a server for its models.

#include "base/http.h"
#include "provider/model_list.h"
#include "provider/refusal.h"
#include "reprise/provider.h"

namespace reprise::provider {

// timeout when the page is not there by then, unsupported from a server that lists none.
Result<ModelPage> fetch_model_page(http::Transport& transport, const http::Request& sent,
                                   std::chrono::steady_clock::time_point deadline,
                                   const Recipient& recipient, const std::stop_token& stop);

// The error with the models that may have been meant.
Error with_names_near(Error error, std::string_view model, const std::vector<ModelInfo>& offered);

}  // namespace reprise::provider
