#pragma once

// Opening stores by URL ("sqlite:FILE", "postgres://…", "memory:") or directly.

#include <array>       // IWYU pragma: export
#include <filesystem>  // IWYU pragma: export
#include <memory>      // IWYU pragma: export

#include "reprise/environment.h"       // IWYU pragma: export
#include "reprise/store.h"             // IWYU pragma: export
#include "reprise/store_statistics.h"  // IWYU pragma: export

namespace reprise {

enum class Access : std::uint8_t {
  read,   // never changes a byte; not_found when there is nothing
  write,  // creates what is missing (0600 in 0700 folders), migrates older formats after a copy
};

struct StoreOptions {
  Access access = Access::write;
  std::chrono::milliseconds busy_timeout{10'000};  // how long a writer waits for other writers
  // Receives one-line notices for the user: unreadable bytes, and where they are preserved. Called
  // from the thread that uses the store; must not call the store.
  std::function<void(std::string_view)> on_warning = {};
  // Likewise for what is only worth knowing, such as work left to an administrator.
  std::function<void(std::string_view)> on_note = {};
  // Receives the progress of verify, repair and backup. Called from the thread that uses the store;
  // must not call the store. May be null.
  ProgressSink on_progress = {};
  // Returns the password of a server when the URL has none. It is kept in memory only, and
  // requested again when the server rejects it. May be called from any thread that uses the store.
  std::function<Result<std::string>()> password = {};
  // Without it, passwords (of Reprise's options or of the URL) are sent to other machines only over
  // TLS, and only after the server has proved its identity with a certificate (sslmode verify-ca or
  // verify-full).
  bool insecure = false;
  // The maximum number of connections to a server that the threads of this store use concurrently,
  // for all tenants; further threads queue, for at most busy_timeout. A thread that calls the store
  // while it reads a session uses a second one in addition to these.
  int connections_max = 16;
  // The minimum interval between writes of a running answer to a server: a crash of the client
  // loses at most that much of it. They are not synced, so a crash of the server may lose another
  // second.
  std::chrono::milliseconds partial_interval{250};
  // Counts what the store does. Must outlive the store; null: nothing is measured.
  StoreStatistics* statistics = nullptr;
  // Called after each call that took at least `slow_call`, on the calling thread; must not call the
  // store. An exception propagates to the caller, whose call has been completed.
  std::chrono::milliseconds slow_call{1'000};
  std::function<void(const SlowCall&)> on_slow_call = {};
  // For sources: a folder for a derived cache, so that sessions are listed without reading their
  // files again (0600, may be removed at any time). "" for none.
  std::filesystem::path cache_folder = {};
  // Determines the age of blobs. Must outlive the store.
  Clock* clock = &system_clock();
};

// A kind of store: the form of its URLs, and how it is located and opened.
struct StoreKind {
  enum class Location : std::uint8_t { nowhere, file, folder, server };

  std::string_view name;        // "sqlite", the scheme of its URLs
  std::string_view alias = {};  // another scheme for it; "" for none
  std::string_view form;        // "sqlite:FILE", for error messages
  Location location = Location::nowhere;
  std::string_view default_name = {};  // of its file or folder: "reprise.db"
  // The subfolders with its files, if its folder may hold others, too; "" for the whole folder.
  std::array<std::string_view, 3> subfolders = {};
  // Where other programs store it, relative to a project's or the user's home folder; "" for
  // nowhere.
  std::array<std::string_view, 2> in_project = {};
  std::string_view in_home = {};
  std::string_view provider = {};  // the default for its sessions; "" for any
  bool has_models_titles = false;  // its original asks the model for titles by default
  // Whether a file or folder is of this kind, detected by content. Null: never found at a path.
  Result<bool> (*is_at)(const std::filesystem::path& path) = nullptr;
  // `location`, see below, without parameters; invalid_argument for unknown ones. Null: there are
  // none.
  Result<std::string_view> (*without_parameters)(std::string_view location) = nullptr;
  // `location` is what follows "NAME:" in a URL.
  Result<std::unique_ptr<Store>> (*open)(std::string_view location, const StoreOptions& options);
};

// All kinds, in the order in which paths are probed. Static storage.
std::span<const StoreKind> store_kinds();
// The kind that the scheme of a URL names, whatever follows; null for an unknown one.
const StoreKind* find_store_kind(std::string_view url);

// The URL of a store of that kind in a folder, under its default name ("sqlite:/tmp/a/reprise.db").
// "" for a kind that is not in a file or folder.
std::string url_in_folder(const StoreKind& kind, const std::filesystem::path& folder);

// The file or folder of a store's URL, without parameters; "" for a store without one, and for a
// URL without a known scheme. invalid_argument for invalid parameters.
Result<std::string> store_path(std::string_view url);

// Whether a file, which may not exist, is one of the store's: its own, one beside it whose name
// begins with the name of that (a log, a lock, the trash), or one in its folder. Follows links.
Result<bool> belongs_to_store(std::string_view url, const std::filesystem::path& file);

// invalid_argument, listing the known kinds, for an unknown URL, and for an option out of range
// (negative times, no connections).
Result<std::unique_ptr<Store>> open_store(std::string_view url, const StoreOptions& options = {});

struct MigrateOptions {
  bool dry_run = false;  // only report the steps
  // Called before each step, with one line; also with what a step waits for.
  std::function<void(std::string_view)> on_step = {};
};
// Creates or migrates the tables of a server's store, while programs of this version and of the
// previous one continue to write to them. Needs a role that may create tables; programs do not need
// one afterwards. Can be repeated after an interruption. unsupported for a store that is not on a
// server, and for tables of a newer version.
Result<> migrate_store(std::string_view url, const StoreOptions& options = {},
                       const MigrateOptions& migrate = {});

// The URL for display and for logs: a password is replaced by "***".
std::string without_password(std::string_view url);

// Whether both are URLs of the same server, so that both may get its password. False for stores
// without a server, and for malformed URLs.
bool is_same_store_server(std::string_view a, std::string_view b);

// The URL of the store in a file or folder, detected by content ("sqlite:/home/a/x.db"); "" when it
// is not a known one. Changes nothing.
Result<std::string> recognise_store(const std::filesystem::path& file);

// An in-memory store, destroyed with the object. The reference for the contract.
std::unique_ptr<Store> open_memory_store(const StoreOptions& options = {});

// A folder of session files (docs/formats/sessions.md).
Result<std::unique_ptr<Store>> open_sessions_store(const std::filesystem::path& folder,
                                                   const StoreOptions& options = {});

// One SQLite database (docs/formats/sqlite.md).
Result<std::unique_ptr<Store>> open_sqlite_store(const std::filesystem::path& file,
                                                 const StoreOptions& options = {});

// A PostgreSQL database, or a compatible server, shared by many machines
// (docs/formats/postgres.md). The URL is libpq's, with `?tenant=NAME` for one of several isolated
// groups of sessions. unauthorized when the server rejects the user.
Result<std::unique_ptr<Store>> open_postgres_store(std::string_view url,
                                                   const StoreOptions& options = {});

// An index of conversations whose messages are stored by their provider (docs/formats/chain.md).
Result<std::unique_ptr<Store>> open_chain_store(const std::filesystem::path& file,
                                                const StoreOptions& options = {});

// One context file with one conversation (docs/formats/context.md).
Result<std::unique_ptr<Store>> open_context_store(const std::filesystem::path& file,
                                                  const StoreOptions& options = {});
// The context file of a folder: `.ai/openai.json` or `.ai/config.json` in it or the nearest parent;
// if there is none, the one to create beside `.git` or `package.json`, or in `folder`. io when this
// cannot be determined, since another file would start another conversation.
Result<std::filesystem::path> find_context_file(const std::filesystem::path& folder);

// A folder for each chat (docs/formats/chatdir.md). `folder` holds chat/, archive/ and trash/.
struct ChatdirOptions {
  // The maximum number of messages of a session; appends beyond it are unsupported. Longer sessions
  // can still be read. In a URL: chatdir:DIR?messages=N.
  std::int64_t messages_max = 1000;
};
Result<std::unique_ptr<Store>> open_chatdir_store(const std::filesystem::path& folder,
                                                  StoreOptions options = {},
                                                  ChatdirOptions chatdir = {});

}  // namespace reprise
