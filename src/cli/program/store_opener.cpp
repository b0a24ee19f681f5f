#include "cli/program/store_opener.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>

#include "base/command_line.h"
#include "base/file.h"
#include "cli/process/key_command.h"
#include "cli/program/last_list.h"
#include "cli/settings/context_file.h"
#include "cli/settings/time_value.h"
#include "reprise/select.h"
#include "session/outbox.h"

namespace reprise::cli {
namespace {

constexpr std::size_t kNumberDigitsMax = 4;
constexpr std::int64_t kSlowCallMs = 1'000;
constexpr std::string_view kListAgain = "; run `reprise list` again, or name the session by its id";

// A list number; longer ones are ids.
std::optional<std::size_t> number_in_list(std::string_view sel) {
  const std::string_view digits = trimmed(sel);
  if (digits.empty() || digits.size() > kNumberDigitsMax || digits.front() == '0' ||
      !std::ranges::all_of(digits, is_ascii_digit)) {
    return std::nullopt;
  }
  return parse_number<std::size_t>(digits);
}

std::optional<SessionState> goal_of(Use use) {
  return use == Use::archive ? std::optional(SessionState::archived)
         : use == Use::trash ? std::optional(SessionState::trashed)
                             : std::nullopt;
}

}  // namespace

std::vector<SessionState> open_states() {
  return {SessionState::active, SessionState::closed};
}

std::vector<SessionState> every_state() {
  return {SessionState::active, SessionState::closed, SessionState::archived,
          SessionState::trashed};
}

Result<Store*> StoreOpener::open(Access access) {
  REPRISE_ASSIGN(const bool of_parent, config_.has_store_of_parent());
  if (of_parent) {
    return parent_->open(access);
  }
  // A writer can also read.
  if (writer_) {
    return writer_.get();
  }
  REPRISE_TRY(refuse_source());
  std::unique_ptr<Store>& slot = access == Access::write ? writer_ : reader_;
  if (!slot) {
    REPRISE_ASSIGN(const Settings* settings, config_.settings());
    const std::string url = config_.opening_url(*settings);
    auto opened =
        open_at(url, {.access = access,
                      .on_warning = [this](std::string_view text) { console_.warn(text); },
                      .on_note = [this](std::string_view text) { console_.note(text); }});
    if (!opened && opened.error().os_errno == ENOENT && url == config_.default_store_url()) {
      opened.error().message += " yet: `reprise ask` creates it";
    }
    REPRISE_ASSIGN(slot, std::move(opened));
    if (!std::exchange(has_reported_outbox_, true)) {
      report_outbox(config_.store_url(*settings));
    }
  }
  return slot.get();
}

// Reports unsaved sessions for this store, unless their writer is still running.
void StoreOpener::report_outbox(std::string_view store_url) {
  const auto count = count_outbox_sessions(config_.outbox_folder(), store_url);
  if (!count) {
    return console_.warn(count.error().message);
  }
  if (*count > 0) {
    const bool is_single = *count == 1;
    console_.notice(cat(counted(static_cast<std::int64_t>(*count), "session"),
                        " could not be saved and ", is_single ? "is" : "are",
                        " stored on this machine; copy ", is_single ? "it" : "them",
                        " with: ", shell_command({"copy", "spill:", store_url})));
  }
}

Result<> StoreOpener::check_url(std::string_view url) const {
  const std::string resolved = resolved_store_url(url);
  REPRISE_ASSIGN(const SourceKind* const kind, source_kind_of(resolved));
  if (kind != nullptr) {
    return {};
  }
  if (!is_store_url(resolved)) {
    REPRISE_TRY(open_store(resolved, {.access = Access::read}));
  }
  REPRISE_TRY(is_new_path(resolved));
  return check_lasting(resolved);
}

Result<> check_lasting(std::string_view url) {
  const StoreKind* const kind = find_store_kind(url);
  if (kind != nullptr && kind->location == StoreKind::Location::nowhere) {
    return fail(Code::invalid_argument,
                cat("'", url, "' stores nothing after the program has ended; name another store"));
  }
  return {};
}

Result<> StoreOpener::check_location(std::string_view url) {
  const std::string resolved = resolved_store_url(url);
  REPRISE_ASSIGN(const bool is_new, is_new_path(resolved));
  if (is_new) {
    console_.notice(cat("new store: ", without_password(resolved)));
  }
  return {};
}

Result<bool> StoreOpener::is_new_path(const std::string& resolved) const {
  REPRISE_ASSIGN(const std::filesystem::path location, store_path(resolved));
  if (location.empty() || resolved == config_.default_store_url()) {
    return false;
  }
  REPRISE_ASSIGN(const FileKind file_kind, kind_of_target(location));
  // A context file's first turn is stored beside it until the turn is complete.
  REPRISE_ASSIGN(const FileKind beside, kind_of_target(cat(location.native(), ".answer")));
  if (file_kind != FileKind::none || beside != FileKind::none) {
    return false;
  }
  std::filesystem::path folder = location.parent_path();
  if (!location.has_filename()) {
    folder = folder.parent_path();  // the path ends in '/', as in "notes/"
  }
  if (!folder.empty()) {
    REPRISE_ASSIGN(const FileKind at_folder, kind_of_target(folder));
    if (at_folder == FileKind::none) {
      return fail(Code::not_found,
                  cat("cannot create the store ", location.native(), ": there is no folder ",
                      folder.native(), "; correct the path, or create the folder first"));
    }
  }
  return true;
}

Result<std::unique_ptr<Store>> StoreOpener::open_at(std::string_view url, StoreOptions options) {
  if (options.access == Access::write) {
    REPRISE_ASSIGN(const SourceKind* const kind, source_kind_of(url));
    if (kind != nullptr) {
      return std::unexpected(read_only(url));
    }
    REPRISE_TRY(check_location(url));
  }
  REPRISE_ASSIGN(const bool has_key, complete_options(url, options));
  options.on_progress = [this](const Progress& progress) { console_.progress(progress); };
  auto opened = open_store(url, options);
  REPRISE_ASSIGN(const Settings* const settings, config_.settings());
  if (!opened && settings->store_key_command && !has_key &&
      opened.error().code == Code::unauthorized && without_password(url) == url) {
    const std::string& owner = settings->store_key_url;
    opened.error().message +=
        owner.empty() ? "; store_key_command is set without a store: set store in the same file"
                      : cat("; store_key_command is only for ", without_password(owner));
  }
  return opened;
}

// Sets the options that come from the settings. Returns whether store_key_command is for the URL.
Result<bool> StoreOpener::complete_options(std::string_view url, StoreOptions& options) {
  REPRISE_ASSIGN(const Settings* const settings, config_.settings());
  options.insecure = config_.is_insecure(*settings);
  watch().watch(options, std::chrono::milliseconds(settings->slow_call_ms.value_or(kSlowCallMs)));
  const bool has_key =
      settings->store_key_command && is_same_store_server(settings->store_key_url, url);
  if (has_key) {
    options.password = [command = *settings->store_key_command] {
      return run_key_command(command, "store_key_command");
    };
  }
  return has_key;
}

Result<StoreOpener::Target> StoreOpener::target() {
  REPRISE_ASSIGN(const Settings* const settings, config_.settings());
  Target target{.url = config_.opening_url(*settings), .options = {}};
  REPRISE_TRY(complete_options(target.url, target.options));
  return target;
}

Result<Store*> StoreOpener::open_existing() {
  REPRISE_ASSIGN(const bool of_parent, config_.has_store_of_parent());
  if (of_parent) {
    return parent_->open_existing();
  }
  REPRISE_TRY(refuse_source());
  REPRISE_ASSIGN(const Settings* const settings, config_.settings());
  const std::string url = config_.opening_url(*settings);
  REPRISE_ASSIGN(const std::string path, store_path(url));
  // A bare path, too. A server reports missing stores itself.
  const std::string location = find_store_kind(url) == nullptr ? url : path;
  REPRISE_ASSIGN(const FileKind file_kind, kind_of_target(location));
  if (location.empty() || file_kind != FileKind::none) {
    return open(Access::write);
  }
  // Opening for reading creates nothing and reports a missing store. A context file may be missing
  // although its session exists: its first answer was cut.
  REPRISE_ASSIGN(Store* const reader, open(Access::read));
  REPRISE_ASSIGN(const SessionPage page, reader->list({.limit = 1}));
  return page.sessions.empty() ? Result<Store*>(reader) : open(Access::write);
}

Result<const SourceKind*> StoreOpener::source_kind() {
  REPRISE_ASSIGN(const Settings* const settings, config_.settings());
  return source_kind_of(config_.opening_url(*settings));
}

Result<> StoreOpener::refuse_source() {
  REPRISE_ASSIGN(const SourceKind* const kind, source_kind());
  if (kind == nullptr) {
    return {};
  }
  REPRISE_ASSIGN(const Settings* const settings, config_.settings());
  return std::unexpected(read_only(config_.opening_url(*settings)));
}

Error StoreOpener::read_only(std::string_view url) {
  return {Code::unsupported, cat(url, " is read-only; `", shell_command({"import", url}),
                                 "` copies it into your store")};
}

Result<std::unique_ptr<Source>> StoreOpener::open_source_at(std::string_view url) {
  REPRISE_ASSIGN(const SourceKind* const kind, source_kind_of(url));
  if (kind == nullptr) {
    return open_at(url, {.access = Access::read});
  }
  REPRISE_TRY(config_.check_home());  // what is read of it is kept there
  return open_source(url, {.cache_folder = config_.cache_folder()},
                     [this](std::string_view name) { return config_.environment().find(name); });
}

std::string source_url(std::string_view url, const ProcessEnvironment& environment) {
  const auto kind = std::ranges::find_if(source_kinds(), [url](const SourceKind& candidate) {
    return url.ends_with(':') && url.substr(0, url.size() - 1) == candidate.name;
  });
  const auto location = kind == source_kinds().end()
                            ? std::nullopt
                            : default_location(*kind, [&environment](std::string_view name) {
                                return environment.find(name);
                              });
  return location ? cat(url, location->native()) : std::string(url);
}

Result<Source*> StoreOpener::source() {
  REPRISE_ASSIGN(const bool of_parent, config_.has_store_of_parent());
  if (of_parent) {
    return parent_->source();
  }
  if (source_) {
    return source_.get();
  }
  REPRISE_ASSIGN(const SourceKind* const kind, source_kind());
  if (kind != nullptr) {
    REPRISE_ASSIGN(const Settings* const settings, config_.settings());
    REPRISE_ASSIGN(source_, open_source_at(config_.opening_url(*settings)));
    return source_.get();
  }
  auto reader = open(Access::read);
  if (!reader && reader.error().code == Code::invalid_argument) {
    REPRISE_ASSIGN(const Settings* const settings, config_.settings());
    const std::string url = config_.opening_url(*settings);
    if (url.contains(':') && !is_store_url(url)) {
      reader.error().message += cat("; other tools' histories: ", source_forms());
    }
  }
  return reader ? Result<Source*>(*reader) : std::unexpected(std::move(reader).error());
}

Result<Source*> StoreOpener::existing_source() {
  auto found = source();
  return !found && is_first_use(found.error()) ? Result<Source*>(nullptr) : found;
}

bool StoreOpener::is_first_use(const Error& error) {
  const auto settings = config_.settings();
  if (!settings || error.code != Code::not_found) {
    return false;
  }
  const std::string url = config_.opening_url(**settings);
  return url == config_.default_store_url() || url == "context:";
}

Result<LastListKey> StoreOpener::last_list_key(const std::optional<std::string>& from) {
  REPRISE_ASSIGN(const Settings* settings, config_.settings());
  return LastListKey{config_.state_folder(), from.value_or(config_.store_url(*settings)),
                     config_.project()};
}

Result<SessionInfo> StoreOpener::select(Source& source, std::string_view sel, Use use,
                                        std::vector<SessionState> states,
                                        const std::optional<std::string>& from) {
  REPRISE_ASSIGN(const LastListKey key, last_list_key(from));
  const std::optional<LastList> list = load_last_list(key);
  const std::size_t count = list ? list->ids.size() : 0;
  const std::optional<std::size_t> number = number_in_list(sel);
  if (list && number && use != Use::read && *number <= count &&
      is_old(*list, system_clock().now())) {
    return fail(Code::invalid_argument,
                cat("number ", *number, " is from a list shown ",
                    age_text(list->shown_at, system_clock().now()), kListAgain));
  }
  auto found = select_session(source, sel,
                              {.working_dir = source.capabilities().many_folders ? key.folder : "",
                               .numbers = list ? list->ids : std::vector<SessionId>(),
                               .states = std::move(states),
                               .goal = goal_of(use),
                               .program = config_.program()});
  if (!found && found.error().code == Code::not_found && number && *number > count) {
    return fail(Code::not_found,
                list
                    ? cat("there is no session ", *number, ": the last list shown here has ", count,
                          kListAgain)
                    : cat("there is no session ", *number,
                          ": no list was shown in this folder and terminal; run `reprise list`, or "
                          "name the session by its id"));
  }
  return found;
}

Result<std::vector<SessionInfo>> StoreOpener::select_all(Source& source,
                                                         const std::vector<std::string>& sels,
                                                         Use use,
                                                         const std::vector<SessionState>& states,
                                                         const std::optional<std::string>& from) {
  std::vector<SessionInfo> sessions;
  for (const std::string& sel : sels) {
    REPRISE_ASSIGN(SessionInfo info, select(source, sel, use, states, from));
    if (std::ranges::find(sessions, info.id, &SessionInfo::id) == sessions.end()) {
      sessions.push_back(std::move(info));
    }
  }
  return sessions;
}

Result<std::vector<SessionId>> StoreOpener::listed_ids() {
  REPRISE_ASSIGN(const LastListKey key, last_list_key(std::nullopt));
  std::optional<LastList> list = load_last_list(key);
  return list ? std::move(list->ids) : std::vector<SessionId>();
}

Result<> StoreOpener::remember_numbers(const std::vector<SessionInfo>& sessions) {
  LastList list{.ids = {}, .shown_at = system_clock().now()};
  std::ranges::transform(sessions, std::back_inserter(list.ids), &SessionInfo::id);
  REPRISE_ASSIGN(const LastListKey key, last_list_key(std::nullopt));
  if (const auto saved = save_last_list(key, list); !saved) {
    console_.note(cat("cannot save the numbers of this list: ", saved.error().message));
  }
  return {};
}

}  // namespace reprise::cli
