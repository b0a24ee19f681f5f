#include "cli/process/process.h"

#include <langinfo.h>
#include <pwd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <stop_token>
#include <string_view>
#include <utility>

#include "base/encode.h"
#include "base/file.h"
#include "base/text.h"
#include "reprise/error.h"

namespace reprise::cli {
namespace {

constexpr std::size_t kBufferBytes = 32 << 10;
constexpr int kColumnsDefault = 80;

struct InterruptToken {
  std::mutex mutex;
  std::stop_token token;
};

InterruptToken& shared_interrupt_token() {
  static InterruptToken shared;
  return shared;
}

}  // namespace

ProcessEnvironment ProcessEnvironment::read(const char* const* variables) {
  std::map<std::string, std::string, std::less<>> out;
  for (; variables != nullptr && *variables != nullptr; ++variables) {
    const std::string_view pair = *variables;
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos) {
      // Of duplicates, the first one wins, as in getenv(3).
      out.emplace(pair.substr(0, equals), pair.substr(equals + 1));
    }
  }
  if (const auto home = out.find("HOME"); home == out.end() || home->second.empty()) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread runs yet.
    if (const passwd* const user = ::getpwuid(::geteuid());
        user != nullptr && user->pw_dir != nullptr && user->pw_dir[0] == '/') {
      out.insert_or_assign("HOME", user->pw_dir);
    }
  }
  return ProcessEnvironment(std::move(out));
}

std::optional<std::string> ProcessEnvironment::find(std::string_view name) const {
  const auto found = variables_.find(name);
  if (found == variables_.end() || found->second.empty()) {
    return std::nullopt;
  }
  return found->second;
}

Output::Output(int fd, std::string_view name)
    : fd_(fd), name_(name), terminal_(::isatty(fd) == 1) {}

Output::~Output() {
  // A fallback; callers that need the result have called flush().
  (void)flush();
}

void Output::write(std::string_view bytes) {
  if (failed_) {
    return;
  }
  buffer_ += bytes;
  if (buffer_.size() >= kBufferBytes) {
    // Recorded in failed_ and reported by the last flush().
    (void)flush();
  }
}

Result<> Output::flush() {
  if (!failed_ && !buffer_.empty()) {
    if (const auto written = write_all(redirected_ < 0 ? fd_ : redirected_, buffer_, name_);
        !written) {
      failed_ = true;
      failure_ = written.error();
      is_pipe_broken_ = failure_.os_errno == EPIPE;
    }
    buffer_.clear();
  }
  if (failed_) {
    return std::unexpected(failure_);
  }
  return {};
}

void Output::restore() {
  redirected_ = -1;
  if (is_pipe_broken_) {
    is_pipe_broken_ = false;
    failed_ = false;
    failure_ = {};
  }
}

int Output::columns() const {
  winsize size{};
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): how the size of a terminal is asked for.
  if (!terminal_ || ::ioctl(fd_, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    return kColumnsDefault;
  }
  return size.ws_col;
}

std::size_t Output::text_columns() const {
  return is_terminal() ? static_cast<std::size_t>(columns())
                       : std::numeric_limits<std::size_t>::max();
}

std::stop_token interrupt_token() {
  InterruptToken& shared = shared_interrupt_token();
  const std::lock_guard lock(shared.mutex);
  return shared.token;
}

void set_interrupt_token(std::stop_token token) {
  InterruptToken& shared = shared_interrupt_token();
  const std::lock_guard lock(shared.mutex);
  shared.token = std::move(token);
}

void use_utf8_locale() {
  // Only one thread reads the terminal, and our code does not depend on the locale.
  // NOLINTBEGIN(concurrency-mt-unsafe)
  const bool named = std::setlocale(LC_CTYPE, "") != nullptr;
  if (!named || std::string_view(::nl_langinfo(CODESET)) != "UTF-8") {
    // Without this locale either, other letters are shown as escapes.
    (void)std::setlocale(LC_CTYPE, "C.UTF-8");
  }
  // NOLINTEND(concurrency-mt-unsafe)
}

std::string copy_sequence(std::string_view text) {
  return cat("\x1b]52;c;", base64_encode(text), "\a");
}

Exit exit_for(Code code) {
  switch (code) {
    case Code::cancelled:
      return Exit::interrupted;
    case Code::not_found:
    case Code::ambiguous:
    case Code::invalid_argument:
    case Code::conflict:
    case Code::busy:
    case Code::corrupt:
    case Code::unsupported:
    case Code::unauthorized:
    case Code::rate_limited:
    case Code::too_long:
    case Code::expired:
    case Code::timeout:
    case Code::io:
      return Exit::failed;
  }
  return Exit::failed;
}

}  // namespace reprise::cli
