// The options of an HTTP provider, checked before anything is sent.

#include <algorithm>
#include <iterator>

#include "base/json_scan.h"
#include "base/json_view.h"
#include "base/text.h"
#include "base/variable.h"
#include "provider/codec.h"
#include "provider/http_provider.h"
#include "provider/refusal.h"
#include "provider/request_options.h"
#include "provider/secret_mask.h"

namespace reprise::provider {
namespace {

// Ways to send a key, besides the protocol's own.
constexpr std::pair<std::string_view, std::string_view> kKeyHeaders[] = {
    {"bearer", "Authorization"},
    {"x-api-key", "x-api-key"},
    {"api-key", "api-key"},
};

const auto* find_key_header(std::string_view auth) {
  const auto* const found =
      std::ranges::find(kKeyHeaders, auth, [](const auto& header) { return header.first; });
  return found == std::end(kKeyHeaders) ? nullptr : found;
}

bool has_control(std::string_view text) {
  return std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

// A header is one line, and may not replace those that frame the request.
Result<> check_header(std::string_view name, std::string_view value) {
  constexpr std::string_view kReserved[] = {"accept",           "connection", "content-length",
                                            "content-type",     "host",       "expect",
                                            "transfer-encoding"};
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  const bool is_token = !name.empty() && std::ranges::all_of(name, [&](char c) {
    return is_ascii_alnum(c) || kMarks.contains(c);
  });
  if (!is_token) {
    return fail(Code::invalid_argument, "a header's name has invalid characters");
  }
  if (std::ranges::find(kReserved, ascii_lower(name)) != std::end(kReserved)) {
    return fail(Code::invalid_argument, cat("the header ", name, " cannot be set"));
  }
  if (has_control(value)) {
    return fail(Code::invalid_argument,
                cat("the value of the header ", name, " contains control characters"));
  }
  return {};
}

Result<> check_extra(const RawJson& extra) {
  if (extra.is_null()) {
    return {};
  }
  if (!is_json_object(extra.text())) {
    return fail(Code::invalid_argument, "extra must be a JSON object");
  }
  for (const std::string_view name : {"messages", "input", "stream"}) {
    if (!json::find_member(extra.text(), name).empty()) {
      return fail(Code::invalid_argument, cat("extra cannot set ", name));
    }
  }
  return {};
}

// Rejects options that would make an invalid request.
Result<> check_additions(const ProviderOptions& options) {
  if (!options.auth.empty() && find_key_header(options.auth) == nullptr) {
    return fail(Code::invalid_argument, cat("auth must be ", alternatives(auth_names()), ", not '",
                                            one_line(options.auth, options.api_key), "'"));
  }
  if (!options.auth_header.empty()) {
    REPRISE_TRY(check_header(options.auth_header, ""));
  }
  if (!options.path.empty() && !is_request_path(options.path)) {
    return fail(Code::invalid_argument,
                cat("path must begin with / and have no blanks, ? or #, not '",
                    one_line(options.path, options.api_key), "'"));
  }
  for (const auto& [name, value] : options.headers) {
    REPRISE_TRY(check_header(name, value));
  }
  return check_extra(options.extra);
}

bool is_custom(const http::Header& header, const ProviderOptions& options) {
  return std::ranges::any_of(options.headers,
                             [&](const auto& custom) { return custom.first == header.name; });
}

http::Header key_header(const ProviderOptions& options, std::string_view api_key) {
  const std::string_view name =
      options.auth_header.empty() ? find_key_header(options.auth)->second : options.auth_header;
  return {std::string(name), cat(options.auth == "bearer" ? "Bearer " : "", api_key)};
}

}  // namespace

std::vector<std::string_view> auth_names() {
  std::vector<std::string_view> out;
  std::ranges::transform(kKeyHeaders, std::back_inserter(out),
                         [](const auto& header) { return header.first; });
  return out;
}

bool is_header_name(std::string_view text) {
  return check_header(text, "").has_value();
}

// It may not have a query: the base URL may have one, which stands behind it.
bool is_request_path(std::string_view text) {
  return text.starts_with('/') && std::ranges::all_of(text, [](char c) {
           return c > ' ' && c < 0x7F && c != '?' && c != '#';
         });
}

http::Request request_head(const Codec& codec, const ProviderOptions& options,
                           const Request& request, std::string_view api_key) {
  const std::string_view base = options.base_url;
  const std::string_view path =
      options.path.empty() ? codec.path(base.substr(0, base.find_first_of("?#"))) : options.path;
  const bool is_protocols_header = options.auth.empty() && options.auth_header.empty();
  http::Request out{.method = "POST",
                    .url = http::with_path(base, path),
                    .headers = codec.headers(is_protocols_header ? api_key : ""),
                    .connect_timeout = options.connect_timeout,
                    .idle_timeout = options.idle_timeout};
  if (!is_protocols_header && !api_key.empty()) {
    out.headers.push_back(key_header(options, api_key));
  }
  out.headers.push_back({"User-Agent", "reprise"});
  out.headers.push_back({"Content-Type", "application/json"});
  out.headers.push_back({"Accept", request.stream ? "text/event-stream" : "application/json"});
  for (const auto& [name, value] : options.headers) {
    std::erase_if(out.headers, [&](const http::Header& header) {
      return ascii_lower(header.name) == ascii_lower(name);
    });
    out.headers.push_back({name, value});
  }
  return out;
}

std::string format_request(const http::Request& sent, const ProviderOptions& options) {
  std::string out = cat(sent.method, " ", http::masked_url(sent.url), "\n");
  for (const http::Header& header : sent.headers) {
    out += cat(
        header.name, ": ",
        is_custom(header, options) && !header_holds_no_secret(header.name) ? "***" : header.value,
        "\n");
  }
  out += cat("\n", masked(sent.body, secrets_of(options), TextForm::json), "\n");
  return out;
}

Result<> check_options(const ProviderKind& kind, ProviderOptions& options) {
  std::string& url = options.base_url;
  if (url.empty()) {
    url = variable(std::string(kind.url_variable).c_str());
  }
  if (url.empty()) {
    url = kind.default_url;
  }
  url = trimmed(url);
  while (url.ends_with('/')) {
    url.pop_back();
  }
  const std::string scheme = ascii_lower(std::string_view(url).substr(0, url.find("://")));
  if ((scheme != "http" && scheme != "https") || has_control(url) || url.contains(' ')) {
    return fail(Code::invalid_argument,
                cat("the base URL of ", kind.name, " is not an http:// or https:// URL: ",
                    one_line(http::masked_url(url), options.api_key)));
  }
  REPRISE_TRY(check_additions(options));
  options.api_key = trimmed(options.api_key);
  if (has_control(options.api_key)) {
    return fail(Code::invalid_argument,
                cat("the key in ", kind.key_variable, " contains control characters"));
  }
  return {};
}

}  // namespace reprise::provider
