#include "cli/settings/config_requests.h"

#include <sstream>

#include "base/json_write.h"
#include "base/text.h"
#include "cli/settings/config_values.h"
#include "cli/settings/settings.h"
#include "provider/request_options.h"
#include "reprise/provider.h"

namespace reprise::cli {
namespace {

// As JSON, on one line.
void append_json(std::string& out, const toml::node& node) {
  if (const toml::table* const table = node.as_table(); table != nullptr) {
    json::ObjectWriter object(out);
    for (const auto& [key, value] : *table) {
      object.key(key.str());
      append_json(out, value);
    }
    object.close();
  } else if (const toml::array* const array = node.as_array(); array != nullptr) {
    json::ArrayWriter items(out);
    for (const toml::node& item : *array) {
      items.item();
      append_json(out, item);
    }
    items.close();
  } else if (const auto text = node.value_exact<std::string>()) {
    json::append_string(out, *text);
  } else {
    std::ostringstream spelled;  // numbers and truths read the same; dates become no JSON
    spelled << toml::default_formatter(node);
    out += std::move(spelled).str();
  }
}

}  // namespace

Result<> ConfigRequests::option(const toml::node& node, const std::string& name,
                                std::string_view option, RequestOptions& out) {
  const auto text = node.value_exact<std::string>();
  const auto* const known = provider::find_request_option(option);
  const bool takes_text =
      std::holds_alternative<std::string RequestOptions::*>(known->slot) ||
      std::holds_alternative<std::vector<std::string> RequestOptions::*>(known->slot);
  std::string value = text.value_or("");
  if (!text) {
    append_json(value, node);
  }
  const auto taken =
      text.has_value() && !takes_text
          ? Result<>(fail(Code::invalid_argument, cat(option, " must not be a string")))
          : provider::set_option(out, option, value);
  if (!taken) {
    return fail(Code::invalid_argument,
                cat(values_.at(node.source()), ": ", taken.error().message));
  }
  values_.came_from(name);
  return {};
}

Result<> ConfigRequests::headers(const toml::node& node, const std::string& name,
                                 RequestSettings& out) {
  const toml::table* const table = node.as_table();
  if (table == nullptr) {
    return values_.wrong(node, name, "a table of strings");
  }
  for (const auto& [key, value] : *table) {
    const auto text = value.value_exact<std::string>();
    if (!text) {
      return values_.wrong(value, cat(name, ".", key.str()), "a string");
    }
    out.headers.insert_or_assign(std::string(key.str()), *text);
  }
  values_.came_from(name);
  return {};
}

Result<> ConfigRequests::extra(const toml::node& node, const std::string& name,
                               RequestSettings& out) {
  std::string text;
  append_json(text, node);
  auto json = RawJson::parse(std::move(text));
  if (!node.is_table() || !json) {
    return values_.wrong(node, name, "a table without dates and infinite numbers");
  }
  out.extra = *std::move(json);
  values_.came_from(name);
  return {};
}

// What goes into requests. Returns whether the key was of that kind.
Result<bool> ConfigRequests::take(const toml::key& key, const toml::node& node,
                                  const std::string& provider, const std::string& prefix) {
  const std::string name = cat(prefix, key.str());
  const bool is_option = provider::find_request_option(key.str()) != nullptr;
  const bool is_addition =
      !provider.empty() && (key == "auth" || key == "headers" || key == "extra");
  if (!is_option && !is_addition) {
    return false;
  }
  // A tier costs money, and a cache key tells others apart; the rest is the model's business.
  const bool is_harmless = is_option && key != "service_tier" && key != "prompt_cache_key";
  if (!values_.allowed(key, is_harmless ? Reach::anyone : Reach::trusted, name)) {
    return true;
  }
  RequestSettings& out = values_.settings().requests[provider];
  if (is_option) {
    REPRISE_TRY(option(node, name, key.str(), out.options));
  } else if (key == "auth") {
    REPRISE_TRY(values_.text(node, name, out.auth));
  } else {
    REPRISE_TRY(key == "headers" ? headers(node, name, out) : extra(node, name, out));
  }
  return true;
}

}  // namespace reprise::cli
