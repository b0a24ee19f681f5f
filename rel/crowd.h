#pragma once

// Several processes on one session of one store.

#include <cstddef>

#include "history.h"
#include "life.h"

namespace reprise::rel {

// Four writers, all killed at a random moment, `rounds` times: every message that was acknowledged
// is there once, each writer's in its order.
Tally kill_crowds(const Kind& kind, std::size_t rounds);

struct CrowdSize {
  int writers = 8;
  int messages = 1000;  // of each writer
  std::size_t bytes = 200;
};

// Writers as fast as they can, beside readers who must see every list of messages begin with the
// one they saw before. Afterwards all are there once and the store finds no damage.
Tally write_beside_each_other(const Kind& kind, const CrowdSize& size);

// A writer that is stopped (SIGSTOP), at `moments` times, perhaps with the lock in its hand: others
// write, or are told in bounded time that they cannot; readers read. It must happen at least once.
Tally stop_the_holder(const Kind& kind, std::size_t moments);

}  // namespace reprise::rel
