#include <fcntl.h>

#include <algorithm>
#include <iterator>

#include "base/file.h"
#include "base/text.h"
#include "reprise/open_store.h"
#include "store/call.h"
#include "store/chain/codec.h"
#include "store/chatdir/layout.h"
#include "store/context/codec.h"
#include "store/postgres/url.h"
#include "store/sessions/layout.h"

namespace reprise {
namespace {

using std::filesystem::path;

constexpr std::string_view kSqliteMagic("SQLite format 3\0", 16);

Result<std::string> first_bytes(const path& file, std::size_t count) {
  // Must not block: the path may be a FIFO without a writer.
  REPRISE_ASSIGN(const Fd fd, open_file(file, O_RDONLY));
  std::string bytes(count, '\0');
  REPRISE_ASSIGN(const std::size_t bytes_read, read_at(fd.get(), bytes, 0, file));
  bytes.resize(bytes_read);
  return bytes;
}

Result<bool> is_sqlite(const path& file) {
  REPRISE_ASSIGN(const FileKind kind, kind_of_target(file));
  if (kind != FileKind::file) {
    return false;
  }
  REPRISE_ASSIGN(const std::string bytes, first_bytes(file, kSqliteMagic.size()));
  return bytes == kSqliteMagic;
}

Result<> check_location(std::string_view location, std::string_view noun, std::string_view form) {
  return location.empty()
             ? fail(Code::invalid_argument, cat("no ", noun, " in the store's URL: write ", form))
             : Result<>();
}

Result<std::unique_ptr<Store>> open_sqlite(std::string_view file, const StoreOptions& options) {
  REPRISE_TRY(check_location(file, "file", "sqlite:FILE"));
  return open_sqlite_store(file, options);
}

Result<std::unique_ptr<Store>> open_sessions(std::string_view folder, const StoreOptions& options) {
  REPRISE_TRY(check_location(folder, "folder", "sessions:DIR"));
  return open_sessions_store(folder, options);
}

Result<std::unique_ptr<Store>> open_memory(std::string_view location, const StoreOptions& options) {
  if (!location.empty()) {
    return fail(Code::invalid_argument, "a store in memory has no path: write memory: alone");
  }
  return open_memory_store(options);
}

Result<std::unique_ptr<Store>> open_chain(std::string_view file, const StoreOptions& options) {
  REPRISE_TRY(check_location(file, "file", "chain:FILE"));
  return open_chain_store(file, options);
}

Result<std::unique_ptr<Store>> open_context(std::string_view file, const StoreOptions& options) {
  REPRISE_ASSIGN(const path location, file.empty() ? find_context_file(".") : Result<path>(file));
  if (file.empty()) {
    // The path was not given by the user: the file came with the project.
    REPRISE_TRY(refuse_links(location));
  }
  return open_context_store(location, options);
}

struct ChatdirUrl {
  std::string_view folder;
  ChatdirOptions options = {};
};

// "DIR" or "DIR?messages=N". A '?' without a '=' after it is part of the folder's name.
Result<ChatdirUrl> parse_chatdir(std::string_view location) {
  constexpr std::string_view kMessages = "messages=";
  const std::size_t question_mark = location.rfind('?');
  const std::string_view parameter =
      question_mark == std::string_view::npos ? "" : location.substr(question_mark + 1);
  if (!parameter.contains('=') || parameter.contains('/')) {
    return ChatdirUrl{.folder = location};
  }
  ChatdirUrl parsed{.folder = location.substr(0, question_mark)};
  if (!parameter.starts_with(kMessages)) {
    return fail(Code::invalid_argument,
                cat("unknown parameter '", parameter.substr(0, parameter.find('=')),
                    "' in the store's URL: the only one is messages, as in "
                    "chatdir:DIR?messages=5000"));
  }
  parsed.options.messages_max =
      parse_number<std::int64_t>(parameter.substr(kMessages.size())).value_or(0);
  if (parsed.options.messages_max < 1) {
    return fail(Code::invalid_argument,
                "no number of messages in the store's URL: write chatdir:DIR?messages=5000");
  }
  return parsed;
}

Result<std::string_view> chatdir_folder(std::string_view location) {
  REPRISE_ASSIGN(const ChatdirUrl parsed, parse_chatdir(location));
  return parsed.folder;
}

Result<std::unique_ptr<Store>> open_chatdir(std::string_view location,
                                            const StoreOptions& options) {
  REPRISE_ASSIGN(const ChatdirUrl parsed, parse_chatdir(location));
  REPRISE_TRY(check_location(parsed.folder, "folder", "chatdir:DIR"));
  return open_chatdir_store(parsed.folder, options, parsed.options);
}

Result<std::unique_ptr<Store>> open_postgres(std::string_view location,
                                             const StoreOptions& options) {
  return open_postgres_store(cat("postgresql:", location), options);
}

using Location = StoreKind::Location;

// A new kind of store needs a line here.
constexpr StoreKind kKinds[] = {
    {.name = "sqlite",
     .form = "sqlite:FILE",
     .location = Location::file,
     .default_name = "reprise.db",
     .is_at = is_sqlite,
     .open = open_sqlite},
    {.name = "chain",
     .form = "chain:FILE",
     .location = Location::file,
     .default_name = "conversations.json",
     .in_project = {"src/cli/conversations.json"},
     .provider = store::chain::kProvider,
     .has_models_titles = true,
     .is_at = store::chain::is_chain_file,
     .open = open_chain},
    {.name = "context",
     .form = "context:FILE",
     .location = Location::file,
     .default_name = "openai.json",
     .in_project = {".ai/config.json", ".ai/openai.json"},
     .is_at = store::context::is_context_file,
     .open = open_context},
    {.name = "sessions",
     .form = "sessions:DIR",
     .location = Location::folder,
     .default_name = "sessions",
     .in_home = ".jido_code/sessions",
     .is_at = store::sessions::is_sessions_folder,
     .open = open_sessions},
    {.name = "chatdir",
     .form = "chatdir:DIR",
     .location = Location::folder,
     .default_name = "chats",
     .subfolders = {"chat", "archive", "trash"},
     .is_at = store::chatdir::is_chat_directory,
     .without_parameters = chatdir_folder,
     .open = open_chatdir},
    {.name = "postgres",
     .alias = "postgresql",
     .form = "postgres://HOST/DATABASE",
     .location = Location::server,
     .open = open_postgres},
    {.name = "memory", .form = "memory:", .open = open_memory},
};

bool is_below(const path& file, const path& folder) {
  return std::ranges::mismatch(folder, file).in1 == folder.end();
}

// Both paths are normal.
bool is_at_or_beside(const path& file, const path& store) {
  std::error_code missing;
  if (std::filesystem::equivalent(file, store, missing)) {
    return true;  // a hard link
  }
  if (!is_below(file, store.parent_path())) {
    return false;
  }
  const std::string name = file.lexically_relative(store.parent_path()).begin()->native();
  const std::string own_name = store.filename().native();
  return name.starts_with(own_name) &&
         (name.size() == own_name.size() || name[own_name.size()] == '-' ||
          name[own_name.size()] == '.');
}

Result<path> normal_path(const path& named) {
  REPRISE_ASSIGN(const path resolved, resolve_path(std::filesystem::absolute(named)));
  return resolved.lexically_normal();
}

std::string known_forms() {
  return joined(kKinds, &StoreKind::form);
}

Result<const StoreKind*> kind_at(const path& location) {
  REPRISE_ASSIGN(const path file, resolve_path(location));
  for (const StoreKind& kind : kKinds) {
    if (kind.is_at == nullptr) {
      continue;
    }
    REPRISE_ASSIGN(const bool found, kind.is_at(file));
    if (found) {
      return &kind;
    }
  }
  return nullptr;
}

Result<std::unique_ptr<Store>> open_at(const path& file, const StoreOptions& options) {
  REPRISE_ASSIGN(const StoreKind* const kind, kind_at(file));
  if (kind == nullptr) {
    return fail(Code::invalid_argument, cat("no known kind of store at ", file.native(),
                                            ": name the kind of store (", known_forms(), ")"));
  }
  return kind->open(file.native(), options);
}

Result<> check(const StoreOptions& options) {
  const std::pair<std::string_view, bool> faults[] = {
      {"busy_timeout must not be negative", options.busy_timeout.count() < 0},
      {"connections_max must be at least 1", options.connections_max < 1},
      {"partial_interval must not be negative", options.partial_interval.count() < 0},
      {"slow_call must not be negative", options.slow_call.count() < 0},
      {"clock must not be null", options.clock == nullptr},
  };
  for (const auto& [message, applies] : faults) {
    if (applies) {
      return fail(Code::invalid_argument, std::string(message));
    }
  }
  return {};
}

Result<std::unique_ptr<Store>> open_uncounted(std::string_view url, const StoreOptions& options) {
  if (const StoreKind* const kind = find_store_kind(url); kind != nullptr) {
    return kind->open(url.substr(url.find(':') + 1), options);
  }
  REPRISE_ASSIGN(const FileKind kind, kind_of_target(url));
  if (kind != FileKind::none) {
    return open_at(url, options);
  }
  if (url.empty()) {
    return fail(Code::invalid_argument,
                cat("the store's URL is empty; write one of ", known_forms()));
  }
  if (!url.contains(':')) {
    return fail(Code::invalid_argument,
                options.access == Access::read
                    ? cat("no store at '", url, "': check the path")
                    : cat("no store at '", url, "'; to create it, write 'sqlite:", url, "'"));
  }
  return fail(Code::invalid_argument,
              cat("no store at '", without_password(url), "', and it is not the URL of a store (",
                  known_forms(), ")"));
}

}  // namespace

std::span<const StoreKind> store_kinds() {
  return kKinds;
}

const StoreKind* find_store_kind(std::string_view url) {
  const std::size_t colon = url.find(':');
  if (colon == std::string_view::npos) {
    return nullptr;
  }
  const std::string_view scheme = url.substr(0, colon);
  const auto* const found = std::ranges::find_if(kKinds, [&](const StoreKind& kind) {
    return !scheme.empty() && (kind.name == scheme || kind.alias == scheme);
  });
  return found == std::end(kKinds) ? nullptr : found;
}

Result<std::string> store_path(std::string_view url) {
  const StoreKind* const kind = find_store_kind(url);
  if (kind == nullptr || (kind->location != Location::file && kind->location != Location::folder)) {
    return "";
  }
  const std::string_view location = url.substr(url.find(':') + 1);
  if (kind->without_parameters == nullptr) {
    return std::string(location);
  }
  REPRISE_ASSIGN(const std::string_view path, kind->without_parameters(location));
  return std::string(path);
}

Result<bool> belongs_to_store(std::string_view url, const path& file) {
  const StoreKind* const kind = find_store_kind(url);
  REPRISE_ASSIGN(const std::string location, store_path(url));
  if (kind == nullptr || location.empty()) {
    return false;
  }
  REPRISE_ASSIGN(const path store, normal_path(location));
  REPRISE_ASSIGN(const path target, normal_path(file));
  if (kind->location == Location::file) {
    return is_at_or_beside(target, store);
  }
  return std::ranges::any_of(kind->subfolders, [&](std::string_view subfolder) {
    const bool is_whole = kind->subfolders.front().empty();
    return is_whole ? is_below(target, store)
                    : !subfolder.empty() && is_below(target, store / subfolder);
  });
}

std::string url_in_folder(const StoreKind& kind, const path& folder) {
  return kind.default_name.empty() ? ""
                                   : cat(kind.name, ":", (folder / kind.default_name).native());
}

Result<std::string> recognise_store(const path& file) {
  REPRISE_ASSIGN(const StoreKind* const kind, kind_at(file));
  return kind == nullptr ? "" : cat(kind->name, ":", file.native());
}

std::string without_password(std::string_view url) {
  constexpr std::string_view kHidden = "***";
  std::string masked(url);
  const std::size_t user = masked.find("://");
  const std::size_t at = user == std::string::npos ? user : masked.find('@', user);
  const std::size_t colon = user == std::string::npos ? user : masked.find(':', user + 3);
  if (at != std::string::npos && colon < at) {
    masked.replace(colon + 1, at - colon - 1, kHidden);
  }
  for (const std::string_view parameter :
       {"?password=", "&password=", "?sslpassword=", "&sslpassword="}) {
    if (const std::size_t found = masked.find(parameter); found != std::string::npos) {
      const std::size_t begin = found + parameter.size();
      const std::size_t end = std::min(masked.find('&', begin), masked.size());
      masked.replace(begin, end - begin, kHidden);
    }
  }
  return masked;
}

bool is_same_store_server(std::string_view a, std::string_view b) {
  const auto host_of = [](std::string_view url) {
    const StoreKind* const kind = find_store_kind(url);
    return kind != nullptr && kind->location == Location::server ? postgres::servers_in(url)
                                                                 : std::string();
  };
  const std::string server = host_of(a);
  return !server.empty() && server == host_of(b);
}

Result<std::unique_ptr<Store>> open_store(std::string_view url, const StoreOptions& options) {
  REPRISE_TRY(check(options));
  const store::CallOptions call_options(options);
  store::Call call(call_options, "open");
  auto opened = open_uncounted(url, options);
  call.finish();
  return opened;
}

}  // namespace reprise
