// reprise-fake-provider: the test server as a program.

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "fake_provider/fake_provider.h"

namespace reprise::fake {
namespace {

constexpr std::string_view kUsage =
    "usage: reprise-fake-provider [--port N] [--key K] [--script FILE] [--seed N] [--until-eof]\n"
    "A model server for trials: speaks openai-chat, openai-responses and anthropic.\n"
    "Ends on SIGTERM or SIGINT; with --until-eof also when its standard input ends.\n";

struct Settings {
  FakeOptions options;
  std::string script;
  bool until_eof = false;
  bool help = false;
};

template <class Number>
Result<Number> parse_number(std::string_view text) {
  Number out = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (code != std::errc{} || end != text.data() + text.size()) {
    return fail(Code::invalid_argument, cat("not a number: ", text));
  }
  return out;
}

Result<Settings> parse_arguments(const std::vector<std::string_view>& arguments) {
  Settings out;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view name = arguments[i];
    if (name == "--until-eof" || name == "--help") {
      (name == "--help" ? out.help : out.until_eof) = true;
      continue;
    }
    if (i + 1 == arguments.size()) {
      return fail(Code::invalid_argument, cat("unknown, or without its value: ", name));
    }
    const std::string_view value = arguments[++i];
    if (name == "--port") {
      REPRISE_ASSIGN(out.options.port, parse_number<std::uint16_t>(value));
    } else if (name == "--seed") {
      REPRISE_ASSIGN(out.options.seed, parse_number<std::uint64_t>(value));
    } else if (name == "--key") {
      out.options.key = value;
    } else if (name == "--script") {
      out.script = value;
    } else {
      return fail(Code::invalid_argument, cat("unknown option: ", name));
    }
  }
  return out;
}

Result<> load_script(FakeProvider& server, const std::string& file) {
  REPRISE_ASSIGN(const std::string text, read_file(file));
  std::string_view rest = text;
  for (int number = 1; !rest.empty(); ++number) {
    const auto end = rest.find('\n');
    if (const auto added = server.add_rule(rest.substr(0, end)); !added) {
      return fail_with_context(cat(file, ": line ", number), added.error());
    }
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  }
  return {};
}

void end_with_input() {
  std::array<char, 4096> ignored;
  ssize_t got = 0;
  do {
    got = ::read(STDIN_FILENO, ignored.data(), ignored.size());
  } while (got > 0 || (got < 0 && errno == EINTR));
  ::kill(::getpid(), SIGTERM);
}

Result<> run(const std::vector<std::string_view>& arguments) {
  REPRISE_ASSIGN(const Settings settings, parse_arguments(arguments));
  if (settings.help) {
    return write_all(STDOUT_FILENO, kUsage, "standard output");
  }
  sigset_t ends;
  ::sigemptyset(&ends);
  ::sigaddset(&ends, SIGTERM);
  ::sigaddset(&ends, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);  // before the first thread starts
  REPRISE_ASSIGN(const auto server, FakeProvider::start(settings.options));
  if (!settings.script.empty()) {
    REPRISE_TRY(load_script(*server, settings.script));
  }
  REPRISE_TRY(
      write_all(STDOUT_FILENO, cat("listening on ", server->url(), "\n"), "standard output"));
  if (settings.until_eof) {
    std::thread(end_with_input).detach();
  }
  int signal = 0;
  ::sigwait(&ends, &signal);
  return {};
}

}  // namespace
}  // namespace reprise::fake

int main(int argc, char** argv) {
  const auto done = reprise::fake::run({argv + 1, argv + argc});
  if (!done) {
    const std::string line = reprise::cat("reprise-fake-provider: ", done.error().message, "\n");
    (void)std::fputs(line.c_str(), stderr);  // nothing else can be done
    return done.error().code == reprise::Code::invalid_argument ? 64 : 1;
  }
  return 0;
}
