#pragma once

// What every command receives: global flags, settings, store and output.

#include <filesystem>  // IWYU pragma: export

#include "cli/output/output.h"                // IWYU pragma: export
#include "cli/program/arguments.h"            // IWYU pragma: export
#include "cli/program/process_environment.h"  // IWYU pragma: export
#include "cli/program/store_opener.h"         // IWYU pragma: export
#include "cli/program/voice.h"                // IWYU pragma: export
#include "cli/settings/program_config.h"      // IWYU pragma: export
#include "reprise/environment.h"              // IWYU pragma: export

namespace reprise::cli {

class Context {
 public:
  // The arguments must outlive the context.
  Context(const Globals& globals, const ProcessEnvironment& environment, Output& out, Output& err)
      : voice_(globals, out, err),
        config_(globals, environment, voice_),
        stores_(config_, voice_) {}
  // A context for another folder, with the settings of that folder. Uses the parent's store if the
  // settings name the same one, or always with `same_store`. The parent must outlive it, writes its
  // output, and is used by the same thread.
  Context(Context& parent, std::filesystem::path folder, bool same_store)
      : voice_(&parent.voice_),
        config_(parent.config_, std::move(folder), same_store, voice_),
        stores_(parent.stores_, config_, voice_) {}

  const Globals& globals() const { return config_.globals(); }
  const ProcessEnvironment& environment() const { return config_.environment(); }
  Voice& voice() { return voice_; }
  const Voice& voice() const { return voice_; }
  ProgramConfig& config() { return config_; }
  const ProgramConfig& config() const { return config_; }
  StoreOpener& stores() { return stores_; }
  // --color, --no-color or NO_COLOR; by default, `is_terminal`.
  bool is_coloured(bool is_terminal) const {
    const auto& when = globals().color;
    if (globals().no_color || when == "never") {
      return false;
    }
    return when == "always" || (is_terminal && !environment().find("NO_COLOR") &&
                                environment().find("TERM").value_or("dumb") != "dumb");
  }
  Clock& clock() { return clock_; }

 private:
  Voice voice_;
  ProgramConfig config_;
  StoreOpener stores_;
  Clock& clock_ = system_clock();
};

}  // namespace reprise::cli
