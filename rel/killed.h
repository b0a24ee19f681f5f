#pragma once

// A step of a life in a process of its own, which something kills on the way.

#include <memory>

#include "life.h"
#include "reprise/store.h"

namespace reprise::rel {

struct Killed {
  bool is_done = false;  // the step had returned before
  std::string fault;     // it failed, or ended in a way no trial may; "" when it did not
};

// `open` is called in that process, and sees to it that the process dies.
Killed run_to_death(const LifeStep& step,
                    const std::function<Result<std::unique_ptr<Store>>()>& open);

}  // namespace reprise::rel
