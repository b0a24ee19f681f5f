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
  decltype(&curl_global_init) global_init = nullptr;
  REPRISE_TRY(library.bind(global_init, "curl_global_init"));
  REPRISE_TRY(library.bind(curl->easy_init, "curl_easy_init"));
  REPRISE_TRY(library.bind(curl->easy_cleanup, "curl_easy_cleanup"));
  REPRISE_TRY(library.bind(curl->easy_setopt, "curl_easy_setopt"));
  REPRISE_TRY(library.bind(curl->easy_getinfo, "curl_easy_getinfo"));
  REPRISE_TRY(library.bind(curl->easy_strerror, "curl_easy_strerror"));
  REPRISE_TRY(library.bind(curl->multi_init, "curl_multi_init"));
  REPRISE_TRY(library.bind(curl->multi_cleanup, "curl_multi_cleanup"));
  REPRISE_TRY(library.bind(curl->multi_add_handle, "curl_multi_add_handle"));
  REPRISE_TRY(library.bind(curl->multi_remove_handle, "curl_multi_remove_handle"));
  REPRISE_TRY(library.bind(curl->multi_perform, "curl_multi_perform"));
  REPRISE_TRY(library.bind(curl->multi_poll, "curl_multi_poll"));
  REPRISE_TRY(library.bind(curl->multi_wakeup, "curl_multi_wakeup"));
  REPRISE_TRY(library.bind(curl->multi_info_read, "curl_multi_info_read"));
  REPRISE_TRY(library.bind(curl->slist_append, "curl_slist_append"));
  REPRISE_TRY(library.bind(curl->slist_free_all, "curl_slist_free_all"));
  if (const CURLcode code = global_init(CURL_GLOBAL_DEFAULT); code != CURLE_OK) {
    return fail(Code::unsupported, cat("libcurl cannot start: ", curl->easy_strerror(code)));
  }
  return curl;
}

}  // namespace

Result<const CurlLibrary*> curl_library() {
  // Never destroyed: a thread may still use it while the process ends.
  static const auto* const kLoaded = new Result<std::unique_ptr<CurlLibrary>>(load());
  if (!*kLoaded) {
    return std::unexpected(kLoaded->error());
  }
  return kLoaded->value().get();
}

}  // namespace reprise::http
