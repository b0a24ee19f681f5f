#pragma once

// A step of a life in a separate process that is killed meanwhile.

#include <memory>

#include "life.h"
#include "reprise/store.h"

namespace reprise::rel {

struct Killed {
  bool is_done = false;  // the step had returned before the kill
  std::string fault;     // the step failed, or the process ended unexpectedly; "" otherwise
};

// `open` is called in that process and must arrange for its death.
Killed run_to_death(const LifeStep& step,
                    const std::function<Result<std::unique_ptr<Store>>()>& open);

}  // namespace reprise::rel
