#include "engine/command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <optional>

#include "base/file.h"
#include "base/spawn.h"
#include "base/text.h"

namespace reprise {
namespace {

constexpr std::chrono::milliseconds kPollInterval{50};  // polling interval of the stop token
using SteadyClock = std::chrono::steady_clock;

// A started process group. The destructor kills it and reaps its first process, unless that has
// happened before.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  ~Child() {
    if (pid_ > 0) {
      ::kill(-pid_, SIGKILL);
      (void)wait_for(pid_);  // it was killed
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // nullopt while it is running.
  std::optional<int> poll() {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) {
      return std::nullopt;
    }
    ::kill(-pid_, SIGKILL);  // processes left in its group
    pid_ = 0;
    return status;
  }

 private:
  pid_t pid_;
};

struct Reader {
  int fd;
  const CommandOptions& options;
  SteadyClock::time_point deadline = SteadyClock::now() + options.timeout;
  std::string out = {};

  Result<> check() const {
    if (options.stop.stop_requested()) {
      return fail(Code::cancelled, "the command was stopped");
    }
    if (SteadyClock::now() >= deadline) {
      return fail(Code::timeout,
                  cat("the command took longer than ", options.timeout.count() / 1000, " s"));
    }
    return {};
  }

  // False at the end of the output.
  Result<bool> read_some() {
    pollfd wait{.fd = fd, .events = POLLIN, .revents = 0};
    if (::poll(&wait, 1, static_cast<int>(kPollInterval.count())) <= 0) {
      return true;
    }
    std::array<char, 16384> buffer{};
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count < 0) {
      return errno == EINTR ? Result<bool>(true)
                            : fail(Code::io, "cannot read the command's output", errno);
    }
    out.append(buffer.data(), static_cast<std::size_t>(count));
    if (static_cast<std::int64_t>(out.size()) > options.bytes_max) {
      return fail(Code::invalid_argument,
                  cat("the command wrote more than ", options.bytes_max, " bytes"));
    }
    return count > 0;
  }
};

Result<> check_exit(int status) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    return {};
  }
  return fail(Code::io, WIFEXITED(status)
                            ? cat("the command failed with exit code ", WEXITSTATUS(status))
                            : cat("the command was killed by signal ", WTERMSIG(status)));
}

}  // namespace

Result<std::string> run_command(const std::string& line, const CommandOptions& options) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(Code::io, "cannot create a pipe", errno);
  }
  const Fd output(ends[0]);
  Fd writing(ends[1]);
  const Fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!nothing.is_open()) {
    return std::unexpected(os_error("open", "/dev/null", errno));
  }
  REPRISE_ASSIGN(const pid_t pid, start_shell({.line = line,
                                               .folder = options.folder,
                                               .input = nothing.get(),
                                               .output = writing.get(),
                                               .is_group_leader = true}));
  writing = Fd();
  Child child(pid);
  Reader reader{.fd = output.get(), .options = options};
  for (bool has_more = true; has_more;) {
    REPRISE_TRY(reader.check());
    REPRISE_ASSIGN(has_more, reader.read_some());
  }
  for (;;) {  // the command may close stdout before it exits
    if (const auto status = child.poll(); status) {
      REPRISE_TRY(check_exit(*status));
      return std::move(reader.out);
    }
    REPRISE_TRY(reader.check());
    ::poll(nullptr, 0, 2);
  }
}

}  // namespace reprise
