// Implements SearchIndex (reprise/search.h).

#include <filesystem>

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

constexpr milliseconds kForgetWait{10'000};

class FileSearchIndex final : public SearchIndex {
 public:
  FileSearchIndex(std::unique_ptr<IndexFile> file, SearchIndexOptions options)
      : file_(std::move(file)), options_(std::move(options)) {}

  Result<bool> update_index(const SearchSource& source) override {
    if (WordIndex* const words = source.source->capabilities().word_index) {
      REPRISE_TRY(forget_source(source.url));
      return words->index_words(search::entry_of, [this](std::int64_t done, std::int64_t total) {
        return options_.on_progress ? options_.on_progress({"indexing", done, total})
                                    : Flow::proceed;
      });
    }
    if (const auto unchanged = search::is_unchanged(file_->db(), source); unchanged && *unchanged) {
      return true;
    }
    auto hold = file_->lock(milliseconds(0));
    if (!hold && hold.error().code == Code::busy) {
      return false;
    }
    if (!hold) {
      return std::unexpected(hold.error());
    }
    search::IndexUpdate first(*file_, source, options_);
    auto caught_up = first.run();
    if (!caught_up && caught_up.error().code == Code::corrupt && !first.has_source_failed()) {
      REPRISE_TRY(file_->rebuild());
      caught_up = search::IndexUpdate(*file_, source, options_).run();
    }
    return caught_up;
  }

  Result<SearchPage> search(std::span<const SearchSource> sources,
                            const SearchQuery& query) override {
    auto page = search::find_hits(file_->db(), sources, query);
    if (!page && page.error().code == Code::corrupt) {
      REPRISE_TRY(rebuild(sources));
      page = search::find_hits(file_->db(), sources, query);
    }
    return page;
  }

  Result<> forget(std::string_view url, std::span<const SessionId> sessions) override {
    REPRISE_ASSIGN(const LockFile::Hold hold, file_->lock(kForgetWait));
    auto forgotten = forget_now(url, sessions);
    if (!forgotten && forgotten.error().code == Code::corrupt) {
      return file_->rebuild();
    }
    return forgotten;
  }

 private:
  Result<> rebuild(std::span<const SearchSource> sources) {
    {
      REPRISE_ASSIGN(const LockFile::Hold hold, file_->lock(kForgetWait));
      REPRISE_TRY(file_->rebuild());
    }
    for (const SearchSource& source : sources) {
      REPRISE_TRY(update_index(source));
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
};

}  // namespace

Result<std::unique_ptr<SearchIndex>> SearchIndex::open(const std::filesystem::path& file,
                                                       SearchIndexOptions options) {
  REPRISE_ASSIGN(auto index, IndexFile::open(file));
  return std::make_unique<FileSearchIndex>(std::move(index), std::move(options));
}

}  // namespace reprise
