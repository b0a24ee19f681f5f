#include "killed.h"

#include <memory>

#include "life.h"
#include "reprise/store.h"
#include "trial.h"

namespace reprise::rel {

Killed run_to_death(const LifeStep& step,
                    const std::function<Result<std::unique_ptr<Store>>()>& open) {
  constexpr std::string_view kDone = "done";
  const Ended ended = in_process([&](const Say& say) -> std::string {
    const auto store = open();
    const auto done = store ? step.run(**store) : Result<>(std::unexpected(store.error()));
    if (!done) {
      return done.error().message;
    }
    say(kDone);
    return "";
  });
  const bool is_done = ended.output == kDone;
  return {is_done, ended.fault + (is_done ? "" : ended.output)};
}

}  // namespace reprise::rel
