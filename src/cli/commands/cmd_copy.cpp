// reprise copy: copies sessions between stores.

#include <algorithm>

#include "choice/settings.h"
#include "cli/commands/command.h"
#include "cli/output/session_json.h"
#include "cli/program/interrupts.h"
#include "cli/program/store_opener.h"
#include "engine/copy.h"
#include "reprise/sessions.h"
#include "session/outbox.h"
#include "store/outbox/outbox_file.h"

namespace reprise::cli {
namespace {

namespace outbox = store::outbox;

constexpr std::string_view kOutboxScheme = "spill:";

class CopyCommand final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {},
            .arguments = {
                {"SRC", "the store to read; spill: holds what could not be saved", &from_, true},
                {"DST", "the store to write to", &to_, true},
                {"SEL", "sessions of SRC; without it, all except those in the trash", &sels_}}};
  }

  Result<Exit> run(Context& context) override {
    REPRISE_TRY(check_lasting(to_));
    if (from_.starts_with(kOutboxScheme)) {
      return replay_outboxes(context);
    }
    REPRISE_ASSIGN(const std::unique_ptr<Source> source, context.stores().open_source_at(from_));
    REPRISE_ASSIGN(FoundSessions found, chosen(context, *source));
    // Parents come before their forks, which share their messages.
    std::ranges::stable_sort(found.sessions, {}, [](const SessionInfo& info) {
      return info.forked_from ? std::pair(true, info.created_at) : std::pair(false, Time{});
    });
    warn_of_damage(context, found.damage);
    damage_ = found.damage;
    REPRISE_ASSIGN(const std::unique_ptr<Store> target,
                   context.stores().open_at(to_, {.access = Access::write}));
    const Interrupts interrupts;
    json::ArrayWriter array(rows_);
    std::int64_t total = 0;
    for (const SessionInfo& info : found.sessions) {
      total += info.head.value;
    }
    std::int64_t done = 0;
    for (const SessionInfo& info : found.sessions) {
      const auto progress = [&](const Progress& of_session) {
        context.console().progress({of_session.work, done + of_session.done, total});
      };
      auto copied = copy_session(*source, *target, info.id,
                                 {.stop = interrupts.token(), .progress = progress});
      done += info.head.value;
      if (!copied && copied.error().code == Code::cancelled) {
        return std::unexpected(std::move(copied).error());
      }
      array.item();
      note(context, *source, info, copied);
    }
    context.console().end_progress();
    array.close();
    return end(context);
  }

 private:
  // Copies what conversations could not save.
  Result<Exit> replay_outboxes(Context& context) {
    if (!sels_.empty()) {
      return context.console().usage_error(
          "spill: is always copied as a whole; leave the sessions out");
    }
    REPRISE_ASSIGN(const auto files,
                   find_outbox_files(context.config().outbox_folder(),
                                     std::string_view(from_).substr(kOutboxScheme.size()),
                                     without_password(to_)));
    REPRISE_ASSIGN(const std::unique_ptr<Store> target,
                   context.stores().open_at(to_, {.access = Access::write}));
    json::ArrayWriter array(rows_);
    for (const std::filesystem::path& file : files) {
      REPRISE_ASSIGN(const auto lock, outbox::lock_outbox(file));
      auto outbox = outbox::read_outbox(file);
      if (!outbox) {
        ++failed_;
        context.console().warn(cat("cannot copy ", outbox.error().message));
        continue;
      }
      array.item();
      const auto copied = replay_outbox(*outbox, *target);
      note(context, *target, outbox->session.info, copied);
      if (copied) {
        mark_stored(context, file, lock.has_value());
      }
    }
    array.close();
    return end(context);
  }

  // Marks the file as stored, so that it is not copied again by default.
  static void mark_stored(Context& context, const std::filesystem::path& file, bool is_ours) {
    if (!is_ours) {
      context.console().notice(
          cat(file.native(), " is in use; copy it again when the other program has ended"));
    } else if (const auto marked = outbox::mark_as_stored(file); !marked) {
      context.console().warn(marked.error().message);
    }
  }

  Exit end(Context& context) {
    print(context);
    const bool is_complete =
        failed_ == 0 && !is_damaged_ && counts_[CopyOutcome::conflict] == 0 && damage_.empty();
    return is_complete ? Exit::success : Exit::failed;
  }

  Result<FoundSessions> chosen(Context& context, Source& source) const {
    if (sels_.empty()) {
      SessionQuery query;
      query.states = {SessionState::active, SessionState::closed, SessionState::archived};
      return find_all_sessions(source, query);
    }
    FoundSessions found;
    REPRISE_ASSIGN(found.sessions,
                   context.stores().select_all(source, sels_, Use::read, every_state(), from_));
    return found;
  }

  // Reports one session's outcome: a message, and a row of the JSON document.
  void note(Context& context, Source& source, const SessionInfo& info,
            const Result<CopiedSession>& copied) {
    json::ObjectWriter object(rows_);
    object.field("id", info.id.str()).field("title", info.title);
    if (!copied) {
      ++failed_;
      object.field("result", "failed").field("detail", copied.error().message).close();
      context.console().warn(
          cat("cannot copy ", session_name(source, info), ": ", copied.error().message));
      return;
    }
    ++counts_[copied->outcome];
    messages_ += copied->messages;
    is_damaged_ = is_damaged_ || !copied->damage.empty();
    object.field("result", to_string(copied->outcome)).field("messages", copied->messages);
    if (const std::optional<SessionId>& id = copied->id; id && *id != info.id) {
      object.field("copy_id", id->str());
    }
    if (!copied->detail.empty()) {
      object.field("detail", copied->detail);
      const bool is_fork = copied->outcome == CopyOutcome::forked;
      const std::string text =
          cat(is_fork ? "" : "not copied: ", session_name(source, info), ": ", copied->detail);
      is_fork ? context.console().notice(text) : context.console().warn(text);
    }
    object.key("losses");
    json::ArrayWriter losses(rows_);
    for (const std::string& loss : copied->losses) {
      losses.item();
      json::append_string(rows_, loss);
      context.console().warn(cat(session_name(source, info), ": not copied: ", loss));
    }
    losses.close();
    object.close();
  }

  void print(Context& context) {
    if (context.globals().json) {
      const std::string damage =
          damage_.empty() ? "" : cat(",\"damage\":", damage_document(damage_));
      context.console().print_json(cat("{\"sessions\":", rows_, damage, "}"));
    }
    context.console().notice(cat(
        counts_[CopyOutcome::copied], " copied, ", counts_[CopyOutcome::continued], " continued, ",
        counts_[CopyOutcome::unchanged], " unchanged, ", counts_[CopyOutcome::conflict],
        " in conflict, ",
        counts_[CopyOutcome::forked] > 0 ? cat(counts_[CopyOutcome::forked], " as forks, ") : "",
        failed_, " failed; ", counted(messages_, "message")));
  }

  std::string from_;
  std::string to_;
  std::vector<std::string> sels_;
  std::map<CopyOutcome, std::int64_t> counts_;
  std::int64_t failed_ = 0;
  std::int64_t messages_ = 0;
  std::vector<Damage> damage_;  // sessions that could not be listed
  bool is_damaged_ = false;     // a copied session is incomplete
  std::string rows_;
};

}  // namespace

std::unique_ptr<Command> make_copy() {
  return std::make_unique<CopyCommand>();
}

}  // namespace reprise::cli
