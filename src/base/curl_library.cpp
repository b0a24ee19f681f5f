#include "base/curl_library.h"

#include <curl/curl.h>

#include <memory>

#include "base/late_library.h"
#include "base/text.h"
#include "reprise/error.h"

namespace reprise::http {
namespace {

Result<std::unique_ptr<CurlLibrary>> load() {
  REPRISE_ASSIGN(
      const LateLibrary library,
      LateLibrary::load("libcurl (package libcurl4)", {"libcurl.so.4", "libcurl-gnutls.so.4"}));
  auto curl = std::make_unique<CurlLibrary>();
  LateBinder bind(library);
  decltype(&curl_global_init) global_init = nullptr;
  bind(global_init, "curl_global_init");
  bind(curl->easy_init, "curl_easy_init");
  bind(curl->easy_cleanup, "curl_easy_cleanup");
  bind(curl->easy_setopt, "curl_easy_setopt");
  bind(curl->easy_getinfo, "curl_easy_getinfo");
  bind(curl->easy_strerror, "curl_easy_strerror");
  bind(curl->multi_init, "curl_multi_init");
  bind(curl->multi_cleanup, "curl_multi_cleanup");
  bind(curl->multi_add_handle, "curl_multi_add_handle");
  bind(curl->multi_remove_handle, "curl_multi_remove_handle");
  bind(curl->multi_perform, "curl_multi_perform");
  bind(curl->multi_poll, "curl_multi_poll");
  bind(curl->multi_wakeup, "curl_multi_wakeup");
  bind(curl->multi_info_read, "curl_multi_info_read");
  bind(curl->slist_append, "curl_slist_append");
  bind(curl->slist_free_all, "curl_slist_free_all");
  REPRISE_TRY(bind.outcome());
  if (const CURLcode code = global_init(CURL_GLOBAL_DEFAULT); code != CURLE_OK) {
    return fail(Code::unsupported, cat("libcurl cannot start: ", curl->easy_strerror(code)));
  }
  return curl;
}

}  // namespace

Result<const CurlLibrary*> curl_library() {
  // Never destroyed: a thread may still use it while the process ends.
  static const auto* const loaded = new Result<std::unique_ptr<CurlLibrary>>(load());
  if (!*loaded) {
    return std::unexpected(loaded->error());
  }
  return loaded->value().get();
}

}  // namespace reprise::http
