#include "base/spawn.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/file.h"

namespace reprise {
namespace {

class SpawnSetup {
 public:
  SpawnSetup() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
  }
  ~SpawnSetup() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  // These return 0 or an errno.
  int set_files(const ShellCommand& command) {
    int failed = 0;
    if (!command.folder.empty()) {
      failed = ::posix_spawn_file_actions_addchdir_np(&actions_, command.folder.c_str());
    }
    if (failed == 0 && command.input >= 0) {
      failed = ::posix_spawn_file_actions_adddup2(&actions_, command.input, STDIN_FILENO);
    }
    if (failed == 0 && command.output >= 0) {
      failed = ::posix_spawn_file_actions_adddup2(&actions_, command.output, STDOUT_FILENO);
    }
    return failed;
  }

  int set_signals(bool is_group_leader) {
    sigset_t signals;
    sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    for (const int signal : {SIGINT, SIGQUIT, SIGPIPE, SIGXFSZ}) {
      sigaddset(&signals, signal);
    }
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
    const int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                      (is_group_leader ? POSIX_SPAWN_SETPGROUP : 0);
    return ::posix_spawnattr_setflags(&attributes_, static_cast<short>(flags));
  }

  int spawn(pid_t& pid, const ShellCommand& command) {
    std::array<std::string, 5> words = {"sh", "-c", command.line, "sh", command.argument};
    std::array<char*, 6> arguments{};
    for (std::size_t i = 0; i < words.size(); ++i) {
      arguments.at(i) = words.at(i).data();
    }
    return ::posix_spawn(&pid, "/bin/sh", &actions_, &attributes_, arguments.data(), environ);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

Result<pid_t> start_shell(const ShellCommand& command) {
  SpawnSetup setup;
  int failed = setup.set_files(command);
  if (failed == 0) {
    failed = setup.set_signals(command.is_group_leader);
  }
  pid_t pid = 0;
  if (failed == 0) {
    failed = setup.spawn(pid, command);
  }
  if (failed != 0) {
    return std::unexpected(command.folder.empty()
                               ? os_error("start", "/bin/sh", failed)
                               : os_error("run a command in", command.folder, failed));
  }
  return pid;
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace reprise
