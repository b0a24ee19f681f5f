#pragma once

// A trial runs in a process of its own, so that what it breaks breaks nothing else.

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace reprise::rel {

struct Ended {
  std::string output;   // all that the trial printed, and what it returned if it came to that
  bool killed = false;  // by SIGKILL
  std::string fault;    // it ended in a way no trial may: "" or "signal 11", "no end after 20 s"…
};

using Say = std::function<void(std::string_view)>;

// Runs `trial` in a forked process until it returns, dies, or the time is over. What it has printed
// counts even if it is killed in the next moment.
Ended in_process(const std::function<std::string(const Say& say)>& trial,
                 std::chrono::seconds limit = std::chrono::seconds(20));

// Makes `to` a copy of the folder `from`; what was in `to` is gone.
void copy_folder(const std::filesystem::path& from, const std::filesystem::path& to);

// A new folder on a file system in memory where there is one; removed at the end.
class WorkFolder {
 public:
  WorkFolder();
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  WorkFolder(WorkFolder&&) = delete;
  WorkFolder& operator=(WorkFolder&&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace reprise::rel
