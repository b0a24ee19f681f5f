#pragma once

// What every command receives: global flags, settings, store and output.

#include <filesystem>  // IWYU pragma: export
#include <memory>

#include "cli/process/arguments.h"  // IWYU pragma: export
#include "cli/process/console.h"    // IWYU pragma: export
#include "cli/process/process.h"    // IWYU pragma: export
#include "reprise/environment.h"    // IWYU pragma: export

namespace reprise {
struct Damage;
}

namespace reprise::cli {

class ProgramConfig;
class StoreOpener;

class Context {
 public:
  // The arguments must outlive the context.
  Context(const Globals& globals, const ProcessEnvironment& environment, Output& out, Output& err);
  // A context for another folder, with the settings of that folder. Uses the parent's store if the
  // settings name the same one, or always with `same_store`. The parent must outlive it, writes its
  // output, and is used by the same thread.
  Context(Context& parent, std::filesystem::path folder, bool same_store);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Globals& globals() const { return globals_; }
  const ProcessEnvironment& environment() const { return environment_; }
  Console& console() { return console_; }
  const Console& console() const { return console_; }
  ProgramConfig& config() { return *config_; }
  const ProgramConfig& config() const { return *config_; }
  StoreOpener& stores() { return *stores_; }
  // --color, --no-color or NO_COLOR; by default, `is_terminal`.
  bool is_coloured(bool is_terminal) const;
  Clock& clock() { return clock_; }

 private:
  const Globals& globals_;
  const ProcessEnvironment& environment_;
  Console console_;
  std::unique_ptr<ProgramConfig> config_;
  std::unique_ptr<StoreOpener> stores_;
  Clock& clock_ = system_clock();
};

// For a session of another folder; null if that is the context's own, or "".
std::unique_ptr<Context> context_in(Context& parent, const std::filesystem::path& folder,
                                    bool same_store);

// Warns about each damaged part.
void warn_of_damage(Context& context, const std::vector<Damage>& damage);

}  // namespace reprise::cli
