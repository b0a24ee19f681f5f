// The worker's part of what the picker lists beside the store's sessions: messages that match, and
// other tools' sessions.

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/terminal_text.h"
#include "cli/app/event.h"
#include "cli/app/picker/picker.h"
#include "cli/app/session_worker.h"
#include "cli/program/context.h"
#include "cli/program/search_files.h"
#include "cli/program/store_opener.h"
#include "reprise/sessions.h"

namespace reprise::cli::app {
namespace {

constexpr std::size_t kPrefixBytesMin = 3;  // of the word being typed

// The last word may be a prefix, unless it is so short that it matches too much.
Result<std::vector<SearchTerm>> terms_while_typing(const std::string& words) {
  REPRISE_ASSIGN(std::vector<SearchTerm> terms, parse_search(words));
  const bool is_typing = words.back() != ' ' && words.back() != '"' && words.back() != '*';
  if (is_typing && terms.back().text.size() >= kPrefixBytesMin) {
    terms.back().prefix = true;
  }
  return terms;
}

PickerRow message_row(const SearchHit& hit) {
  PickerRow row = picker_row(hit.session, "");
  row.seq = hit.seq;
  row.updated = hit.time;
  row.activity = hit.time;
  row.snippet = hit.role == "user" ? "You: " : "";
  for (const SearchPiece& piece : hit.snippet) {
    row.snippet += terminal_line(piece.text);
    if (piece.matches && row.match.empty()) {
      row.match = piece.text;
    }
  }
  return row;
}

}  // namespace

void SessionWorker::search_texts(const SearchTexts& request) {
  auto found = find_texts(request);
  if (has_jobs()) {
    return;  // a newer search or another job has priority; indexing continues later
  }
  TextsFound answer{.generation = request.generation, .rows = std::vector<PickerRow>()};
  if (found) {
    answer.rows = *std::move(found);
  } else if (found.error().code != Code::not_found) {
    answer.note = found.error().message;
  }
  parts_.events.post(std::move(answer));
}

Result<std::vector<PickerRow>> SessionWorker::find_texts(const SearchTexts& request) {
  REPRISE_ASSIGN(Store* const store, parts_.context.stores().open(Access::read));
  if (!store->capabilities().messages) {
    return fail(Code::unsupported, "this store has no messages to search");
  }
  REPRISE_ASSIGN(const std::string url, search_url(parts_.context));
  searched_ = request.generation;
  if (search_ == nullptr) {
    const auto tell = [this](const Progress& progress) {
      if (progress.done % 4096 == 0) {
        parts_.events.post(TextsFound{.generation = searched_,
                                      .rows = std::nullopt,
                                      .note = cat("indexing: ", grouped(progress.done), " of ",
                                                  grouped(progress.total), " messages")});
      }
      return has_jobs() || leaving_.stop_requested() ? Flow::stop : Flow::proceed;
    };
    const auto warn = [this](const Damage& part) {
      announce(Announcement::Kind::warning, cat("not searched: ", part.where, ": ", part.reason));
    };
    REPRISE_ASSIGN(search_, SearchIndex::open(search_index_file(parts_.context), {tell, warn}));
  }
  const SearchSource sources[] = {{url, store}};
  // If indexing fails, searches what is indexed.
  const auto caught_up = search_->update_index(sources[0]);
  if (!caught_up) {
    announce(Announcement::Kind::warning,
             cat("newer messages are not searched: ", caught_up.error().message));
  }
  std::vector<PickerRow> rows;
  if (trimmed(request.words).empty()) {
    return rows;
  }
  SearchQuery query{.terms = {}, .limit = kTextsMax};
  REPRISE_ASSIGN(query.terms, terms_while_typing(request.words));
  if (!request.all_folders && store->capabilities().folders) {
    query.working_dir = request.folder.empty() ? parts_.context.config().project() : request.folder;
  }
  REPRISE_ASSIGN(const SearchPage page, search_->search(sources, query));
  std::ranges::transform(page.hits, std::back_inserter(rows), message_row);
  return rows;
}

// Lists all sessions of other tools by activity.
void SessionWorker::load_others(int generation) {
  PageLoaded page{.generation = generation, .rows = {}, .next = {}};
  histories_ = find_histories(parts_.context, "");
  for (const FoundHistory& history : histories_) {
    auto found = find_all_sessions(*history.source);
    if (!found) {
      page.failure = found.error().message;
      continue;
    }
    for (const SessionInfo& info : found->sessions) {
      PickerRow row = picker_row(info, "");
      row.id.insert(0, history.url);
      row.mode = history.url.substr(0, history.url.size() - 1);
      page.rows.push_back(std::move(row));
    }
  }
  std::ranges::sort(page.rows,
                    [](const PickerRow& a, const PickerRow& b) { return is_newer(a, b); });
  parts_.events.post(std::move(page));
}

// The source of another tool's row, and the session's id in it.
std::optional<std::pair<Source*, SessionId>> SessionWorker::find_other(std::string_view row) {
  for (const FoundHistory& history : histories_) {
    if (row.starts_with(history.url)) {
      auto id = SessionId::parse(row.substr(history.url.size()));
      return id ? std::optional(std::pair(history.source.get(), *std::move(id))) : std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace reprise::cli::app
