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
  write,  // creates what is missing (0600 in 0700 folders), migrates older forms after a copy
};

// How far a long piece of work has come.
struct Progress {
  std::string_view work;   // "verifying"
  std::int64_t done = 0;   // of `total`, pages or messages, say
  std::int64_t total = 0;  // 0 when it is not known
};
using ProgressSink = std::function<void(const Progress&)>;

struct StoreOptions {
  Access access = Access::write;
  std::chrono::milliseconds busy_timeout{10'000};  // how long a writer waits for other writers
  // Told what a person should know, in one line: bytes could not be read, and where they are kept.
  // Called from the thread that uses the store; it must not use it.
  std::function<void(std::string_view)> on_notice = {};
  // Told how far verify, repair and backup have come. Called from the thread that uses the store;
  // it must not use it. Null where nobody looks.
  ProgressSink on_progress = {};
  // Asked for the password of a server when the URL has none. It is kept in memory only, and asked
  // for once more when the server refuses it. May be called from any thread that uses the store.
  std::function<Result<std::string>()> password = {};
  // Without it a password of ours or of the URL goes to another machine only over TLS, and only
  // when the server has proved with a certificate that it is the one meant (sslmode verify-ca or
  // verify-full).
  bool insecure = false;
  // How many connections to a server the threads of this store use at most at the same time, for
  // all tenants; the others wait in turn, for busy_timeout at most. A thread that uses the store
  // while it reads a session has a second one beside these.
  int connections_max = 16;
  // How often a running answer is stored on a server at most: a crash of the client loses that much
  // of it. The server syncs it when it likes; its crash may lose another second.
  std::chrono::milliseconds partial_interval{250};
  // Counts what the store does. Outlives it; null: nobody looks, and no clock is read.
  StoreStatistics* statistics = nullptr;
  // Told of each call that took at least so long, on the thread that made it; it must not use the
  // store. What it throws goes on to the caller, whose call has happened.
  std::chrono::milliseconds slow_call{1'000};
  std::function<void(const SlowCall&)> on_slow_call = {};
  // Of a source: a folder for what is derived from it, so that its sessions are listed without
  // reading their files again (0600, may be removed at any time). "" for none.
  std::filesystem::path cache_folder = {};
  // Tells how old a blob is. Outlives the store.
  Clock* clock = &system_clock();
};

// A kind of store: how its URLs look, and how it is found and opened.
struct StoreKind {
  enum class Place : std::uint8_t { nowhere, file, folder, server };

  std::string_view name;        // "sqlite", the scheme of its URLs
  std::string_view alias = {};  // another scheme for the same; "" for none
  std::string_view form;        // "sqlite:FILE", for messages
  Place place = Place::nowhere;
  std::string_view usual_name = {};  // of its file or folder: "reprise.db"
  // Where the programs that share it keep it, from the folder of a project or of a user; "" for
  // none.
  std::array<std::string_view, 2> in_project = {};
  std::string_view in_home = {};
  // Whether a file or folder is one, told by its content. Null: never found at a path.
  Result<bool> (*is_at)(const std::filesystem::path& place) = nullptr;
  // `place` is what follows "NAME:" in a URL.
  Result<std::unique_ptr<Store>> (*open)(std::string_view place, const StoreOptions& options);
};

// All there are. A path is asked about in this order. Lives as long as the program.
std::span<const StoreKind> store_kinds();

// The URL of the store of that kind in a folder, under its usual name ("sqlite:/tmp/a/reprise.db").
// "" for a kind that has no place in a folder.
std::string url_in_folder(const StoreKind& kind, const std::filesystem::path& folder);

// invalid_argument for a URL no store knows; it names those that are known.
Result<std::unique_ptr<Store>> open_store(std::string_view url, const StoreOptions& options = {});

struct MigrateOptions {
  bool dry_run = false;  // only says what there is to do
  // Told of each step before it is taken, in one line.
  std::function<void(std::string_view)> on_step = {};
};
// Makes the tables of a server's store, or brings them to what this version knows, while programs
// of this version and of the one before go on writing to them. For a role that may make tables:
// programs need none that may once it has been done. Can be run again after it was interrupted.
// unsupported for a store that is not a server's, and for tables of a newer version.
Result<> migrate_store(std::string_view url, const StoreOptions& options = {},
                       const MigrateOptions& migrate = {});

// Forgets the ids of operations in a server's store: those of sessions that have not changed for
// `age`, of the URL's tenant, in small transactions. Returns how many. Trying an operation again
// that was forgotten does it again. unsupported for a store that is not a server's.
Result<std::int64_t> forget_operations(std::string_view url, const StoreOptions& options,
                                       std::chrono::hours age);

// The URL as it may be shown and kept: "***" where it has a password.
std::string without_password(std::string_view url);

// Whether both are URLs of the same server, whose password may go to either. False for stores
// without one, and for what is no URL.
bool is_same_store_server(std::string_view a, std::string_view b);

// The URL of the store that a file or folder is, told by its content ("sqlite:/home/a/x.db"); ""
// when it is none that is known. Changes nothing.
Result<std::string> recognise_store(const std::filesystem::path& place);

// Everything, in memory, gone with the object. The reference for the contract.
std::unique_ptr<Store> open_memory_store(const StoreOptions& options = {});

// A folder of session files (docs/formats/sessions.md).
Result<std::unique_ptr<Store>> open_sessions_store(const std::filesystem::path& folder,
                                                   const StoreOptions& options = {});

// One SQLite database (docs/formats/sqlite.md).
Result<std::unique_ptr<Store>> open_sqlite_store(const std::filesystem::path& file,
                                                 const StoreOptions& options = {});

// A PostgreSQL database, or one that speaks its protocol, that many machines share
// (docs/formats/postgres.md). The URL is libpq's, with `?tenant=NAME` for one of several groups of
// sessions that know nothing of each other. unauthorized when the server refuses the user.
Result<std::unique_ptr<Store>> open_postgres_store(std::string_view url,
                                                   const StoreOptions& options = {});

// One index of conversations whose words their provider keeps (docs/formats/chain.md).
Result<std::unique_ptr<Store>> open_chain_store(const std::filesystem::path& file,
                                                const StoreOptions& options = {});

// One context file with one conversation (docs/formats/context.md).
Result<std::unique_ptr<Store>> open_context_store(const std::filesystem::path& file,
                                                  const StoreOptions& options = {});
// The file that belongs to a folder: `.ai/openai.json` or `.ai/config.json` in it or the nearest
// folder above; when there is none, the one to create beside `.git` or `package.json`, or here. io
// when that cannot be told: another file would begin another conversation.
Result<std::filesystem::path> find_context_file(const std::filesystem::path& folder);

// A folder for each chat (docs/formats/chatdir.md). `folder` holds chat/, archive/ and trash/.
struct ChatdirOptions {
  // A session that would get more messages is refused them: unsupported. Longer ones are read all
  // the same. In a URL: chatdir:DIR?messages=N.
  std::int64_t messages_max = 1000;
};
Result<std::unique_ptr<Store>> open_chatdir_store(const std::filesystem::path& folder,
                                                  StoreOptions options = {},
                                                  ChatdirOptions chatdir = {});

}  // namespace reprise
