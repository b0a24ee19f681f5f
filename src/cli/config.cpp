#include "cli/config.h"

#include <string>
#include <utility>

#include "cli/process_environment.h"
#include "reprise/error.h"

namespace reprise::cli {
namespace {

void take(const ProcessEnvironment& environment, const char* variable,
          std::optional<std::string>& out) {
  if (auto value = environment.find(variable)) {
    out = *std::move(value);
  }
}

}  // namespace

Result<LoadedSettings> load_settings(const ConfigSources& /*sources*/,
                                     const ProcessEnvironment& environment) {
  LoadedSettings loaded;
  take(environment, "REPRISE_STORE", loaded.settings.store);
  take(environment, "REPRISE_PROVIDER", loaded.settings.provider);
  take(environment, "REPRISE_MODEL", loaded.settings.any.model);
  return loaded;
}

}  // namespace reprise::cli
