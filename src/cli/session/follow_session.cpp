#include "cli/session/follow_session.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/text.h"
#include "cli/output/session_json.h"
#include "cli/process/input_wait.h"

namespace reprise::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kShortestPause{50};
constexpr milliseconds kLongestPause{1'000};
constexpr int kFollowIdleFactor = 10;  // reading takes at most about a tenth of the time

class Follower {
 public:
  Follower(Context& context, Source& source, const FollowRequest& request)
      : context_(context), source_(source), id_(request.session), next_(request.from) {}

  // Prints what is new. Returns whether there was anything.
  Result<bool> print_new(const PrintMessage& print) {
    REPRISE_ASSIGN(const std::optional<Session> session, source_.find(id_));
    if (!session || session->info.state == SessionState::trashed) {
      return fail(Code::not_found, cat("session ", short_id(id_), " was removed"));
    }
    const Seq head = session->info.head;
    const Seq from = next_;
    if (head >= next_) {
      has_reached_ = true;
      next_ = head;
    } else if (has_reached_) {
      next_ = head;
      context_.console().notice(cat(session_name(source_, session->info), " was rewound to ",
                                    counted(head.value, "message")));
    }
    if (from >= head) {
      return false;
    }
    ReadReport damage;
    REPRISE_ASSIGN(const ReadReport report,
                   source_.read(id_, {.from = from, .to = head}, [&](Message&& message) {
                     print(std::move(message), damage);
                     return context_.console().out().failed() ? Flow::stop : Flow::proceed;
                   }));
    warn_of_damage(context_, report.damage);
    warn_of_damage(context_, damage.damage);
    return true;
  }

 private:
  Context& context_;
  Source& source_;
  SessionId id_;
  Seq next_;
  bool has_reached_ = false;  // false: the first message to print is still to come
};

}  // namespace

Result<Exit> follow_session(Context& context, Source& source, const FollowRequest& request,
                            const PrintMessage& print) {
  using std::chrono::steady_clock;
  const InputWait wait(request.stop);
  Follower follower(context, source, request);
  for (milliseconds pause = kShortestPause;;) {
    const auto started = steady_clock::now();
    REPRISE_ASSIGN(const bool has_new, follower.print_new(print));
    if (!context.console().out().flush()) {
      return Exit::failed;
    }
    pause = has_new ? kShortestPause : std::min(pause * 2, kLongestPause);
    const auto took = std::chrono::ceil<milliseconds>(steady_clock::now() - started);
    const Ready ready = wait.pause(std::max(pause, took * kFollowIdleFactor), STDOUT_FILENO);
    if (ready != Ready::input) {
      return ready == Ready::stopped ? Exit::success : Exit::failed;
    }
  }
}

}  // namespace reprise::cli
