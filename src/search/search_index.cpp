// Implements SearchIndex (reprise/search.h).

#include <chrono>
#include <filesystem>
#include <set>
#include <string>

#include "base/one_at_a_time.h"
#include "base/text.h"
#include "search/document.h"
#include "search/forget.h"
#include "search/hits.h"
#include "search/index_file.h"
#include "search/index_update.h"

namespace reprise {
namespace {

using search::IndexFile;
using std::chrono::milliseconds;

constexpr milliseconds kWait{10'000};

class FileSearchIndex final : public SearchIndex {
 public:
  FileSearchIndex(std::unique_ptr<IndexFile> file, SearchIndexOptions options)
      : file_(std::move(file)), options_(std::move(options)) {}

  Result<bool> update_index(const SearchSource& source) override {
    return one_at_a_time_.run([&] { return update(source); });
  }

  Result<SearchPage> search(std::span<const SearchSource> sources,
                            const SearchQuery& query) override {
    return one_at_a_time_.run([&]() -> Result<SearchPage> {
      auto page = search_whole(sources, query);
      if (!page && file_->is_damaged()) {
        REPRISE_TRY(rebuild(sources));
        page = search_whole(sources, query);
      }
      return page;
    });
  }

  Result<> forget(std::string_view url, std::span<const SessionId> sessions) override {
    return one_at_a_time_.run([&]() -> Result<> {
      REPRISE_TRY(file_->refresh());
      REPRISE_ASSIGN(const LockFile::Hold hold, file_->lock(kWait));
      auto forgotten = forget_now(url, sessions);
      return !forgotten && file_->is_damaged() ? file_->rebuild() : std::move(forgotten);
    });
  }

 private:
  Result<bool> update(const SearchSource& source) {
    if (WordIndex* const words = source.source->capabilities().word_index) {
      REPRISE_TRY(file_->refresh());
      REPRISE_TRY(forget_source(source.url));
      return words->index_words(search::entry_of, [this](std::int64_t done, std::int64_t total) {
        return options_.on_progress ? options_.on_progress({"indexing", done, total})
                                    : Flow::proceed;
      });
    }
    const auto caught_up = catch_up(source);
    current_.erase(source.url);
    if (caught_up && *caught_up) {
      REPRISE_ASSIGN(const bool lacks_parts, search::lacks_parts(file_->db(), source.url));
      if (!lacks_parts) {  // else some are unreadable, which was reported
        current_.insert(source.url);
      }
    }
    return caught_up;
  }

  // False while another process indexes the source, or if it was stopped.
  Result<bool> catch_up(const SearchSource& source) {
    REPRISE_TRY(file_->refresh());
    if (const auto unchanged = search::is_unchanged(file_->db(), source); unchanged && *unchanged) {
      return true;
    }
    auto hold = file_->lock(milliseconds(0));
    if (!hold && hold.error().code == Code::busy) {
      const auto lacks_parts = search::lacks_parts(file_->db(), source.url);
      if (lacks_parts && !*lacks_parts) {
        return false;
      }
      hold = wait_for_lock();
      if (!hold && hold.error().code == Code::cancelled) {
        return false;
      }
    }
    if (!hold) {
      return std::unexpected(hold.error());
    }
    auto done = search::IndexUpdate(*file_, source, options_).run();
    if (!done && file_->is_damaged()) {
      REPRISE_TRY(file_->rebuild());
      done = search::IndexUpdate(*file_, source, options_).run();
    }
    return done;
  }

  // cancelled if on_progress stops it.
  Result<LockFile::Hold> wait_for_lock() {
    constexpr milliseconds kSlice{100};
    const auto end = std::chrono::steady_clock::now() + kWait;
    while (true) {
      auto hold = file_->lock(kSlice);
      if (hold || hold.error().code != Code::busy || std::chrono::steady_clock::now() >= end) {
        return hold;
      }
      if (options_.on_progress &&
          options_.on_progress({"waiting for the index", 0, 0}) == Flow::stop) {
        return fail(Code::cancelled, "stopped");
      }
    }
  }

  // Sources that update_index() has indexed completely are searched whole, although another process
  // may have removed a part of the index since.
  Result<SearchPage> search_whole(std::span<const SearchSource> sources, const SearchQuery& query) {
    constexpr int kAttemptsMax = 5;
    for (int attempts = 1;; ++attempts) {
      REPRISE_TRY(file_->refresh());
      const SearchSource* lacking = nullptr;
      {
        REPRISE_ASSIGN(const auto view, sqlite::Transaction::begin(file_->db(), "BEGIN"));
        REPRISE_ASSIGN(lacking, find_lacking(sources));
        if (lacking == nullptr || attempts == kAttemptsMax) {
          return search::find_hits(file_->db(), sources, query);
        }
      }
      REPRISE_TRY(update(*lacking));
    }
  }

  Result<const SearchSource*> find_lacking(std::span<const SearchSource> sources) {
    for (const SearchSource& source : sources) {
      if (!current_.contains(source.url)) {
        continue;  // the caller knows, or the store indexes its words itself
      }
      REPRISE_ASSIGN(const bool lacks_parts, search::lacks_parts(file_->db(), source.url));
      if (lacks_parts) {
        return &source;
      }
    }
    return nullptr;
  }

  Result<> rebuild(std::span<const SearchSource> sources) {
    {
      REPRISE_ASSIGN(const LockFile::Hold hold, file_->lock(kWait));
      REPRISE_TRY(file_->is_damaged() ? file_->rebuild() : Result<>());  // not by another process
    }
    for (const SearchSource& source : sources) {
      const bool was_current = current_.contains(source.url);
      const auto updated = update(source);
      if (!updated && was_current) {
        return std::unexpected(updated.error());
      }
    }
    return {};
  }

  // Removes the entries of a store that now indexes its words itself.
  Result<> forget_source(std::string_view url) {
    sqlite::Connection& db = file_->db();
    const auto row = search::find_source(db, url);
    if (!row || *row == 0) {
      return {};
    }
    auto hold = file_->lock(milliseconds(0));
    if (!hold) {
      return {};  // try again next time
    }
    std::vector<std::int64_t> keys;
    {
      REPRISE_ASSIGN(auto rows, db.query("SELECT key FROM sessions WHERE source = ?", *row));
      REPRISE_TRY(rows.each([&] { keys.push_back(rows.integer("key")); }));
    }
    auto forgotten = search::forget_sessions(*file_, keys);
    if (!forgotten && forgotten.error().code != Code::busy) {
      return forgotten;
    }
    return db.run("DELETE FROM sources WHERE id = ?", *row);
  }

  Result<> forget_now(std::string_view url, std::span<const SessionId> sessions) {
    sqlite::Connection& db = file_->db();
    REPRISE_ASSIGN(const std::int64_t source, search::find_source(db, url));
    std::vector<std::int64_t> keys;
    for (const SessionId& id : sessions) {
      REPRISE_ASSIGN(
          const std::int64_t key,
          db.integer("SELECT key FROM sessions WHERE source = ? AND id = ?", source, id.str()));
      if (key != 0) {
        keys.push_back(key);
      }
    }
    return keys.empty() ? Result<>() : search::forget_sessions(*file_, keys);
  }

  std::unique_ptr<IndexFile> file_;
  SearchIndexOptions options_;
  std::set<std::string> current_;  // URLs of sources that the last update indexed completely
  OneAtATime one_at_a_time_{"search index"};
};

}  // namespace

Result<std::unique_ptr<SearchIndex>> SearchIndex::open(const std::filesystem::path& file,
                                                       SearchIndexOptions options) {
  REPRISE_ASSIGN(auto index, IndexFile::open(file));
  return std::make_unique<FileSearchIndex>(std::move(index), std::move(options));
}

Result<> SearchIndex::remove(const std::filesystem::path& file) {
  return IndexFile::remove(file);
}

}  // namespace reprise
