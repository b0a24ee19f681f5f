// The parts of a context, which are made in this order: each uses those before it.
#include "cli/program/context.h"

#include "base/place.h"
#include "cli/program/store_opener.h"
#include "cli/settings/program_config.h"
#include "reprise/source.h"

namespace reprise::cli {

Context::Context(const Globals& globals, const ProcessEnvironment& environment, Output& out,
                 Output& err)
    : globals_(globals),
      environment_(environment),
      console_(globals, out, err),
      config_(std::make_unique<ProgramConfig>(globals, environment, console_)),
      stores_(std::make_unique<StoreOpener>(*config_, console_)) {}

Context::Context(Context& parent, std::filesystem::path folder, bool same_store)
    : globals_(parent.globals_),
      environment_(parent.environment_),
      console_(&parent.console_),
      config_(std::make_unique<ProgramConfig>(*parent.config_, std::move(folder), same_store,
                                              console_)),
      stores_(std::make_unique<StoreOpener>(*parent.stores_, *config_, console_)) {}

Context::~Context() = default;

bool Context::is_coloured(bool is_terminal) const {
  const auto& when = globals_.color;
  if (globals_.no_color || when == "never") {
    return false;
  }
  return when == "always" || (is_terminal && !environment_.find("NO_COLOR") &&
                              environment_.find("TERM").value_or("dumb") != "dumb");
}

std::unique_ptr<Context> context_in(Context& parent, const std::filesystem::path& folder,
                                    bool same_store) {
  ProgramConfig& here = parent.config();
  if (folder.empty() || folder == here.project() ||
      Place(here.working_dir().native()).is_at(folder.native())) {
    return nullptr;
  }
  return std::make_unique<Context>(parent, folder, same_store);
}

void warn_of_damage(Context& context, const std::vector<Damage>& damage) {
  for (const Damage& part : damage) {
    context.console().warn(cat("cannot read ", part.where, ": ", part.reason));
  }
}

}  // namespace reprise::cli
