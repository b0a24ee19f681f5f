#pragma once

// What every command is given: the global flags, the streams, the environment, the settings and
// the store. The last two are opened when they are first asked for, so that `--help` opens nothing.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/output/output.h"
#include "cli/program/arguments.h"
#include "cli/program/exit.h"
#include "cli/program/process_environment.h"
#include "cli/settings/config.h"
#include "cli/settings/settings.h"
#include "reprise/environment.h"
#include "reprise/error.h"
#include "reprise/open_store.h"
#include "reprise/session.h"
#include "reprise/store.h"

namespace reprise::cli {

std::vector<SessionState> every_state();

// What a store may offer, or unsupported: "this store cannot WHAT".
template <class Offer>
Result<Offer*> offered(Offer* offer, std::string_view what) {
  if (offer == nullptr) {
    return fail(Code::unsupported, cat("this store cannot ", what));
  }
  return offer;
}

enum class Choice : std::uint8_t { no, yes, always };

class Context {
 public:
  // All of them outlive the context.
  Context(const Globals& globals, const ProcessEnvironment& environment, Output& out, Output& err);
  // For work in another folder: its settings, and its store where they name another than `parent`
  // has. With `same_store` it is the parent's, whatever they name: what was found there is gone on
  // with. The parent outlives it, says what it has to say, and is used by the same thread.
  Context(Context& parent, std::filesystem::path folder, bool same_store);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Globals& globals() const { return globals_; }
  const ProcessEnvironment& environment() const { return environment_; }
  Output& out() { return out_; }
  Output& err() { return err_; }
  Clock& clock() { return clock_; }

  // Where the program was started; sessions belong to such a folder.
  const std::filesystem::path& working_dir();
  // The same as sessions name it: what is no UTF-8 in it is U+FFFD there.
  std::string project();
  // What a person calls a file or folder: "~/x", or from the working folder.
  std::filesystem::path path_named(std::string_view name);
  // `$XDG_STATE_HOME/reprise` and its kind; nothing is created.
  std::filesystem::path state_folder() const;
  std::filesystem::path data_folder() const;
  std::filesystem::path config_folder() const;
  // Where what a server did not take waits.
  std::filesystem::path outbox_folder() const { return state_folder() / "spill"; }

  ConfigSources config_sources();
  // Flags, environment and files put together; what is wrong with a file is warned of once.
  Result<const Settings*> settings();

  // As it may be shown and kept: without a password.
  std::string store_url(const Settings& settings) const;
  // Opens any store. The password of store_key_command is added to `options` for the server that it
  // was set for, and for no other; the error of another one says so.
  Result<std::unique_ptr<Store>> open_at(std::string_view url, StoreOptions options);
  // Whether secrets may cross the network in clear text.
  bool is_insecure(const Settings& settings) const {
    return globals_.insecure || settings.insecure.value_or(false);
  }
  // The store of the settings, opened once for each access.
  Result<Store*> store(Access access = Access::write);

  // To change what is there: not_found, and nothing created, when there is none.
  Result<Store*> existing_store();

  // SEL as this person sees it: the last shown list, this folder.
  Result<SessionInfo> select(Store& store, std::string_view sel);
  Result<SessionInfo> select(Store& store, std::string_view sel, std::vector<SessionState> states);

  // Talk, on standard error, made safe for a terminal. A warning is said even with -q; a remark
  // is not; a note only with -v.
  void warn(std::string_view text);
  void remark(std::string_view text);
  void note(std::string_view text);
  // A warning that is said once, however often a conversation is built anew.
  void warn_once(std::string_view text);

  // From now on talk goes there instead of to standard error, as it is: somebody else owns the
  // terminal. Warnings are told apart.
  enum class Saying : std::uint8_t { remark, warning };
  using TalkSink = std::function<void(Saying what, std::string_view text)>;
  void divert_talk(TalkSink sink) { talk_sink_ = std::move(sink); }
  // Likewise for questions that are answered with yes or no.
  using QuestionSink = std::function<bool(std::string question)>;
  void divert_questions(QuestionSink sink) { question_sink_ = std::move(sink); }

  // One JSON document and its line end, on standard output.
  void print_json(std::string_view document);
  // A part of a long document; cut between values or members.
  void print_json_piece(std::string_view piece);
  // From now on warnings are printed as JSON events, too.
  void warn_by_events() { warn_by_events_ = true; }

  // "reprise: MESSAGE" on standard error, and with --json as an object on standard output too.
  void report(const Error& error);
  // Reports it and says how help is had.
  Exit wrong_usage(std::string_view message);

  // A yes or no question on the terminal. Without one (and without --yes) the answer is an error
  // that names --yes.
  Result<bool> confirm(std::string_view question);
  // y, n or always, on the terminal; can_ask() must be true.
  Choice ask_choice(std::string_view question);
  bool can_ask() const;  // standard input and standard error are a terminal
  // Whether tools may work in a folder that is neither this one nor below it: the person is asked,
  // once. invalid_argument where nobody can be, without --yes.
  Result<> allow_tools_in(const std::filesystem::path& folder);

 private:
  void tell_of_outbox(std::string_view store_url);
  void say(std::string_view text, Saying what = Saying::remark);
  Result<> take_store_settings(Settings& settings);
  Result<bool> has_store_of_parent();
  std::string opening_url(const Settings& settings) const;

  const Globals& globals_;
  const ProcessEnvironment& environment_;
  Output& out_;
  Output& err_;
  Clock& clock_;
  Context* parent_ = nullptr;
  bool same_store_ = false;
  std::filesystem::path working_dir_;
  std::optional<Settings> settings_;
  std::vector<std::string> warnings_;  // said once; those of a parent are not said twice
  std::vector<std::filesystem::path> allowed_folders_;  // for tools
  bool warn_by_events_ = false;
  bool has_told_of_spills_ = false;
  TalkSink talk_sink_;
  QuestionSink question_sink_;
  std::unique_ptr<Store> reader_;
  std::unique_ptr<Store> writer_;
};

}  // namespace reprise::cli
