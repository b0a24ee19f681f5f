#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "engine/builtin_tools.h"
#include "engine/history.h"
#include "reprise/capabilities.h"
#include "reprise/tool.h"

namespace reprise {
namespace {

constexpr std::size_t kSessionsSearched = 200;
constexpr std::int64_t kBytesSearched = 50 << 20;
constexpr std::int64_t kHitsDefault = 10;
constexpr std::int64_t kHitsMax = 50;
constexpr std::size_t kContextBytes = 120;  // shown before and after a hit

Result<ToolOutput> todo_write(const ToolContext& context, const RawJson& input) {
  const std::string_view list = ToolArguments(input).raw("todos");
  auto todos = list.empty() ? Result<std::vector<Todo>>(fail(Code::invalid_argument, ""))
                            : todos_from_json(list);
  if (!todos) {
    return fail(Code::invalid_argument,
                "todo_write needs todos: [{\"content\",\"status\",\"active_form\"}]");
  }
  Todos* const stored = context.store == nullptr ? nullptr : context.store->capabilities().todos;
  if (stored == nullptr) {
    return fail(Code::unsupported, "this store has no todos");
  }
  const auto replace = [&todos](std::vector<Todo>& current) {
    current = *todos;
    return Result<>();
  };
  REPRISE_ASSIGN(const auto updated, stored->edit_todos(context.session.info.id, replace));
  const auto open = std::ranges::count_if(
      updated, [](const Todo& todo) { return todo.status != TodoStatus::completed; });
  return ToolOutput{cat(updated.size(), " todos, ", open, " open")};
}

// A simple search of the newest sessions: bounded, ASCII case-insensitive.
class Recall {
 public:
  // `folder`: whose sessions; nullopt for all.
  Recall(const ToolContext& context, std::optional<std::string> folder, std::string_view query,
         std::int64_t limit)
      : context_(context), folder_(std::move(folder)), query_(ascii_lower(query)), limit_(limit) {}

  Result<std::string> search() {
    const SessionQuery query{.working_dir = folder_,
                             .title_contains = {},
                             .id_prefix = {},
                             .after = {},
                             .limit = kSessionsSearched};
    REPRISE_ASSIGN(const auto page, context_.store->list(query));
    for (const SessionInfo& info : page.sessions) {
      if (is_enough()) {
        break;
      }
      search_title(info);
      if (info.id != context_.session.info.id) {  // the model has this one in its context
        REPRISE_TRY(search_words(info));
      }
    }
    if (hits_ == 0) {
      out_ = cat("nothing found in the newest ", page.sessions.size(), " sessions",
                 folder_ ? " of this folder" : "");
    }
    if (unreadable_ > 0) {
      out_ += cat(hits_ == 0 ? "\n" : "", counted(unreadable_, "session"), " could not be read\n");
    }
    return std::move(out_);
  }

 private:
  bool is_enough() const {
    return hits_ >= limit_ || bytes_ > kBytesSearched || context_.stop.stop_requested();
  }

  void search_title(const SessionInfo& info) {
    if (ascii_lower(info.title).find(query_) != std::string::npos) {
      ++hits_;
      out_ += cat("session ", info.id.str(), " \"", clean_line(info.title), "\": the title\n");
    }
  }

  Result<> search_words(const SessionInfo& info) {
    const auto sink = [&](Message&& message) {  // NOLINT(*-rvalue-reference-param-not-moved)
      bytes_ += text_bytes(message);
      for (const Block& block : message.blocks) {
        if (const auto* text = std::get_if<TextBlock>(&block); text != nullptr) {
          search_text(info, message, text->text);
        }
      }
      return is_enough() ? Flow::stop : Flow::proceed;
    };
    const ReadRange range{.newest_first = true};
    const auto read = context_.store->read(info.id, range, sink);
    const bool is_skipped =
        !read && (read.error().code == Code::not_found || read.error().code == Code::corrupt);
    unreadable_ += is_skipped ? 1 : 0;
    return read || is_skipped ? Result<>() : std::unexpected(read.error());
  }

  void search_text(const SessionInfo& info, const Message& message, std::string_view text) {
    const auto at = ascii_lower(text).find(query_);
    if (at == std::string::npos || is_enough()) {
      return;
    }
    const std::size_t from = at > kContextBytes ? at - kContextBytes : 0;
    const std::string_view part = text.substr(from, query_.size() + 2 * kContextBytes);
    ++hits_;
    out_ += cat("session ", info.id.str(), " \"", clean_line(info.title), "\", message ",
                message.seq.value, ", ", clean_line(message.role), ": ",
                clean_line(whole_characters(part)), "\n");
  }

  // Removes partial characters at both ends.
  static std::string_view whole_characters(std::string_view part) {
    while (!part.empty() && utf8::is_continuation(part.front())) {
      part.remove_prefix(1);
    }
    return part.substr(0, part.size() - utf8::incomplete_tail(part));
  }

  const ToolContext& context_;
  std::optional<std::string> folder_;
  std::string query_;
  std::int64_t limit_;
  std::int64_t hits_ = 0;
  std::int64_t unreadable_ = 0;
  std::int64_t bytes_ = 0;
  std::string out_;
};

Result<ToolOutput> recall_in(std::optional<std::string> folder, const ToolContext& context,
                             const RawJson& input) {
  ToolArguments arguments(input);
  const std::string query = arguments.text("query").value_or("");
  const std::int64_t limit = arguments.integer("limit").value_or(kHitsDefault);
  REPRISE_TRY(arguments.check());
  if (trimmed(query).empty() || limit < 1) {
    return fail(Code::invalid_argument, "recall needs a query, and a limit of 1 or more");
  }
  if (context.store == nullptr) {
    return fail(Code::unsupported, "nothing is stored here");
  }
  Recall search(context, std::move(folder), trimmed(query), std::min(limit, kHitsMax));
  REPRISE_ASSIGN(std::string found, search.search());
  return ToolOutput{std::move(found)};
}

Result<ToolOutput> recall(const ToolContext& context, const RawJson& input) {
  return recall_in(context.session.info.working_dir, context, input);
}

Result<ToolOutput> recall_all(const ToolContext& context, const RawJson& input) {
  return recall_in(std::nullopt, context, input);
}

RawJson recall_schema() {
  return object_schema(R"("query":{"type":"string"},"limit":{"type":"integer"})", R"("query")");
}

}  // namespace

Tool make_todo_write_tool() {
  return {{"todo_write", "Replaces the list of todos of this session.",
           object_schema(R"("todos":{"type":"array","items":{"type":"object","properties":{)"
                         R"("content":{"type":"string"},"status":{"type":"string",)"
                         R"("enum":["pending","in_progress","completed"]},)"
                         R"("active_form":{"type":"string"}},"required":["content","status"]}})",
                         R"("todos")")},
          todo_write,
          std::nullopt};
}

Tool make_recall_tool() {
  return {{"recall", "Finds words in the titles and messages of earlier sessions of this folder.",
           recall_schema()},
          recall,
          std::nullopt};
}

Tool make_recall_all_tool() {
  return {
      {"recall_all", "Finds words in the titles and messages of earlier sessions of all folders.",
       recall_schema()},
      recall_all,
      std::nullopt};
}

}  // namespace reprise
