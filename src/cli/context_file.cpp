#include "cli/context_file.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/http.h"
#include "base/text.h"
#include "cli/config.h"
#include "cli/provider_choice.h"
#include "cli/settings.h"
#include "reprise/error.h"
#include "reprise/open_store.h"
#include "store/context/defaults.h"
#include "store/context/members.h"

namespace reprise::cli {
namespace {

namespace fs = std::filesystem;
using store::context::Defaults;

constexpr std::string_view kScheme = "context:";

bool was_given(const Settings& settings, std::string_view key, std::string_view variable) {
  const auto origin = settings.origin.find(key);
  return origin != settings.origin.end() && origin->second == variable;
}

// Takes the file's values for the provider it names.
class Taker {
 public:
  Taker(Settings& settings, const fs::path& file, const Defaults& defaults, std::string refusal)
      : settings_(settings), file_(file), defaults_(defaults), refusal_(std::move(refusal)) {}

  void take() {
    if (!was_given(settings_, "model", "REPRISE_MODEL") &&
        settings_.provider != defaults_.provider) {
      settings_.any.model.reset();  // they are another provider's
      settings_.any.dev_model.reset();
    }
    if (!was_given(settings_, "provider", "REPRISE_PROVIDER")) {
      set(settings_.provider, std::optional(defaults_.provider), "provider");
    }
    ProviderSettings& own = settings_.providers[defaults_.provider];
    const std::string prefix = cat("providers.", defaults_.provider, ".");
    if (!was_given(settings_, "model", "REPRISE_MODEL")) {
      set(own.model, defaults_.model, cat(prefix, "model"));
    }
    own.refusal = refusal_;
    replace(own.base_url, settings_.any.base_url, refusal_.empty() ? defaults_.base_url : "",
            cat(prefix, "base_url"));
    const bool usual_key = defaults_.env_key == default_key_variable(defaults_.provider);
    replace(own.env_key, settings_.any.env_key, usual_key ? "" : defaults_.env_key,
            cat(prefix, "env_key"));
    set(settings_.system, defaults_.system, "system");
    set(settings_.temperature, defaults_.temperature, "temperature");
    set(settings_.max_tokens, defaults_.max_tokens, "max_tokens");
    set(settings_.stream, std::optional(defaults_.stream), "stream_default");
    if (!defaults_.save_path.empty()) {
      set(settings_.save_path, std::optional(defaults_.save_path), "save_path_default");
    }
  }

 private:
  // "" is the provider's own, whatever a config says.
  void replace(std::optional<std::string>& slot, std::optional<std::string>& general,
               const std::string& value, const std::string& key) {
    slot.reset();
    general.reset();
    if (!value.empty()) {
      set(slot, std::optional(value), key);
    }
  }

  // What the file does not say stays as it is.
  template <class Value>
  void set(std::optional<Value>& slot, const std::optional<Value>& value, std::string_view key) {
    if (!value) {
      return;
    }
    slot = value;
    settings_.origin.insert_or_assign(std::string(key), file_.native());
  }

  Settings& settings_;
  const fs::path& file_;
  const Defaults& defaults_;
  std::string refusal_;
};

// Where programs keep what they run and believe: .git, .hg, .ai, .github, .envrc and their like.
bool is_hidden(const fs::path& part) {
  return part.native().starts_with('.');
}

// A file that came with the project's code could send what is said, and the key, to anybody.
std::string refusal(const Settings& settings, const ContextChoice& choice,
                    const Defaults& defaults) {
  const std::string& url = defaults.base_url;
  const fs::path root = store::context::root_folder(choice.file);
  if (!choice.was_searched || url.empty() || http::is_local_url(url) ||
      is_trusted(root, settings.trust)) {
    return "";
  }
  return cat(choice.file.native(), " would have this conversation sent to ", url,
             "; to allow it, name the file (--store context:FILE) or list its folder under trust "
             "in your config");
}

}  // namespace

std::string whole_store_url(std::string_view url) {
  std::error_code none;
  if (url.find(':') != std::string_view::npos || !fs::exists(fs::path(url), none)) {
    return std::string(url);
  }
  auto recognised = recognise_store(fs::path(url));
  return recognised && !recognised->empty() ? *std::move(recognised) : std::string(url);
}

std::optional<ContextChoice> choose_context_file(std::string_view url, const fs::path& folder) {
  if (url == kScheme) {
    return ContextChoice{find_context_file(folder), true};
  }
  if (url.starts_with(kScheme)) {
    return ContextChoice{fs::path(url.substr(kScheme.size())), false};
  }
  return std::nullopt;
}

Result<> apply_context_file(Settings& settings, const ContextChoice& choice,
                            std::vector<std::string>& warnings) {
  std::error_code error;
  const fs::path file = fs::absolute(choice.file, error);
  // What nobody has named came with the project: a link in it is not the person's.
  if (choice.was_searched) {
    REPRISE_TRY(refuse_links(file));
  }
  REPRISE_ASSIGN(const fs::path place, resolve_path(file));
  REPRISE_ASSIGN(Defaults defaults, store::context::read_defaults(place));
  settings.context_file = file;
  Taker(settings, file, defaults, refusal(settings, choice, defaults)).take();
  if (defaults.is_damaged && !defaults.faults.empty()) {
    defaults.faults.front() +=
        cat("; from here on the defaults hold: ", defaults.provider, " at its usual server");
  }
  std::ranges::move(defaults.faults, std::back_inserter(warnings));
  return {};
}

Result<fs::path> answer_file(const Settings& settings) {
  const fs::path root = store::context::root_folder(settings.context_file);
  const fs::path wanted = fs::path(settings.save_path.value_or(""));
  fs::path file = (root / wanted).lexically_normal();
  const fs::path inside = file.lexically_relative(root);
  std::string why;
  if (inside.empty() || inside == "." || *inside.begin() == "..") {
    why = "it is outside of the project";
  } else if (std::ranges::any_of(inside, is_hidden)) {
    why = "no hidden file or folder is written into";
  } else if (const auto straight = refuse_links(file); !straight) {
    why = "there is a link in it";
  }
  if (!why.empty()) {
    return fail(
        Code::invalid_argument,
        cat("the answer is not written to ", wanted.native(), ", which save_path_default of ",
            settings.context_file.native(), " names: ", why, "; --save FILE writes anywhere"));
  }
  return file;
}

}  // namespace reprise::cli
