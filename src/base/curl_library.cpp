#include "base/curl_library.h"

#include <curl/curl.h>

#include "base/dynamic_library.h"
#include "base/text.h"
#include "reprise/error.h"

namespace reprise::http {
namespace {

Result<const CurlLibrary*> load() {
  REPRISE_ASSIGN(const CurlLibrary* const curl,
                 load_library<CurlLibrary>("libcurl (package libcurl4)",
                                           {"libcurl.so.4", "libcurl-gnutls.so.4"}));
  if (const CURLcode code = curl->global_init(CURL_GLOBAL_DEFAULT); code != CURLE_OK) {
    return fail(Code::unsupported, cat("libcurl cannot start: ", curl->easy_strerror(code)));
  }
  return curl;
}

}  // namespace

Result<const CurlLibrary*> curl_library() {
  static const auto loaded = load();
  return loaded;
}

}  // namespace reprise::http
