#pragma once

// libcurl, loaded by the first request: loading its thirty libraries would take most of the time of
// commands without requests. Private to the HTTP transport.

#include <curl/curl.h>

#include "base/dynamic_library.h"
#include "reprise/error.h"

namespace reprise::http {

struct CurlLibrary : LibraryFunctions {
  LazyFunction<decltype(&curl_global_init)> global_init{*this, "curl_global_init"};
  LazyFunction<decltype(&curl_easy_init)> easy_init{*this, "curl_easy_init"};
  LazyFunction<decltype(&curl_easy_cleanup)> easy_cleanup{*this, "curl_easy_cleanup"};
  LazyFunction<decltype(&curl_easy_setopt)> easy_setopt{*this, "curl_easy_setopt"};
  LazyFunction<decltype(&curl_easy_getinfo)> easy_getinfo{*this, "curl_easy_getinfo"};
  LazyFunction<decltype(&curl_easy_strerror)> easy_strerror{*this, "curl_easy_strerror"};
  LazyFunction<decltype(&curl_multi_init)> multi_init{*this, "curl_multi_init"};
  LazyFunction<decltype(&curl_multi_cleanup)> multi_cleanup{*this, "curl_multi_cleanup"};
  LazyFunction<decltype(&curl_multi_add_handle)> multi_add_handle{*this, "curl_multi_add_handle"};
  LazyFunction<decltype(&curl_multi_remove_handle)> multi_remove_handle{*this,
                                                                        "curl_multi_remove_handle"};
  LazyFunction<decltype(&curl_multi_perform)> multi_perform{*this, "curl_multi_perform"};
  LazyFunction<decltype(&curl_multi_poll)> multi_poll{*this, "curl_multi_poll"};
  LazyFunction<decltype(&curl_multi_wakeup)> multi_wakeup{*this, "curl_multi_wakeup"};
  LazyFunction<decltype(&curl_multi_info_read)> multi_info_read{*this, "curl_multi_info_read"};
  LazyFunction<decltype(&curl_slist_append)> slist_append{*this, "curl_slist_append"};
  LazyFunction<decltype(&curl_slist_free_all)> slist_free_all{*this, "curl_slist_free_all"};
};

// Loaded and initialised by the first call, in any thread; concurrent callers wait for it. Never
// unloaded. unsupported when it is not installed.
Result<const CurlLibrary*> curl_library();

}  // namespace reprise::http
