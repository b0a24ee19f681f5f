#include "cli/program/context.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/json_write.h"
#include "base/terminal_text.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/output/output.h"
#include "cli/program/arguments.h"
#include "cli/program/exit.h"
#include "cli/program/last_list.h"
#include "cli/program/process_environment.h"
#include "cli/settings/config.h"
#include "cli/settings/context_file.h"
#include "cli/settings/provider_key.h"
#include "cli/settings/settings.h"
#include "reprise/environment.h"
#include "reprise/error.h"
#include "reprise/open_store.h"
#include "reprise/select.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "session/outbox.h"

namespace reprise::cli {
namespace {

// The XDG base directories: relative paths in them are to be ignored.
std::filesystem::path base_folder(const ProcessEnvironment& environment, std::string_view variable,
                                  std::string_view below_home) {
  if (const auto value = environment.find(variable); value && value->starts_with('/')) {
    return std::filesystem::path(*value) / "reprise";
  }
  const std::string home = environment.find("HOME").value_or("/");
  return std::filesystem::path(home) / below_home / "reprise";
}

// One line of the person's answer, without reading further.
std::string read_answer() {
  std::string line;
  char c = 0;
  while (line.size() < 100 && ::read(STDIN_FILENO, &c, 1) == 1 && c != '\n') {
    line += c;
  }
  return line;
}

}  // namespace

std::vector<SessionState> every_state() {
  return {SessionState::active, SessionState::closed, SessionState::archived,
          SessionState::trashed};
}

Context::Context(const Globals& globals, const ProcessEnvironment& environment, Output& out,
                 Output& err)
    : globals_(globals), environment_(environment), out_(out), err_(err), clock_(system_clock()) {}

Context::Context(Context& parent, std::filesystem::path folder, bool same_store)
    : globals_(parent.globals_),
      environment_(parent.environment_),
      out_(parent.out_),
      err_(parent.err_),
      clock_(parent.clock_),
      parent_(&parent),
      same_store_(same_store),
      working_dir_(std::move(folder)) {}

Context::~Context() = default;

const std::filesystem::path& Context::working_dir() {
  if (working_dir_.empty()) {
    std::error_code gone;
    working_dir_ = std::filesystem::current_path(gone);
    if (gone) {
      working_dir_ = "/";
    }
  }
  return working_dir_;
}

std::string Context::project() {
  return utf8::sanitize(working_dir().native());
}

std::filesystem::path Context::path_named(std::string_view name) {
  if (name == "~" || name.starts_with("~/")) {
    const std::filesystem::path home = environment_.find("HOME").value_or("/");
    return home / name.substr(std::min<std::size_t>(2, name.size()));
  }
  return working_dir() / name;
}

std::filesystem::path Context::state_folder() const {
  const std::filesystem::path folder = base_folder(environment_, "XDG_STATE_HOME", ".local/state");
  return resolve_path(folder).value_or(folder);
}

std::filesystem::path Context::data_folder() const {
  return base_folder(environment_, "XDG_DATA_HOME", ".local/share");
}

std::filesystem::path Context::config_folder() const {
  return base_folder(environment_, "XDG_CONFIG_HOME", ".config");
}

ConfigSources Context::config_sources() {
  const auto named = globals_.config ? globals_.config : environment_.find("REPRISE_CONFIG");
  return {.user_file = named ? std::filesystem::path(*named) : config_folder() / "config.toml",
          .user_file_required = named.has_value(),
          .project_from = working_dir()};
}

Result<const Settings*> Context::settings() {
  if (!settings_) {
    REPRISE_ASSIGN(LoadedSettings loaded, load_settings(config_sources(), environment_));
    settings_ = std::move(loaded.settings);
    for (const std::string& warning : loaded.warnings) {
      warn_once(warning);
    }
    if (globals_.store) {
      settings_->store = globals_.store;
      settings_->origin["store"] = "--store";
    }
    REPRISE_TRY(take_store_settings(*settings_));
  }
  return &*settings_;
}

void Context::warn_once(std::string_view text) {
  const auto was_said = [text](const std::vector<std::string>& said) {
    return std::ranges::find(said, text) != said.end();
  };
  if (was_said(warnings_)) {
    return;
  }
  if (parent_ == nullptr || !was_said(parent_->warnings_)) {
    warn(text);
  }
  warnings_.emplace_back(text);
}

// A context file has settings of its own; an index of response ids needs who keeps the words.
Result<> Context::take_store_settings(Settings& settings) {
  const std::string url = whole_store_url(opening_url(settings));
  const std::filesystem::path& folder = same_store_ ? parent_->working_dir() : working_dir();
  REPRISE_ASSIGN(const auto file, choose_context_file(url, folder));
  if (file) {
    std::vector<std::string> warnings;
    REPRISE_TRY(apply_context_file(settings, *file, warnings));
    for (const std::string& warning : warnings) {
      warn_once(warning);
    }
  }
  if (url.starts_with("chain:") && !settings.provider) {
    settings.provider = "openai-responses";
    settings.origin.insert_or_assign("provider", url);
  }
  return {};
}

// The same URL may mean another file: "context:" is searched from the folder.
Result<bool> Context::has_store_of_parent() {
  if (parent_ == nullptr || same_store_) {
    return parent_ != nullptr;
  }
  REPRISE_ASSIGN(const Settings* const own, settings());
  REPRISE_ASSIGN(const Settings* const parents, parent_->settings());
  return opening_url(*own) == parent_->opening_url(*parents) &&
         own->context_file == parents->context_file;
}

std::string Context::store_url(const Settings& settings) const {
  return without_password(opening_url(settings));
}

std::string Context::opening_url(const Settings& settings) const {
  if (same_store_ && parent_->settings_) {
    return parent_->opening_url(*parent_->settings_);
  }
  if (parent_ != nullptr && settings.store == "context:" && !settings.context_file.empty()) {
    return cat("context:", settings.context_file.native());
  }
  return settings.store.value_or(cat("sqlite:", (data_folder() / "reprise.db").string()));
}

Result<Store*> Context::store(Access access) {
  REPRISE_ASSIGN(const bool of_parent, has_store_of_parent());
  if (of_parent) {
    return parent_->store(access);
  }
  // Who may write may read as well.
  if (writer_) {
    return writer_.get();
  }
  std::unique_ptr<Store>& slot = access == Access::write ? writer_ : reader_;
  if (!slot) {
    REPRISE_ASSIGN(const Settings* settings, this->settings());
    const std::string url = opening_url(*settings);
    REPRISE_ASSIGN(slot,
                   open_at(url, {.access = access,
                                 .on_notice = [this](std::string_view text) { warn(text); }}));
    if (!std::exchange(has_told_of_spills_, true)) {
      tell_of_outbox(store_url(*settings));
    }
  }
  return slot.get();
}

// When there is something for this store, unless its writer is still at it.
void Context::tell_of_outbox(std::string_view store_url) {
  const auto count = count_waiting(outbox_folder(), store_url);
  if (!count) {
    return warn(count.error().message);
  }
  if (*count > 0) {
    remark(cat(*count, *count == 1 ? " conversation" : " conversations", " could not be saved and ",
               *count == 1 ? "is" : "are", " kept here; bring it in with: reprise copy spill: '",
               store_url, "'"));
  }
}

Result<std::unique_ptr<Store>> Context::open_at(std::string_view url, StoreOptions options) {
  REPRISE_ASSIGN(const Settings* const settings, this->settings());
  options.insecure = is_insecure(*settings);
  if (!settings->store_key_command) {
    return open_store(url, options);
  }
  const std::string& owner = settings->store_key_url;
  const bool is_owner = is_same_store_server(owner, url);
  if (is_owner) {
    options.password = [command = *settings->store_key_command] {
      return run_key_command(command, "store_key_command");
    };
  }
  auto opened = open_store(url, options);
  if (!opened && !is_owner && opened.error().code == Code::unauthorized &&
      without_password(url) == url) {
    opened.error().message += owner.empty()
                                  ? "; store_key_command belongs to no store: set store beside it"
                                  : cat("; store_key_command belongs to ", without_password(owner),
                                        " and to no other server");
  }
  return opened;
}

Result<Store*> Context::existing_store() {
  REPRISE_ASSIGN(const bool of_parent, has_store_of_parent());
  if (of_parent) {
    return parent_->existing_store();
  }
  REPRISE_ASSIGN(const Settings* const settings, this->settings());
  const std::string url = opening_url(*settings);
  if (url.find("://") != std::string::npos) {
    return store(Access::write);  // a server says itself what is there
  }
  // A file or folder, perhaps with settings behind it.
  const std::string place = url.substr(url.find(':') + 1, url.rfind('?') - url.find(':') - 1);
  REPRISE_ASSIGN(const FileKind at_place, kind_behind(place));
  REPRISE_ASSIGN(const FileKind at_url, kind_behind(url.substr(url.find(':') + 1)));
  const bool missing = !place.empty() && at_place == FileKind::none && at_url == FileKind::none;
  // Reading creates nothing and says in the store's own words that there is none.
  return store(missing ? Access::read : Access::write);
}

Result<SessionInfo> Context::select(Store& store, std::string_view sel) {
  return select(store, sel, {SessionState::active, SessionState::closed});
}

Result<SessionInfo> Context::select(Store& store, std::string_view sel,
                                    std::vector<SessionState> states) {
  REPRISE_ASSIGN(const Settings* settings, this->settings());
  return select_session(store, sel,
                        {.working_dir = store.holds().many_folders ? project() : "",
                         .numbers = load_last_list(state_folder(), store_url(*settings)),
                         .states = std::move(states)});
}

void Context::say(std::string_view text, Saying what) {
  if (parent_ != nullptr) {
    return parent_->say(text, what);
  }
  if (talk_sink_) {
    talk_sink_(what, text);
    return;
  }
  // Standard output first, so that both are in order when they are the same terminal. Its failure
  // is reported at the end.
  (void)out_.flush();
  err_.write(
      cat("reprise: ", what == Saying::warning ? "warning: " : "", terminal_line(text), "\n"));
  // There is nobody left to tell when standard error fails.
  (void)err_.flush();
}

void Context::warn(std::string_view text) {
  if (warn_by_events_) {
    std::string out;
    json::ObjectWriter(out).field("event", "warning").field("text", text).close();
    print_json(out);
  }
  say(text, Saying::warning);
}

void Context::remark(std::string_view text) {
  if (!globals_.quiet) {
    say(text);
  }
}

void Context::note(std::string_view text) {
  if (globals_.verbose) {
    say(text);
  }
}

void Context::print_json_piece(std::string_view piece) {
  out_.write(out_.is_terminal() ? terminal_json(piece) : std::string(piece));
}

void Context::print_json(std::string_view document) {
  print_json_piece(document);
  out_.write("\n");
}

void Context::report(const Error& error) {
  if (globals_.json) {
    std::string out;
    json::ObjectWriter object(out);
    object.key("error");
    json::ObjectWriter inner(out);
    inner.field("code", to_string(error.code)).field("message", error.message).close();
    object.close();
    print_json(out);
  }
  say(error.message);
}

Exit Context::wrong_usage(std::string_view message) {
  report({Code::invalid_argument, cat(message, "; see `reprise help`")});
  return Exit::usage;
}

bool Context::can_ask() const {
  return ::isatty(STDIN_FILENO) == 1 && err_.is_terminal();
}

Choice Context::ask_choice(std::string_view question) {
  // A failure is reported at the end, or there is nobody left to tell.
  (void)out_.flush();
  err_.write(cat(terminal_line(question), " [y/n/always] "));
  (void)err_.flush();
  const std::string answer = ascii_lower(trimmed(read_answer()));
  if (answer == "always" || answer == "a") {
    return Choice::always;
  }
  return answer == "y" || answer == "yes" ? Choice::yes : Choice::no;
}

Result<bool> Context::confirm(std::string_view question) {
  if (globals_.yes) {
    return true;
  }
  if (!can_ask()) {
    return fail(Code::invalid_argument,
                cat(question, " cannot be asked here; give --yes to answer it"));
  }
  (void)out_.flush();  // its failure is reported at the end
  err_.write(cat(terminal_line(question), " [y/N] "));
  REPRISE_TRY(err_.flush());
  const std::string answer = ascii_lower(trimmed(read_answer()));
  return answer == "y" || answer == "yes";
}

Result<> Context::allow_tools_in(const std::filesystem::path& folder) {
  if (parent_ != nullptr) {
    return parent_->allow_tools_in(folder);
  }
  if (folder.empty() || folder == project() || is_trusted(folder, {working_dir().native()}) ||
      globals_.yes || std::ranges::find(allowed_folders_, folder) != allowed_folders_.end()) {
    return {};
  }
  if (!question_sink_ && (talk_sink_ || !can_ask())) {
    return fail(Code::invalid_argument,
                cat("tools would work in ", folder.native(),
                    ", which the session names and which is not below this folder; start there, "
                    "or allow it with --yes"));
  }
  const std::string question =
      cat("let tools work in ", folder.native(), ", which the session names?");
  REPRISE_ASSIGN(const bool allowed,
                 question_sink_ ? Result<bool>(question_sink_(question)) : confirm(question));
  if (!allowed) {
    return fail(Code::invalid_argument, cat("no tools in ", folder.native()));
  }
  allowed_folders_.push_back(folder);
  return {};
}

}  // namespace reprise::cli
