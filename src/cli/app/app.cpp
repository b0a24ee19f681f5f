#include "cli/app/app.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <iterator>

#include "cli/app/event_queue.h"
#include "cli/app/render.h"
#include "cli/app/session_worker.h"
#include "cli/app/terminal.h"
#include "cli/app/update.h"
#include "cli/output/session_json.h"
#include "cli/process/user_programs.h"
#include "cli/program/interrupts.h"
#include "cli/program/store_opener.h"
#include "cli/repl/menu.h"

namespace reprise::cli::app {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Minimum interval between paints of streamed text; keys are painted at once.
constexpr std::chrono::milliseconds kFrame{16};
// Interval of the spinner.
constexpr std::chrono::milliseconds kSpin{125};
// Ages are shown in minutes.
constexpr std::chrono::seconds kIdle{20};

// SIGWINCH is delivered only while the main thread waits for keys.
class WindowSignal {
 public:
  WindowSignal() {
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGWINCH);
    ::pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  ~WindowSignal() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WindowSignal(const WindowSignal&) = delete;
  WindowSignal& operator=(const WindowSignal&) = delete;

  const sigset_t& while_waiting() const { return before_; }

 private:
  sigset_t before_{};
};

class App {
 public:
  App(Context& context, const WindowSignal& window, const Interrupts& interrupts,
      EventQueue& events, Terminal& terminal, SessionWorker& worker)
      : context_(context),
        window_(window),
        interrupts_(interrupts),
        events_(events),
        terminal_(terminal),
        worker_(worker) {}

  Exit run(const Start& start) {
    state_.size = terminal_.size();
    state_.now = context_.clock().now();
    state_.start_folder = context_.config().project();
    state_.home = context_.environment().find("HOME").value_or("");
    perform(begin(state_, start));
    paint();
    next_paint_ = {};  // show the first results as soon as they arrive
    while (!state_.over) {
      wait();
      if (interrupts_.signal() == SIGHUP || terminal_closed_) {
        hang_up();
      }
      const bool keys = take_events();
      if (keys || SteadyClock::now() >= next_paint_) {
        paint();
      }
    }
    if (state_.interrupted) {
      return Exit::interrupted;
    }
    return state_.saved ? Exit::success : Exit::unsaved;
  }

  const std::vector<std::string>& late_warnings() const { return state_.late_warnings; }
  bool nothing_saved() const { return state_.nothing_saved; }
  const std::vector<TabMetadata>& open_at_exit() const { return state_.open_at_exit; }

 private:
  void wait() {
    using std::chrono::nanoseconds;
    const auto now = SteadyClock::now();
    const bool spins = (state_.tab() != nullptr && state_.tab()->is_busy()) || awaits_pause(state_);
    const nanoseconds left = dirty_ ? std::max(nanoseconds(0), nanoseconds(next_paint_ - now))
                                    : (spins ? nanoseconds(kSpin) : nanoseconds(kIdle));
    const timespec timeout{.tv_sec = left.count() / 1'000'000'000,
                           .tv_nsec = left.count() % 1'000'000'000};
    // A closed terminal would be reported at once each time.
    std::array<pollfd, 2> watched{pollfd{terminal_closed_ ? -1 : STDIN_FILENO, POLLIN, 0},
                                  pollfd{events_.fd(), POLLIN, 0}};
    // Interrupted or not, events are processed next.
    if (::ppoll(watched.data(), watched.size(), &timeout, &window_.while_waiting()) > 0) {
      terminal_closed_ = terminal_closed_ || is_closed(watched[0]);
    }
  }

  static bool is_closed(const pollfd& terminal) {
    return (terminal.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
  }

  // Whether there were keys.
  bool take_events() {
    std::vector<Event> events{Ticked{context_.clock().now()}};
    std::ranges::move(terminal_.read_keys(), std::back_inserter(events));
    const bool keys = events.size() > 1;
    std::ranges::move(events_.take(), std::back_inserter(events));
    for (const Event& event : events) {
      perform(update(state_, event));
    }
    dirty_ = true;
    return keys;
  }

  void perform(Effects effects) {
    for (Effect& effect : effects) {
      if (std::holds_alternative<Suspend>(effect)) {
        terminal_.suspend();
      } else if (const auto* const edit = std::get_if<OpenEditor>(&effect)) {
        open_editor(*edit);
      } else if (std::holds_alternative<Redraw>(effect)) {
        terminal_.redraw();
      } else if (std::holds_alternative<Bell>(effect)) {
        terminal_.ring();
      } else if (const auto* const copied = std::get_if<CopyText>(&effect)) {
        copy(copied->text);
      } else {
        worker_.perform(std::move(effect));
      }
    }
  }

  void copy(std::string_view text) {
    const bool taken = terminal_.copy(text);
    perform(update(state_, Announcement{Announcement::Kind::status,
                                        {},
                                        taken ? cat("copied ", grouped(std::ssize(text)),
                                                    " bytes, if the terminal allows it")
                                              : "this terminal has no clipboard"}));
  }

  // Handles events while the editor runs, so that no answer has to wait.
  void open_editor(const OpenEditor& edit) {
    terminal_.release();
    Edited edited{.tab = edit.tab, .text = std::nullopt};
    if (auto text = edit_text(context_.environment(), {edit.text}, events_.fd(), [this] {
          for (const Event& event : events_.take()) {
            perform(update(state_, event));
          }
        })) {
      edited.text = *std::move(text);
    } else {
      edited.failure = text.error().message;
    }
    terminal_.acquire();
    perform(update(state_, edited));
  }

  void paint() {
    terminal_.paint(render(state_));
    terminal_.set_title(window_title(state_));
    dirty_ = false;
    next_paint_ = SteadyClock::now() + kFrame;
  }

  // Without the terminal, nobody can be asked. If running answers are stored as they arrive, exits
  // at once: the sessions are interrupted and can be resumed.
  void hang_up() {
    if (worker_.stores_partials()) {
      // SIGHUP alone does not mean that the terminal is closed.
      if (pollfd watched{STDIN_FILENO, POLLIN, 0};
          ::poll(&watched, 1, 0) < 1 || !is_closed(watched)) {
        terminal_.close();
      }
      ::_exit(static_cast<int>(Exit::interrupted));
    }
    if (!std::exchange(hung_up_, true)) {
      perform(update(state_, Signalled{}));
    }
  }

  Context& context_;
  const WindowSignal& window_;
  const Interrupts& interrupts_;
  EventQueue& events_;
  Terminal& terminal_;
  SessionWorker& worker_;
  State state_;
  bool dirty_ = false;
  bool terminal_closed_ = false;
  bool hung_up_ = false;
  SteadyClock::time_point next_paint_;
};

}  // namespace

namespace {

void print_resume_command(Context& context, const TabMetadata& session) {
  const auto id = SessionId::parse(session.id);
  if (!id) {
    return;
  }
  const auto source = context.stores().source();
  const std::string brief = source ? brief_id(**source, *id) : short_id(*id);
  context.console().notice(cat(session.title.empty() ? "" : cat("'", session.title, "': "),
                               context.config().program(), " resume ", brief));
}

}  // namespace

bool can_run_app(const Context& context) {
  const std::string term = context.environment().find("TERM").value_or("dumb");
  return term != "dumb" && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
}

Result<Exit> run_app(Context& context, AppRequest request) {
  const WindowSignal window;  // before any thread starts
  const Interrupts interrupts(kInterruptsMax);
  REPRISE_ASSIGN(const std::unique_ptr<EventQueue> events, EventQueue::make());
  const bool colours = context.is_coloured(true);
  REPRISE_ASSIGN(std::unique_ptr<Terminal> terminal, Terminal::open(colours));
  Exit exit = Exit::success;
  std::vector<std::string> late_warnings;
  bool nothing_saved = false;
  std::vector<TabMetadata> open_at_exit;
  {
    SessionWorker worker({.context = context,
                          .events = *events,
                          .flags = std::move(request.flags),
                          .mode_path = std::move(request.mode_path),
                          .begin = request.begin});
    const std::stop_callback signalled(interrupts.token(),
                                       [&events] { events->post(Signalled{}); });
    App app(context, window, interrupts, *events, *terminal, worker);
    exit = app.run(request.start);
    late_warnings = app.late_warnings();
    nothing_saved = app.nothing_saved();
    open_at_exit = app.open_at_exit();
  }
  terminal.reset();
  if (nothing_saved) {
    context.console().out().write(cat(kNothingSaved, "\n"));
  }
  for (const std::string& text : late_warnings) {
    context.console().warn(text);
  }
  for (const TabMetadata& session : open_at_exit) {
    print_resume_command(context, session);
  }
  return exit;
}

}  // namespace reprise::cli::app
