#pragma once

// The Transport to the real network, by libcurl. Proxies come from the environment as libcurl reads
// it (HTTPS_PROXY, NO_PROXY, …), trusted certificates from SSL_CERT_FILE, SSL_CERT_DIR or
// CURL_CA_BUNDLE where those are set. Connections are kept for the next request.

#include <memory>
#include <thread>

#include "base/http.h"

namespace reprise::http {

// Costs nothing: libcurl is loaded by the first send().
std::unique_ptr<Transport> make_curl_transport();

// Starts loading libcurl in the background. The thread must have ended before main() does.
[[nodiscard]] std::jthread preload_curl();

}  // namespace reprise::http
