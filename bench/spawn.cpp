#include "spawn.h"

#include <fcntl.h>
#include <spawn.h>         // NOLINT(readability-duplicate-include): the system's
#include <sys/resource.h>  // NOLINT(misc-include-cleaner): rusage
#include <sys/types.h>
#include <sys/wait.h>

#include <string>
#include <vector>

#include "measure.h"

namespace bench {
namespace {

double micros(const timeval& time) {
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
}

}  // namespace

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (const std::string& word : words) {
    out.push_back(const_cast<char*>(word.c_str()));
  }
  out.push_back(nullptr);
  return out;
}

Cost spawn(const std::vector<std::string>& command, const std::vector<std::string>& environment) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  const std::vector<char*> arguments = pointers(command);
  const std::vector<char*> variables = pointers(environment);
  Cost cost;
  cost.begin = Clock::now();
  pid_t pid = 0;
  require(posix_spawn(&pid, command[0].c_str(), &files, nullptr, arguments.data(),
                      variables.data()) == 0,
          "cannot start " + command[0]);
  int status = 0;
  rusage used{};
  require(wait4(pid, &status, 0, &used) == pid, "lost a program");
  cost.wall_us = micros_between(cost.begin, Clock::now());
  posix_spawn_file_actions_destroy(&files);
  if (status != 0) {
    std::string line;
    for (const std::string& word : command) {
      line += word.substr(0, 200) + " ";
    }
    give_up("failed: " + line);
  }
  cost.cpu_us = micros(used.ru_utime) + micros(used.ru_stime);
  cost.peak_kb = static_cast<double>(used.ru_maxrss);
  cost.written_kb = static_cast<double>(used.ru_oublock) / 2;  // blocks of 512 bytes
  return cost;
}

}  // namespace bench
