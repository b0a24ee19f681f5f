// reprise export: writes sessions in other formats to standard output or files.

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "base/command_line.h"
#include "base/file.h"
#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/output/session_json.h"
#include "cli/program/interrupts.h"
#include "cli/program/store_opener.h"
#include "reprise/export.h"
#include "reprise/sessions.h"

namespace reprise::cli {
namespace {

namespace fs = std::filesystem;

// Standard output, which may be closed early. Sanitizes the output for terminals.
class StandardOutput final : public ExportOutput {
 public:
  StandardOutput(Output& out, const ExportFormat& format)
      : out_(out), is_json_(format.ending.starts_with(".json")) {}
  Result<> write(std::string_view bytes) override {
    if (out_.is_terminal()) {
      out_.write(is_json_ ? terminal_json(bytes) : terminal_text(bytes));
    } else {
      out_.write(bytes);
    }
    return out_.failed() ? out_.flush() : Result<>();
  }

 private:
  Output& out_;
  bool is_json_;
};

std::vector<std::string_view> format_names() {
  std::vector<std::string_view> names;
  std::ranges::transform(export_formats(), std::back_inserter(names), &ExportFormat::name);
  return names;
}

class Export final : public Command {
 public:
  ArgumentTable arguments() override {
    return {
        .options = {{"--format", "FORMAT", format_help_, &format_, format_names()},
                    {"-o,--output", "PATH",
                     "a file, or a folder: an existing one, or a name that ends with /", &output_},
                    {"-a,--all", "", "every session except those in the trash", &all_},
                    {"--force", "", "overwrite existing files", &force_},
                    {"--into-tool", "",
                     "write to the folder where the format's tool keeps its sessions",
                     &into_tool_}},
        .arguments = {{"SEL", "the sessions to export", &sels_}}};
  }

  Result<Exit> run(Context& context) override {
    REPRISE_ASSIGN(Source* const source, context.stores().source());
    source_ = source;
    if (sels_.empty() != all_) {
      return context.console().usage_error(all_ ? "--all and SEL cannot be used together"
                                                : "name a session, or use --all");
    }
    REPRISE_ASSIGN(sessions_, chosen_sessions(context, *source));
    const ExportFormat& format = chosen_format(context.globals().json);
    if (into_tool_ && format.tool.empty()) {
      return context.console().usage_error(
          cat("--into-tool needs the format of a tool; ", format.name, " is not one"));
    }
    if (!output_ && into_tool_) {
      return to_tool(context, *source, format);
    }
    if (!output_ || *output_ == "-") {
      if (context.globals().json && !format.ending.starts_with(".json")) {
        return context.console().usage_error(
            cat("--json cannot be used with --format ", format.name, " on standard output"));
      }
      return to_standard_output(context, *source, format);
    }
    const fs::path named = context.config().working_dir() / *output_;
    REPRISE_TRY(check_owner(context, named));
    REPRISE_TRY(refuse_store_file(context, named));
    REPRISE_ASSIGN(const bool is_folder, is_existing_folder(named));
    const Interrupts interrupts;
    stop_ = interrupts.token();
    return is_folder ? to_folder(context, *source, format, named)
                     : to_file(context, *source, format, named);
  }

 private:
  Result<std::vector<SessionInfo>> chosen_sessions(Context& context, Source& source) {
    if (!all_) {
      return context.stores().select_all(source, sels_, Use::read, every_state());
    }
    SessionQuery query;
    query.states = {SessionState::active, SessionState::closed, SessionState::archived};
    REPRISE_ASSIGN(FoundSessions found, find_all_sessions(source, query));
    warn_of_damage(context, found.damage);
    is_damaged_ = !found.damage.empty();
    return std::move(found.sessions);
  }

  const ExportFormat& chosen_format(bool wants_json) const {
    const auto formats = export_formats();
    if (format_) {
      return *find_export_format(*format_);  // validated by the parser
    }
    if (wants_json && (!output_ || *output_ == "-")) {
      return *find_export_format("json");
    }
    const auto named = std::ranges::find_if(formats, [this](const ExportFormat& format) {
      return format.tool.empty() && output_ && output_->ends_with(format.ending);
    });
    return named == formats.end() ? formats.front() : *named;
  }

  static EnvironmentLookup variables(Context& context) {
    return [&context](std::string_view name) { return context.environment().find(name); };
  }

  // Other tools' folders are only written to on request.
  Result<> check_owner(Context& context, const fs::path& named) const {
    REPRISE_ASSIGN(const auto owner, find_owner_of(named, variables(context)));
    if (owner && !into_tool_) {
      return fail(Code::invalid_argument, cat(named.string(), " is in the folder of ", *owner,
                                              "; --into-tool writes there anyway"));
    }
    return {};
  }

  Result<Exit> to_tool(Context& context, Source& source, const ExportFormat& format) {
    const Interrupts interrupts;
    stop_ = interrupts.token();
    for (const SessionInfo& info : sessions_) {
      REPRISE_ASSIGN(const Session session, get(source, info.id));
      REPRISE_ASSIGN(const fs::path folder, find_tool_folder(format, session, variables(context)));
      REPRISE_TRY(make_private_folders(folder));
      REPRISE_TRY(export_into(context, source, {info, format, folder}));
    }
    return end(context, format);
  }

  Result<bool> is_existing_folder(const fs::path& named) const {
    if (named.filename().empty()) {
      return true;
    }
    return is_folder(named);
  }

  ExistingFile existing() const { return force_ ? ExistingFile::replaced : ExistingFile::refused; }

  // Reports losses of the format and damage.
  void report(Context& context, const SessionInfo& info, const ExportResult& exported) {
    for (const std::string& loss : exported.losses) {
      context.console().warn(cat(session_name(*source_, info), ": not exported: ", loss));
    }
    for (const Damage& part : exported.damage) {
      context.console().warn(cat(part.where, ": ", part.reason));
    }
    is_damaged_ = is_damaged_ || !exported.damage.empty();
  }

  ExportReport make_report(Context& context) {
    return [this, &context](const SessionId& id, const ExportResult& exported) {
      const auto info = std::ranges::find(sessions_, id, &SessionInfo::id);
      messages_ += exported.messages;
      report(context, *info, exported);
    };
  }

  Result<Exit> to_standard_output(Context& context, Source& source, const ExportFormat& format) {
    if (sessions_.size() > 1 && !format.holds_many_sessions) {
      return context.console().usage_error("several sessions need a folder: -o FOLDER/");
    }
    StandardOutput output(context.console().out(), format);
    for (const SessionInfo& info : sessions_) {
      REPRISE_ASSIGN(const ExportResult exported, export_session(source, info.id, format, output));
      report(context, info, exported);
    }
    return is_damaged_ ? Exit::failed : Exit::success;
  }

  Result<Exit> to_file(Context& context, Source& source, const ExportFormat& format,
                       const fs::path& file) {
    if (sessions_.size() > 1 && !format.holds_many_sessions) {
      return context.console().usage_error("several sessions need a folder: -o FOLDER/");
    }
    std::vector<SessionId> ids;
    std::ranges::transform(sessions_, std::back_inserter(ids), &SessionInfo::id);
    const ExportOptions options{
        .existing = existing(), .report = make_report(context), .stop = stop_};
    REPRISE_TRY(with_advice(export_to_file(source, ids, format, file, options)));
    files_.push_back(file);
    return end(context, format);
  }

  Result<Exit> to_folder(Context& context, Source& source, const ExportFormat& format,
                         const fs::path& folder) {
    const fs::path target = folder.filename().empty() ? folder.parent_path() : folder;
    REPRISE_TRY(make_private_folders(target));
    for (const SessionInfo& info : sessions_) {
      REPRISE_TRY(export_into(context, source, {info, format, target}));
    }
    return end(context, format);
  }

  struct FolderExport {
    const SessionInfo& info;
    const ExportFormat& format;
    const fs::path& folder;
  };
  // One of several sessions that cannot be exported does not prevent the export of the others.
  Result<> export_into(Context& context, Source& source, const FolderExport& job) {
    auto written = write_into(context, source, job);
    if (written && exported_ == nullptr) {
      exported_ = &job.info;
    }
    if (written || sessions_.size() == 1 || written.error().code == Code::cancelled ||
        written.error().os_errno == ENOSPC) {
      return written;
    }
    context.console().warn(
        cat("not exported: ", session_name(source, job.info), ": ", written.error().message));
    ++failed_;
    return {};
  }

  Result<> write_into(Context& context, Source& source, const FolderExport& job) {
    auto file = export_to_folder(
        source, job.info.id, job.format, job.folder,
        {.existing = existing(), .report = make_report(context), .stop = stop_, .taken = files_});
    if (!file) {
      return std::unexpected(with_format_advice(std::move(file).error()));
    }
    files_.push_back(*std::move(file));
    return {};
  }

  static Error with_format_advice(Error error) {
    if (error.code == Code::conflict) {
      error.message += "; --force replaces it";
    }
    return error;
  }
  static Result<> with_advice(Result<> done) {
    if (!done) {
      return std::unexpected(with_format_advice(std::move(done).error()));
    }
    return done;
  }

  Result<Exit> end(Context& context, const ExportFormat& format) const {
    if (context.globals().json) {
      std::vector<std::string> names;
      std::ranges::transform(files_, std::back_inserter(names),
                             [](const fs::path& file) { return file.string(); });
      std::string out;
      json::ObjectWriter(out)
          .raw("files", json::array_of(names))
          .field("messages", messages_)
          .close();
      context.console().print_json(out);
    }
    const auto written = static_cast<std::int64_t>(sessions_.size()) - failed_;
    const std::string summary =
        cat(counted(written, "session"), ", ", counted(messages_, "message"));
    context.console().notice(files_.size() == 1
                                 ? cat("wrote ", files_.front().string(), ": ", summary)
                                 : cat("wrote ", files_.size(), " files: ", summary));
    if (!format.import_command.empty() && !files_.empty()) {
      context.console().notice(
          cat("to continue there: ",
              command_for(format, exported_ == nullptr ? sessions_.front() : *exported_)));
    }
    return is_damaged_ || failed_ > 0 ? Exit::failed : Exit::success;
  }

  // The command that opens the first session in that tool.
  std::string command_for(const ExportFormat& format, const SessionInfo& info) const {
    std::string command(format.import_command);
    const auto put = [&command](std::string_view name, const std::string& value) {
      if (const auto at = command.find(name); at != std::string::npos) {
        command.replace(at, name.size(), shell_word(value));
      }
    };
    const auto session = get(*source_, info.id);
    const auto id =
        session ? exported_id(*source_, *session, format) : Result<std::string>(info.id.str());
    put("ID", id.value_or(info.id.str()));
    const std::string file = files_.front().string();
    put("FILE", file.starts_with('-') ? cat("./", file) : file);
    return command;
  }

  const std::string format_help_ =
      cat(alternatives(format_names()), " (from FILE's extension, else md)");
  std::vector<std::string> sels_;
  std::optional<std::string> format_;
  std::optional<std::string> output_;
  bool all_ = false;
  bool force_ = false;
  bool into_tool_ = false;
  std::stop_token stop_;  // set by a signal
  bool is_damaged_ = false;
  std::int64_t failed_ = 0;
  const SessionInfo* exported_ = nullptr;  // the first one, into a folder
  std::int64_t messages_ = 0;
  std::vector<fs::path> files_;
  Source* source_ = nullptr;  // during run()
  std::vector<SessionInfo> sessions_;
};

}  // namespace

std::unique_ptr<Command> make_export() {
  return std::make_unique<Export>();
}

}  // namespace reprise::cli
