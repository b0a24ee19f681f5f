#pragma once

// The real Transport, using libcurl. Proxies are taken from the environment as by libcurl
// (HTTPS_PROXY, NO_PROXY, …), trusted certificates from SSL_CERT_FILE, SSL_CERT_DIR or
// CURL_CA_BUNDLE if set. Connections are reused.

#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "base/http.h"

namespace reprise::http {

// Cheap: libcurl is loaded by the first send().
std::unique_ptr<Transport> make_curl_transport();

// The variable from which libcurl takes the proxy for the URL; "" if none is set.
std::string_view proxy_variable(std::string_view url);

// How an error tells that the proxy wants a password.
std::string proxy_password_advice(std::string_view url);

// Starts loading libcurl in the background. The thread must be joined before main() returns.
[[nodiscard]] std::jthread preload_curl();

}  // namespace reprise::http
