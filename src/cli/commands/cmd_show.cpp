// reprise show: prints a session's transcript, message by message.

#include <algorithm>
#include <iterator>

#include "cli/commands/command.h"
#include "cli/output/session_json.h"
#include "cli/output/session_text.h"
#include "cli/output/show_json.h"
#include "cli/process/user_programs.h"
#include "cli/program/interrupts.h"
#include "cli/program/store_opener.h"
#include "cli/provider/request_choice.h"
#include "cli/session/follow_session.h"
#include "export/transcript.h"
#include "reprise/capabilities.h"

namespace reprise::cli {
namespace {

// "SEL#12", as search results name a message.
struct MessageSelector {
  std::string_view sel;
  Seq seq;
};
std::optional<MessageSelector> parse_message_selector(std::string_view text) {
  constexpr std::size_t kDigitsMax = 15;
  const std::size_t hash = text.rfind('#');
  if (hash == std::string_view::npos || hash == 0) {
    return std::nullopt;
  }
  const std::string_view digits = text.substr(hash + 1);
  if (digits.empty() || digits.size() > kDigitsMax ||
      !std::ranges::all_of(digits, is_ascii_digit)) {
    return std::nullopt;
  }
  return MessageSelector{text.substr(0, hash), Seq{std::stoll(std::string(digits))}};
}

class Show final : public Command {
 public:
  ArgumentTable arguments() override {
    return {
        .options = {{"--format", "FORMAT", "md or json", &format_, {"md", "json"}},
                    {"--full", "", "show tool calls, results and thinking at full length", &full_},
                    {"--raw", "", "print the Markdown source, without a pager", &raw_},
                    {"--after",
                     "SEQ",
                     "only the messages after this one",
                     &after_,
                     {},
                     false,
                     {},
                     {.min = 0, .max = static_cast<double>(kSeqMax.value)}},
                    {"--follow", "",
                     "also print what others add, until Ctrl-C; with --json a message per line",
                     &follow_}},
        .arguments = {{"SEL",
                       "a number from the last list, an id or a title; last is the newest; "
                       "SEL#SEQ starts at that "
                       "message",
                       &sel_, true}}};
  }

  Result<Exit> run(Context& context) override {
    if (context.globals().json && format_ == "md") {
      return context.console().usage_error("--json cannot be used with --format md");
    }
    REPRISE_ASSIGN(Source* const source, context.stores().source());
    REPRISE_ASSIGN(const SessionInfo info, select(context, *source));
    if (after_) {
      from_ = Seq{*after_}.next();
    }
    const bool json = format_ ? *format_ == "json" : context.globals().json;
    if (follow_) {
      return follow(context, *source, info.id, json);
    }
    REPRISE_ASSIGN(const SessionSnapshot snapshot, get_snapshot(*source, info.id));
    REPRISE_ASSIGN(const ReadReport report, json ? print_json(context, *source, snapshot)
                                                 : print(context, *source, snapshot));
    for (const Damage& part : report.damage) {
      context.console().warn(cat(part.where, ": ", part.reason));
    }
    return report.damage.empty() ? Exit::success : Exit::failed;
  }

 private:
  // Tried as a title first, which may also end in "#12".
  Result<SessionInfo> select(Context& context, Source& source) {
    auto found = context.stores().select(source, sel_, Use::read, every_state());
    const auto selector = parse_message_selector(sel_);
    if (found || found.error().code != Code::not_found || !selector) {
      return found;
    }
    found = context.stores().select(source, selector->sel, Use::read, every_state());
    if (found && selector->seq >= found->head) {
      return fail(Code::not_found,
                  cat(session_name(source, *found), " has no message ", selector->seq.value,
                      ": it has ", found->head.value, ", from 0 on"));
    }
    from_ = selector->seq;
    return found;
  }

  ReadRange range(const SessionSnapshot& snapshot) const {
    ReadRange range = snapshot.range();
    range.from = from_;
    return range;
  }

  // The view for reading on a terminal; nullopt for pipes and files.
  std::optional<View> view(Context& context) const {
    const Output& out = context.console().out();
    const bool colour = context.is_coloured(out.is_terminal());
    if (raw_ || (!out.is_terminal() && !colour)) {
      return std::nullopt;
    }
    return View{.columns = static_cast<std::size_t>(out.columns()),
                .colour = colour,
                .detail = full_ ? Detail::full : Detail::shortened};
  }

  std::unique_ptr<Pager> pager(Context& context) const {
    Output& out = context.console().out();
    const std::string command = pager_command(context.environment());
    if (raw_ || !out.is_terminal() || command.empty()) {
      return nullptr;
    }
    auto started = Pager::start(out, command);
    if (!started) {
      context.console().warn(started.error().message);
      return nullptr;
    }
    return *std::move(started);
  }

  // nullopt if the reader is unknown; then all authors are named.
  static std::optional<Author> find_reader(Context& context, Source& source) {
    const auto settings = context.config().settings();
    return settings ? choose_author(**settings, &source).value_or(std::nullopt) : std::nullopt;
  }

  Result<ReadReport> print(Context& context, Source& source,
                           const SessionSnapshot& snapshot) const {
    const Session& session = snapshot.session;
    const Detail detail = full_ ? Detail::full : Detail::shortened;
    const std::optional<View> view = this->view(context);
    const std::unique_ptr<Pager> pager = this->pager(context);
    context.console().out().write(view
                                      ? view_head(session, brief_id(source, session.info.id), *view)
                                      : transcript_head(&source, session));
    bool has_questions = false;
    ReadReport blobs;
    std::optional<Message> last;
    std::optional<std::optional<Author>> reader;  // is not named; looked up on demand
    const auto write = [&](Message&& message) {
      has_questions = has_questions || message.role == role::kUser;
      if (message.author && !reader) {
        reader = find_reader(context, source);
      }
      if (reader && message.author == *reader) {
        message.author.reset();
      }
      take_blobs(source, detail, message, blobs);
      context.console().out().write(view ? view_message(message, *view)
                                         : transcript_message(message, detail));
      last = std::move(message);
      return context.console().out().failed() ? Flow::stop : Flow::proceed;
    };
    REPRISE_ASSIGN(ReadReport report, source.read(session.info.id, range(snapshot), write));
    const Message* const end = last ? &*last : nullptr;
    context.console().out().write(view ? view_end(snapshot, end, *view)
                                       : transcript_end(snapshot, end, detail));
    std::ranges::move(blobs.damage, std::back_inserter(report.damage));
    if (!has_questions) {
      context.console().out().write(transcript_prompts(session.prompt_history));
    }
    REPRISE_TRY(add_signature(source, session.info.id, report));
    return report;
  }

  Result<ReadReport> print_json(Context& context, Source& source,
                                const SessionSnapshot& snapshot) const {
    return write_show_document(source, snapshot, range(snapshot), [&](std::string_view piece) {
      context.console().print_json_piece(piece);
      return context.console().out().failed() ? Flow::stop : Flow::proceed;
    });
  }

  Result<Exit> follow(Context& context, Source& source, const SessionId& id, bool json) const {
    const Interrupts interrupts;
    const std::optional<View> view = this->view(context);
    if (!json) {
      REPRISE_ASSIGN(const Session session, get(source, id));
      context.console().out().write(view ? view_head(session, brief_id(source, id), *view)
                                         : transcript_head(&source, session));
    }
    const Detail detail = full_ ? Detail::full : Detail::shortened;
    return follow_session(
        context, source, {.session = id, .from = from_, .stop = interrupts.token()},
        [&](Message&& message, ReadReport& report) {
          take_blobs(source, json ? Detail::shortened : detail, message, report);
          if (json) {
            context.console().print_json(message_document(message));
          } else {
            context.console().out().write(view ? view_message(message, *view)
                                               : transcript_message(message, detail));
          }
        });
  }

  std::string sel_;
  std::optional<std::string> format_;
  std::optional<std::int64_t> after_;
  bool follow_ = false;
  bool full_ = false;
  bool raw_ = false;
  Seq from_;  // the first message to show
};

}  // namespace

std::unique_ptr<Command> make_show() {
  return std::make_unique<Show>();
}

}  // namespace reprise::cli
