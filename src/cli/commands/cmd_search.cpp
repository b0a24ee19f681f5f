// reprise search: full-text search in messages.

#include <algorithm>

#include "base/command_line.h"
#include "base/file.h"
#include "cli/commands/command.h"
#include "cli/output/session_json.h"
#include "cli/output/session_text.h"
#include "cli/program/search_files.h"
#include "cli/program/store_opener.h"
#include "cli/settings/time_value.h"
#include "reprise/search.h"
#include "session/import.h"

namespace reprise::cli {
namespace {

// An argument with blanks was quoted in the shell and is a phrase. An argument that contains
// quotation marks is a query.
std::string query_text(const std::vector<std::string>& words) {
  std::string query;
  for (std::string_view word : words) {
    query += query.empty() ? "" : " ";
    if (word.contains('"') || !word.contains(' ')) {
      query += word;
      continue;
    }
    const bool without = word.starts_with('-');
    const bool prefix = word.ends_with('*');
    word = word.substr(without ? 1 : 0, word.size() - (without ? 1 : 0) - (prefix ? 1 : 0));
    query += cat(without ? "-\"" : "\"", word, prefix ? "\"*" : "\"");
  }
  return query;
}

class SearchMessages final : public Command {
 public:
  ArgumentTable arguments() override {
    return {
        .options =
            {{"--project", "DIR", "only sessions of this folder, or of DIR", &project_, {}, true},
             {"--since", "WHEN", "only messages since then: '2 weeks' or a date", &since_},
             {"--until", "WHEN", "only messages until then; a date is included", &until_},
             {"--role",
              "ROLE",
              "only messages of this role: user, assistant, system or tool",
              &role_,
              {"user", "assistant", "system", "tool"}},
             {"--tool", "NAME", "only messages that call this tool", &tool_},
             {"--file", "PATH", "only sessions in which a tool was called with this file", &file_},
             {"--model", "MODEL", "only answers of this model", &model_},
             {"--author", "NAME", "only questions by this person", &author_},
             {"--in", "SEL", "only this session", &in_},
             {"--all-sources", "", "also search other tools' histories on this machine",
              &all_sources_},
             {"--from", "TOOL", "search only another tool's history", &from_},
             {"--only",
              "PART",
              "only text, thinking or tools",
              &only_,
              {"text", "thinking", "tools"}},
             {"--rank", "", rank_help_, &rank_},
             {"-n,--limit",
              "N",
              "show at most N messages (default: 20)",
              &limit_,
              {},
              false,
              {},
              {.min = 1, .max = kPageMax}},
             {"--after", "CURSOR", "continue a search after this cursor", &after_}},
        .arguments = {{.name = "WORDS",
                       .help = "words, \"a phrase\", prefix*, -excluded",
                       .target = &words_,
                       .dashed = true}}};
  }

  Result<Exit> run(Context& context) override {
    auto checked = make_query(context);
    if (!checked) {
      return refuse_value(context, std::move(checked).error());
    }
    SearchQuery query = *std::move(checked);
    REPRISE_TRY(find_sources(context, query));
    if (sources_.empty()) {
      return print(context, {});
    }
    REPRISE_ASSIGN(const auto index, open_search_index(context, [&](const Damage& part) {
                     warn_of_unsearched(context, part);
                   }));
    update_index(context, *index);
    auto page = index->search(sources_, query);
    if (!page && after_ && page.error().code == Code::invalid_argument) {
      return context.console().usage_error(bad_cursor(*after_));
    }
    REPRISE_TRY(page);
    for (const Damage& part : page->damage) {
      warn_of_unsearched(context, part);
    }
    return print(context, *page);
  }

 private:
  Result<SearchQuery> make_query(Context& context) const {
    if (in_ && (from_ || all_sources_)) {
      return fail(Code::invalid_argument,
                  "--in names a session of the store: leave --from and --all-sources out, or name "
                  "another store with --store");
    }
    if (from_) {
      REPRISE_TRY(parse_tool(*from_));
    }
    SearchQuery query;
    if (words_.empty() && !file_) {
      return fail(Code::invalid_argument, "missing argument WORDS, or --file PATH");
    }
    if (!words_.empty()) {
      REPRISE_ASSIGN(query.terms, parse_search(query_text(words_)));
    }
    // A path without a beginning is the end of one.
    query.file = file_;
    if (file_ && (file_->starts_with('.') || file_->starts_with('~'))) {
      query.file = std::filesystem::absolute(context.config().path_named(*file_))
                       .lexically_normal()
                       .string();
    }
    if (project_) {
      query.working_dir = project_->empty()
                              ? context.config().project()
                              : std::filesystem::absolute(context.config().path_named(*project_))
                                    .lexically_normal()
                                    .string();
    }
    REPRISE_ASSIGN(const TimeRange range, parse_time_range(context, since_, until_));
    query.since = range.since;
    query.until = range.until;
    query.role = role_;
    query.tool = tool_;
    query.model = model_;
    if (author_) {
      REPRISE_ASSIGN(query.author, parse_author(*author_, "--author"));
    }
    query.only = only_ ? parse_search_part(*only_) : std::nullopt;
    query.order = rank_ ? SearchOrder::relevance : SearchOrder::newest;
    query.limit = static_cast<std::size_t>(limit_.value_or(20));
    query.after = after_.value_or("");
    return query;
  }

  // Adds the settings' store first, if it is searched.
  Result<> find_sources(Context& context, SearchQuery& query) {
    if (!from_) {
      REPRISE_TRY(find_own(context, query));
    }
    if (from_ || all_sources_) {
      std::string only;
      if (from_) {
        REPRISE_ASSIGN(only, parse_tool(*from_));
      }
      histories_ = find_histories(context, only);
      Source* const own = sources_.empty() ? nullptr : sources_.front().source;
      for (const FoundHistory& history : histories_) {
        const std::string url = search_url(history.url, context.environment());
        if (std::ranges::find(sources_, url, &SearchSource::url) == sources_.end()) {
          sources_.push_back({url, history.source.get()});
          source_names_.push_back(history.url);
          if (own != nullptr) {
            const auto imported = std::make_shared<ImportedMessages>(
                *own, history.url.substr(0, history.url.find(':')), *history.source);
            sources_.back().copied = [imported](const SessionId& id) {
              return imported->count(id);
            };
          }
        }
      }
    }
    return {};
  }

  Result<> find_own(Context& context, SearchQuery& query) {
    REPRISE_ASSIGN(Source* const source, context.stores().existing_source());
    if (source == nullptr) {
      return {};
    }
    if (!source->capabilities().messages) {
      return fail(Code::unsupported, "this store has no messages to search");
    }
    if (in_) {
      REPRISE_ASSIGN(const SessionInfo info,
                     context.stores().select(*source, *in_, Use::read, every_state()));
      query.session = info.id;
    }
    REPRISE_ASSIGN(std::string url, search_url(context));
    sources_.push_back({std::move(url), source});
    source_names_.emplace_back();
    return {};
  }

  void warn_of_unsearched(Context& context, const Damage& part) {
    context.console().warn(cat("not searched: ", part.where, ": ", part.reason));
    is_incomplete_ = true;
  }

  // Updates the index. If that fails, searches what is indexed.
  void update_index(Context& context, SearchIndex& index) {
    for (const SearchSource& source : sources_) {
      const auto done = index.update_index(source);
      context.console().end_progress();
      if (!done && done.error().code == Code::not_found) {
        continue;  // the tool has no history
      }
      if (!done) {
        context.console().warn(cat("newer messages are not searched: ", done.error().message));
        is_incomplete_ = true;
      } else if (!*done) {
        context.console().notice("another process is indexing; the newest messages may be missing");
      }
    }
  }

  Result<Exit> print(Context& context, const SearchPage& page) const {
    if (context.globals().json) {
      context.console().print_json(hits_document(page, source_names_));
      return exit();
    }
    if (page.hits.empty()) {
      context.console().notice("no messages found");
      return exit();
    }
    Output& out = context.console().out();
    out.write(hit_lines(page.hits, {.sources = source_names_,
                                    .now = context.clock().now(),
                                    .columns = out.text_columns(),
                                    .colour = context.is_coloured(out.is_terminal())}));
    if (!page.next.empty()) {
      context.console().notice(cat("more follow: add --after ", shell_word(page.next)));
    }
    return exit();
  }

  Exit exit() const { return is_incomplete_ ? Exit::failed : Exit::success; }

  std::vector<std::string> words_;
  std::optional<std::string> project_;
  std::optional<std::string> since_;
  std::optional<std::string> until_;
  std::optional<std::string> role_;
  std::optional<std::string> tool_;
  std::optional<std::string> file_;
  std::optional<std::string> model_;
  std::optional<std::string> author_;
  std::optional<std::string> in_;
  std::optional<std::string> only_;
  std::optional<std::string> after_;
  std::optional<std::int64_t> limit_;
  std::optional<std::string> from_;
  bool rank_ = false;
  const std::string rank_help_ =
      cat("most relevant first, among the newest ", kRankedMax, " that match");
  bool all_sources_ = false;
  bool is_incomplete_ = false;  // a source could not be indexed

  std::vector<FoundHistory> histories_;
  std::vector<SearchSource> sources_;
  std::vector<std::string> source_names_;  // names of sources_ for display
};

}  // namespace

std::unique_ptr<Command> make_search() {
  return std::make_unique<SearchMessages>();
}

}  // namespace reprise::cli
