#pragma once

// A trial runs in a separate process, to isolate its failures.

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/testing/temporary_folder.h"

namespace reprise::rel {

struct Ended {
  std::string output;   // everything that the trial printed, and its return value if it returned
  bool killed = false;  // by SIGKILL
  std::string fault;    // an unexpected end: "signal 11"…; "" if there was none
};

// The output of a trial that has completed its step.
inline constexpr std::string_view kDone = "done";

using Print = std::function<void(std::string_view)>;

// Runs `trial` in a forked process until it returns, dies, or reaches the limit. Its output up to a
// kill is complete.
Ended in_process(const std::function<std::string(const Print& print)>& trial,
                 std::chrono::seconds limit = std::chrono::seconds(20));

// Replaces `to` by a copy of the folder `from`.
void copy_folder(const std::filesystem::path& from, const std::filesystem::path& to);

// A temporary folder, in memory if possible; removed by the destructor.
class WorkFolder : public test::TemporaryFolder {
 public:
  WorkFolder();
};

}  // namespace reprise::rel
