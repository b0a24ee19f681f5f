// The values of flags that several commands have.

#include <string>

#include "base/file.h"
#include "cli/commands/command.h"
#include "cli/settings/context_file.h"
#include "cli/settings/program_config.h"
#include "cli/settings/time_value.h"
#include "reprise/open_store.h"

namespace reprise::cli {

Result<Author> parse_author(std::string_view name, std::string_view flag) {
  auto author = Author::parse(name);
  if (!author) {
    return fail_with_context(flag, std::move(author).error());
  }
  return author;
}

std::string_view session_flags_error(bool newest, bool has_sel, bool new_session) {
  if (newest && has_sel) {
    return "-c and -r cannot be used together";
  }
  return new_session && (newest || has_sel) ? "--new cannot be used with -c or -r" : "";
}

std::string bad_cursor(std::string_view after) {
  return cat("--after '", after,
             "' is not a cursor of this list; leave it out to start at the beginning");
}

Result<TimeRange> parse_time_range(Context& context, const std::optional<std::string>& since,
                                   const std::optional<std::string>& until) {
  const Time now = context.clock().now();
  TimeRange range;
  REPRISE_ASSIGN(range.since, parse_time_flag("--since", since, now, DayEnd::begin));
  REPRISE_ASSIGN(range.until, parse_time_flag("--until", until, now, DayEnd::end));
  if (range.since && range.until && *range.since >= *range.until) {
    return fail(Code::invalid_argument, cat("no time is between --since '", since.value_or(""),
                                            "' and --until '", until.value_or(""), "'"));
  }
  return range;
}

Result<Exit> refuse_value(Context& context, Error error) {
  if (error.code == Code::invalid_argument) {
    return context.console().usage_error(error.message);
  }
  return std::unexpected(std::move(error));
}

Result<> refuse_store_file(Context& context, const std::filesystem::path& file) {
  const std::filesystem::path path = context.config().working_dir() / file;
  REPRISE_ASSIGN(const Settings* const settings, context.config().settings());
  std::string url = resolved_store_url(context.config().store_url(*settings));
  REPRISE_ASSIGN(bool is_stored, belongs_to_store(url, path));
  if (!is_stored) {
    REPRISE_ASSIGN(const std::filesystem::path target, resolve_path(path));
    url = kind_of(target) == FileKind::file ? recognise_store(target).value_or("") : "";
    is_stored = !url.empty();
  }
  return is_stored ? fail(Code::invalid_argument,
                          cat("cannot write ", file.native(), ": it belongs to the store ", url))
                   : Result<>();
}

}  // namespace reprise::cli
