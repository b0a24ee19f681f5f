#include "cli/session/given_session.h"

#include "base/terminal_text.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/provider/request_choice.h"
#include "cli/settings/program_config.h"

namespace reprise::cli {

Session new_given_session(Context& context, std::string_view title) {
  const Time now = context.clock().now();
  return Session{.info = {.id = make_session_id(context.clock(), system_entropy()),
                          .title = std::string(trimmed(terminal_line(title))),
                          .working_dir = utf8::sanitize(context.config().working_dir().native()),
                          .created_at = now,
                          .updated_at = now}};
}

void set_given_author(Context& context, Source& store, Message& message) {
  const auto settings = context.config().settings();
  if (message.role != role::kUser || !settings) {
    return;
  }
  auto author = choose_author(**settings, &store);
  if (author) {
    message.author = *std::move(author);
  } else {
    context.console().warn(
        cat("the message is stored without an author: ", author.error().message));
  }
}

Result<std::optional<OperationId>> parse_operation(const std::optional<std::string>& given) {
  if (!given) {
    return std::nullopt;
  }
  auto parsed = OperationId::parse(*given);
  if (!parsed) {
    return fail_with_context("the operation id", std::move(parsed).error());
  }
  return std::optional(*std::move(parsed));
}

}  // namespace reprise::cli
