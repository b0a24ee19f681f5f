#include "cli/process/key_command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <stop_token>

#include "base/file.h"
#include "base/spawn.h"
#include "base/text.h"
#include "cli/process/process.h"

namespace reprise::cli {
namespace {

constexpr std::size_t kKeyBytesMax = 16 << 10;
constexpr int kOutputPollMs = 50;  // polling interval of the stop token and of the shell's end
constexpr int kEndPollMs = 2;      // likewise, once the output has ended

// The shell of a key command. The destructor kills it, or its process group if it leads one, unless
// it has ended.
class KeyShell {
 public:
  KeyShell(pid_t pid, bool is_group_leader) : pid_(pid), is_group_leader_(is_group_leader) {}
  ~KeyShell() {
    if (!status_) {
      ::kill(is_group_leader_ ? -pid_ : pid_, SIGKILL);
      (void)wait_for(pid_);  // it was killed
    }
  }
  KeyShell(const KeyShell&) = delete;
  KeyShell& operator=(const KeyShell&) = delete;

  bool has_ended() {
    int status = 0;
    if (!status_ && ::waitpid(pid_, &status, WNOHANG) != 0) {
      status_ = status;
    }
    return status_.has_value();
  }
  // 0 while it is running, or if SIGCHLD is ignored.
  int status() const { return status_.value_or(0); }

 private:
  pid_t pid_;
  bool is_group_leader_;
  std::optional<int> status_;
};

// What the shell writes until it ends; a process that it leaves behind may have the pipe open
// longer. Stops after kKeyBytesMax bytes.
Result<std::string> read_output(KeyShell& shell, int fd, const std::stop_token& stop,
                                std::string_view setting) {
  std::string out;
  bool is_open = true;
  while (out.size() <= kKeyBytesMax) {
    if (stop.stop_requested()) {
      return fail(Code::cancelled, cat(setting, " was stopped"));
    }
    const bool has_ended = shell.has_ended();
    pollfd wait{.fd = is_open ? fd : -1, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&wait, 1, has_ended ? 0 : is_open ? kOutputPollMs : kEndPollMs);
    if (ready > 0) {
      std::array<char, 4096> piece{};
      const ssize_t count = ::read(fd, piece.data(), piece.size());
      is_open = count > 0 || (count < 0 && errno == EINTR);
      out.append(piece.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    } else if (ready == 0 && has_ended) {
      break;
    }
  }
  return out;
}

}  // namespace

Result<std::string> run_key_command(const std::string& command, std::string_view setting) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(Code::io, cat("cannot start ", setting), errno);
  }
  const Fd reading(ends[0]);
  Fd writing(ends[1]);
  const std::stop_token stop = interrupt_token();
  // The command may ask on the terminal, so it leaves the foreground process group only if there is
  // none; and only if a stop request will kill it, as the signals of this group do not reach it.
  const bool has_group =
      stop.stop_possible() && !Fd(::open("/dev/tty", O_RDWR | O_CLOEXEC)).is_open();
  REPRISE_ASSIGN(
      const pid_t pid,
      start_shell({.line = command, .output = writing.get(), .is_group_leader = has_group}));
  KeyShell shell(pid, has_group);
  writing = Fd();
  REPRISE_ASSIGN(const std::string out, read_output(shell, reading.get(), stop, setting));
  const bool is_read = out.size() <= kKeyBytesMax;
  if (const int status = shell.status(); is_read && status > 0) {
    return fail(Code::unauthorized, cat(setting, " ended with ",
                                        WIFEXITED(status) ? cat("exit code ", WEXITSTATUS(status))
                                                          : cat("signal ", WTERMSIG(status)),
                                        "; run it in a shell to see why"));
  }
  std::string key(trimmed(out));
  if (key.empty() || !is_read || key.contains('\n')) {
    return fail(Code::unauthorized,
                cat(setting, " must print the key as one line, and nothing else"));
  }
  return key;
}

}  // namespace reprise::cli
