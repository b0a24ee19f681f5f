#include <chrono>
#include <cstddef>
#include <filesystem>
#include <random>
#include <thread>

#include "base/text.h"
#include "life.h"
#include "small_disk.h"
#include "tally.h"
#include "trial.h"
#include "trials.h"
#include "writers.h"

namespace reprise::rel {

Tally cut_real_disks(const Kind& kind, std::size_t rounds) {
  Tally tally;
  std::minstd_rand random(5);
  for (const char* type : {"ext4", "xfs"}) {
    const WorkFolder work;
    const SmallDisk disk(type, work.path(), {.bytes = kXfsBytesMin});
    const std::filesystem::path location = disk.path() / "now";
    begin_named(kind, location);
    for (std::size_t i = 0; i < rounds; ++i) {
      const int round = static_cast<int>(i);
      Writers writers(kind, location, round);
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 200'000));
      // After a real power cut, nothing is acknowledged. Here the writers live a little longer, and
      // a running sync may succeed although its journal does not reach the disk.
      const Acknowledged known = writers.known();
      disk.cut_power();
      writers.kill();
      disk.mount_again();
      tally.add(cat(kind.name, " on ", type, ", cut ", i),
                examine_named(kind, location, round + 1, known));
    }
  }
  return tally;
}

}  // namespace reprise::rel
