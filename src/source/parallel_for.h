#pragma once

// Work on the files of a location in several threads: parsing takes longer than reading.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <thread>
#include <vector>

namespace reprise::source {

inline constexpr std::size_t kThreadsMax = 4;

// Calls work(i) for each i < count, in a thread for each processor, at most kThreadsMax, but not
// for less than `per_thread` calls each. Returns when all are done; `work` must not throw.
template <class Work>
void parallel_for(std::size_t count, std::size_t per_thread, const Work& work) {
  std::atomic<std::size_t> next = 0;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      work(i);
    }
  };
  std::size_t wanted = std::min(kThreadsMax, count / per_thread);
  if (wanted > 1) {  // counting the processors takes longer than listing a small folder
    wanted = std::min<std::size_t>(wanted, std::thread::hardware_concurrency());
  }
  std::vector<std::future<void>> threads;
  for (std::size_t i = 1; i < wanted; ++i) {
    // Deferred where no thread can be created.
    threads.push_back(std::async(std::launch::async | std::launch::deferred, run));
  }
  run();
  for (std::future<void>& thread : threads) {
    thread.get();
  }
}

}  // namespace reprise::source
