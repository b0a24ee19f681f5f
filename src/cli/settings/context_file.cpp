#include "cli/settings/context_file.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "base/assert.h"
#include "base/encode.h"
#include "base/file.h"
#include "base/http.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "choice/provider_names.h"
#include "cli/settings/config.h"
#include "reprise/open_source.h"
#include "store/context/defaults.h"
#include "store/context/members.h"

namespace reprise::cli {
namespace {

namespace fs = std::filesystem;
using store::context::Defaults;

constexpr std::string_view kScheme = "context:";
constexpr std::string_view kDefaultProvider = "openai-chat";

bool was_given(const Settings& settings, std::string_view key, std::string_view variable) {
  const auto origin = settings.origin.find(key);
  return origin != settings.origin.end() && origin->second == variable;
}

// Applies the file's values to the provider that it names.
class DefaultsMerger {
 public:
  DefaultsMerger(Settings& settings, const fs::path& file, const Defaults& defaults,
                 const NamedProvider& provider, std::string refusal)
      : settings_(settings),
        file_(file),
        defaults_(defaults),
        provider_(provider),
        refusal_(std::move(refusal)) {}

  void merge() {
    if (settings_.provider != defaults_.provider) {
      drop_other_models();
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
    merge_server(own, prefix);
    set(settings_.system, defaults_.system, "system");
    set(settings_.temperature, defaults_.temperature, "temperature");
    set(settings_.max_tokens, defaults_.max_tokens, "max_tokens");
    set(settings_.stream, std::optional(defaults_.stream), "stream_default");
    if (!defaults_.save_path.empty()) {
      set(settings_.save_path, std::optional(defaults_.save_path), "save_path_default");
    }
  }

 private:
  // Models set without a provider belong to the previous provider.
  void drop_other_models() {
    for (TopSettings& top : settings_.tops) {
      if (!top.provider && top.from != "REPRISE_MODEL") {
        top.own.model.reset();
        top.own.dev_model.reset();
      }
    }
  }

  // If the file names no server, the provider's own is used, whatever the config says; that of a
  // [providers.NAME] is the one in the config. Keys from the config still go only to the servers
  // that they were set for.
  void merge_server(ProviderSettings& own, const std::string& prefix) {
    if (own.key_url.empty()) {
      own.key_url = provider_.default_url;
    }
    if (own.base_url != provider_.default_url) {
      own.base_url.reset();
    }
    for (TopSettings& top : settings_.tops) {
      top.own.base_url.reset();
    }
    if (!refusal_.empty()) {
      return;
    }
    if (!defaults_.base_url.empty()) {
      set(own.base_url, std::optional(defaults_.base_url), cat(prefix, "base_url"));
    }
    if (!defaults_.env_key.empty()) {
      own.key_command.reset();
      own.key_url = defaults_.base_url;
      set(own.env_key, std::optional(defaults_.env_key), cat(prefix, "env_key"));
    }
  }

  // Values missing in the file are unchanged.
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
  const NamedProvider& provider_;
  std::string refusal_;
};

// Where programs store data that they execute or trust: .git, .hg, .ai, .github, .envrc, etc.
bool is_hidden(const fs::path& part) {
  return part.native().starts_with('.');
}

bool is_in_trusted_folder(const Settings& settings, const fs::path& file) {
  const auto root = store::context::root_folder(file);
  return root && is_trusted(*root, settings.trust);
}

// The provider's default variable is used for the provider's own server anyway; for another server,
// only if the file's folder is trusted.
void bind_default_key(Settings& settings, const fs::path& file, const NamedProvider& provider,
                      Defaults& defaults) {
  if (!defaults.env_key.empty() && defaults.env_key != provider.key_variable) {
    return;
  }
  const bool is_other =
      !defaults.base_url.empty() && !http::is_same_server(defaults.base_url, provider.default_url);
  const bool binds = is_other && is_in_trusted_folder(settings, file);
  if (const auto root = store::context::root_folder(file);
      root && is_other && !binds && !provider.key_variable.empty()) {
    settings.keyless_server = defaults.base_url;
    settings.keyless_folder = root->native();
  }
  defaults.env_key = binds ? provider.key_variable : "";
}

// A file checked out with a project could send the conversation to any server, and any variable as
// a key. Naming the file permits its server; only trusting its folder permits its key.
std::string refusal(const Settings& settings, const ContextChoice& choice, const Defaults& defaults,
                    const NamedProvider& provider) {
  if (is_in_trusted_folder(settings, choice.file)) {
    return "";
  }
  if (!defaults.env_key.empty()) {
    return cat(choice.file.native(), " wants the variable ", defaults.env_key,
               " to be sent as a key; to allow it, run `reprise config trust` in its folder");
  }
  const std::string& url = defaults.base_url;
  const bool is_own = http::is_same_server(url, provider.default_url);
  if (!choice.was_searched || url.empty() || is_own || http::is_local_url(url)) {
    return "";
  }
  return cat(choice.file.native(), " wants this conversation to be sent to ", http::masked_url(url),
             "; to allow it, name the file (--store context:FILE) or run `reprise config trust` "
             "in its folder");
}

// What a file that came with the code chooses, unless it is the default; "" for nothing.
std::string choices(const Settings& settings, const Defaults& defaults) {
  std::string out;
  if ((defaults.provider != kDefaultProvider || !defaults.base_url.empty()) &&
      !was_given(settings, "provider", "REPRISE_PROVIDER")) {
    out = cat("the provider ", defaults.provider,
              defaults.base_url.empty() ? "" : cat(" at ", http::host_of(defaults.base_url)));
  }
  if (defaults.system && defaults.system != store::context::kDefaultPrompt) {
    out += cat(out.empty() ? "" : " and ", "the system prompt");
  }
  return out;
}

// A name that is unknown stands for a server with OpenAI's protocol.
NamedProvider provider_of(const Settings& settings, const fs::path& file, Defaults& defaults) {
  auto provider = find_provider(settings, defaults.provider);
  if (!provider) {
    provider = find_provider(settings, "openai-chat");
    REPRISE_ASSERT(provider.has_value());
    defaults.faults.push_back(cat(file.native(), ": unknown provider '", defaults.provider, "'; ",
                                  provider->name, " is used"));
  }
  defaults.provider = provider->name;
  return *std::move(provider);
}

// A new file is created with the user's provider.
void take_users_provider(const Settings& settings, Defaults& defaults) {
  if (settings.provider && !was_given(settings, "provider", "REPRISE_PROVIDER") &&
      find_provider(settings, *settings.provider)) {
    defaults.provider = *settings.provider;
  }
}

}  // namespace

std::string resolved_store_url(std::string_view url) {
  std::error_code none;
  if (url.contains(':') || !fs::exists(fs::path(url), none)) {
    return std::string(url);
  }
  auto recognised = recognise_store(fs::path(url));
  return recognised && !recognised->empty() ? *std::move(recognised) : std::string(url);
}

std::string absolute_store_url(std::string_view url, const fs::path& folder) {
  const std::size_t colon = url.find(':');
  const std::string_view scheme = url.substr(0, colon == std::string_view::npos ? 0 : colon + 1);
  const std::string_view path = url.substr(scheme.size());
  const StoreKind* const kind = find_store_kind(url);
  const bool has_path =
      scheme.empty() ||
      (kind == nullptr ? std::ranges::find(source_kinds(), scheme.substr(0, colon),
                                           &SourceKind::name) != source_kinds().end()
                       : kind->location == StoreKind::Location::file ||
                             kind->location == StoreKind::Location::folder);
  return has_path && !path.empty() ? cat(scheme, (folder / path).lexically_normal().native())
                                   : std::string(url);
}

Result<std::optional<ContextChoice>> choose_context_file(std::string_view url,
                                                         const fs::path& folder) {
  if (url == kScheme) {
    REPRISE_ASSIGN(fs::path file, find_context_file(folder));
    return ContextChoice{std::move(file), true};
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
  // A file found by search came with the project, so links in its path are not trusted.
  if (choice.was_searched) {
    REPRISE_TRY(refuse_links(file));
  }
  REPRISE_ASSIGN(const fs::path resolved, resolve_path(file));
  REPRISE_ASSIGN(Defaults defaults, store::context::read_defaults(resolved));
  settings.context_file = file;
  REPRISE_ASSIGN(const FileKind kind, kind_of_target(resolved));
  if (kind == FileKind::none) {
    take_users_provider(settings, defaults);
  }
  const NamedProvider provider = provider_of(settings, file, defaults);
  bind_default_key(settings, file, provider, defaults);
  settings.is_context_untrusted = choice.was_searched && !is_in_trusted_folder(settings, file);
  if (const std::string chosen = choices(settings, defaults);
      settings.is_context_untrusted && kind != FileKind::none && !chosen.empty()) {
    settings.context_warning =
        cat(file.native(), " chooses ", chosen, ", and its folder is not trusted");
  }
  DefaultsMerger(settings, file, defaults, provider, refusal(settings, choice, defaults, provider))
      .merge();
  if (defaults.is_damaged && !defaults.faults.empty()) {
    defaults.faults.front() +=
        cat("; the defaults are used for everything after that: ", defaults.provider,
            " on its usual server");
  }
  std::ranges::move(defaults.faults, std::back_inserter(warnings));
  return {};
}

RawJson new_context_config(const Settings& settings) {
  const auto origin = settings.origin.find("provider");
  if (settings.context_file.empty() || !settings.provider ||
      *settings.provider == kDefaultProvider || origin == settings.origin.end() ||
      origin->second != settings.context_file.native()) {
    return {};
  }
  return json::take(cat(R"({"provider":)", json::quoted(*settings.provider), R"(,"base_url":)",
                        store::context::default_of("base_url"), "}"));
}

namespace {

// Where save_path_default writes answers. invalid_argument outside its project's folder.
Result<fs::path> answer_file(const Settings& settings) {
  REPRISE_ASSIGN(const fs::path root, store::context::root_folder(settings.context_file));
  const fs::path configured = fs::path(settings.save_path.value_or(""));
  fs::path file = (root / configured).lexically_normal();
  const fs::path inside = file.lexically_relative(root);
  std::string why;
  if (inside.empty() || inside == "." || *inside.begin() == "..") {
    why = "it is outside the project";
  } else if (std::ranges::any_of(inside, is_hidden)) {
    why = "it is hidden, or in a hidden folder";
  } else if (const auto straight = refuse_links(file); !straight) {
    why = "there is a link in its path";
  }
  if (!why.empty()) {
    return fail(
        Code::invalid_argument,
        cat("the answer is not written to ", configured.native(), ", which save_path_default of ",
            settings.context_file.native(), " names: ", why, "; --save FILE writes anywhere"));
  }
  return file;
}

// The hash of the answer that was last written to a file.
fs::path hash_file(const fs::path& state_folder, const BlobHash& of_path) {
  return state_folder / "answers" / of_path.str();
}

// A checked-out project may name any file of it.
Result<> check_replaceable(const Settings& settings, const fs::path& file,
                           const fs::path& hash_file) {
  REPRISE_ASSIGN(const auto existing, if_exists(read_file(file)));
  if (!existing) {
    return {};
  }
  REPRISE_ASSIGN(const BlobHash hash, sha256(*existing));
  const auto last = read_file(hash_file);
  if (last && *last == hash.str()) {
    return {};
  }
  return fail(Code::conflict,
              cat("the answer is not written to ", settings.save_path.value_or(""),
                  ", which save_path_default of ", settings.context_file.native(),
                  " names: the file exists and does not hold the last answer; --save FILE writes "
                  "anywhere, and `reprise config trust` allows it in this folder"));
}

}  // namespace

Result<> save_answer(const Settings& settings, const fs::path& state_folder,
                     std::string_view text) {
  REPRISE_ASSIGN(const fs::path file, answer_file(settings));
  // The default file holds nothing but answers.
  if (!settings.is_context_untrusted ||
      settings.save_path == json::text_in(store::context::default_of("save_path_default"))) {
    return replace_file(file, text);
  }
  REPRISE_ASSIGN(const BlobHash of_path, sha256(file.native()));
  const fs::path hashes = hash_file(state_folder, of_path);
  REPRISE_TRY(check_replaceable(settings, file, hashes));
  REPRISE_TRY(replace_file(file, text));
  REPRISE_ASSIGN(const BlobHash hash, sha256(text));
  REPRISE_TRY(make_private_folders(hashes.parent_path()));
  return replace_file(hashes, hash.str());
}

std::optional<fs::path> find_saved_answer(const Settings& settings) {
  if (settings.context_file.empty() || settings.save_path.value_or("").empty()) {
    return std::nullopt;
  }
  auto file = answer_file(settings);
  std::error_code error;
  return file && fs::exists(*file, error) ? std::optional(*std::move(file)) : std::nullopt;
}

}  // namespace reprise::cli
