#pragma once

// The settings of one file that go into requests, at its top or in [providers.NAME].

#include "cli/settings/config_values.h"
#include "cli/settings/settings.h"
#include "reprise/provider.h"

namespace reprise::cli {

class ConfigRequests {
 public:
  // `values` must outlive it.
  explicit ConfigRequests(ConfigValues& values) : values_(values) {}

  // Returns whether the key was of that kind. `provider`: of the table, "" at the top.
  Result<bool> take(const toml::key& key, const toml::node& node, const std::string& provider,
                    const std::string& prefix);

 private:
  Result<> option(const toml::node& node, const std::string& name, std::string_view option,
                  RequestOptions& out);
  Result<> headers(const toml::node& node, const std::string& name, RequestSettings& out);
  Result<> extra(const toml::node& node, const std::string& name, RequestSettings& out);

  ConfigValues& values_;
};

}  // namespace reprise::cli
