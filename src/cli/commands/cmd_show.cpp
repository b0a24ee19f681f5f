// reprise show: prints a session's transcript, message by message.

#include <algorithm>
#include <iterator>

#include "base/utf8.h"
#include "cli/commands/command.h"
#include "cli/output/session_json.h"
#include "cli/output/session_text.h"
#include "cli/process/user_programs.h"
#include "cli/program/store_opener.h"
#include "cli/provider/request_choice.h"
#include "export/transcript.h"
#include "reprise/capabilities.h"

namespace reprise::cli {
namespace {

// The session's response ids, then those of its messages, without duplicates.
Result<std::vector<std::string>> response_ids(Source& source, const Session& session) {
  std::vector<std::string> ids;
  const auto add = [&](const std::string& id) {
    if (!id.empty() && (ids.empty() || ids.back() != id)) {
      ids.push_back(id);
    }
  };
  for (const ResponseLink& link : session.response_chain) {
    add(link.response_id);
  }
  REPRISE_TRY(source.read(session.info.id, {}, [&](const Message& message) {
    if (std::ranges::find(session.response_chain, message.response_id,
                          &ResponseLink::response_id) == session.response_chain.end()) {
      add(message.response_id);
    }
    return Flow::proceed;
  }));
  return ids;
}

// Reads a blob that a block names: the whole, or only whether it is there. One that cannot be read
// is reported.
enum class BlobPart : std::uint8_t { all, beginning };
std::optional<std::string> read_named(BlobReader& blobs, const BlobHash& hash, BlobPart part,
                                      std::string_view where, ReadReport& report) {
  std::string bytes;
  const auto read = blobs.read_blob(hash, [&](std::string_view piece) {
    bytes += piece;
    return part == BlobPart::all ? Flow::proceed : Flow::stop;
  });
  if (!read) {
    report.damage.push_back({std::string(where), read.error().message, ""});
    return std::nullopt;
  }
  return bytes;
}

// Checks that the blobs of a message are there; with Detail::full, loads truncated results from
// them. Results that cannot be read are unchanged.
void take_blobs(Source& source, Detail detail, Message& message, ReadReport& report) {
  BlobReader* const blobs = source.capabilities().blob_reader;
  if (blobs == nullptr) {
    return;
  }
  const std::string where = cat("message ", message.seq.value);
  for (Block& block : message.blocks) {
    auto* const result = std::get_if<ToolResultBlock>(&block);
    const auto* const image = std::get_if<ImageBlock>(&block);
    if (result != nullptr && result->blob) {
      const BlobPart part = detail == Detail::full ? BlobPart::all : BlobPart::beginning;
      const auto bytes = read_named(*blobs, *result->blob, part, where, report);
      if (bytes && part == BlobPart::all) {
        result->text = utf8::sanitize(*bytes);
      }
    } else if (image != nullptr && image->blob) {
      (void)read_named(*blobs, *image->blob, BlobPart::beginning, where, report);  // is not shown
    }
  }
}

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
                    {"--raw", "", "print the Markdown source, without a pager", &raw_}},
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
    REPRISE_ASSIGN(const SessionSnapshot snapshot, get_snapshot(*source, info.id));
    const bool json = format_ ? *format_ == "json" : context.globals().json;
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

  // Reports a transcript that was changed by somebody else as damage.
  static Result<> add_signature(Source& source, const SessionId& id, ReadReport& report) {
    if (SignatureReader* const signatures = source.capabilities().signature_reader;
        signatures != nullptr) {
      REPRISE_ASSIGN(const Signature signature, signatures->signature(id));
      if (signature == Signature::failed) {
        report.damage.push_back({id.str(), "its signature does not match", ""});
      }
    }
    return {};
  }

  Result<ReadReport> print_json(Context& context, Source& source,
                                const SessionSnapshot& snapshot) const {
    const Session& session = snapshot.session;
    REPRISE_ASSIGN(const std::vector<std::string> ids, response_ids(source, session));
    std::vector<Todo> todos;
    if (TodoReader* const list = source.capabilities().todo_reader; list != nullptr) {
      REPRISE_ASSIGN(todos, list->todos(session.info.id));
    }
    context.console().print_json_piece(
        cat("{\"session\":", session_document(source, session, ids), ",\"messages\":["));
    bool first = true;
    ReadReport blobs;
    REPRISE_ASSIGN(
        ReadReport report, source.read(session.info.id, range(snapshot), [&](Message&& message) {
          take_blobs(source, Detail::shortened, message, blobs);
          context.console().print_json_piece(cat(first ? "" : ",", message_document(message)));
          first = false;
          return context.console().out().failed() ? Flow::stop : Flow::proceed;
        }));
    std::ranges::move(blobs.damage, std::back_inserter(report.damage));
    if (snapshot.answer && !snapshot.answer->message.blocks.empty()) {
      context.console().print_json_piece(cat(first ? "" : ",", answer_document(*snapshot.answer)));
    }
    REPRISE_TRY(add_signature(source, session.info.id, report));
    context.console().print_json_piece(cat("],\"todos\":", todos_document(todos),
                                           ",\"damage\":", damage_document(report.damage), "}\n"));
    return report;
  }

  std::string sel_;
  std::optional<std::string> format_;
  bool full_ = false;
  bool raw_ = false;
  Seq from_;  // the first message to show
};

}  // namespace

std::unique_ptr<Command> make_show() {
  return std::make_unique<Show>();
}

}  // namespace reprise::cli
