#pragma once

// Several processes using one session of a store.

#include <cstddef>

#include "history.h"
#include "life.h"

namespace reprise::rel {

// Four writers, all killed at a random time, `rounds` times: every acknowledged message exists
// once, those per writer in order.
Tally kill_crowds(const Kind& kind, std::size_t rounds);

struct CrowdSize {
  int writers = 8;
  int messages = 1000;  // per writer
  std::size_t bytes = 200;
};

// Writers at full speed, beside readers that must always see an extension of the previous list of
// messages. Afterwards, all messages exist once, and verify finds no damage.
Tally write_beside_each_other(const Kind& kind, const CrowdSize& size);

// A writer is stopped (SIGSTOP) at `moments` times, possibly holding the lock: others write, or
// fail within bounded time; readers continue. The lock must be held at least once.
Tally stop_the_holder(const Kind& kind, std::size_t moments);

}  // namespace reprise::rel
