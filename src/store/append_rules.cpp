#include "store/append_rules.h"

#include <utility>

#include "base/text.h"
#include "reprise/store.h"
#include "store/rules.h"

namespace reprise::store {

Result<> check_append(const AppendState& now, Seq from, std::size_t messages,
                      const AppendOptions& options) {
  const std::string id = short_id(now.id);
  if (!is_valid_head(now.head)) {
    return fail(Code::corrupt, cat("session ", id, ": ", head_out_of_range(now.head),
                                   ": run `reprise verify --repair`"));
  }
  if (options.expected_head && *options.expected_head != now.head) {
    return fail(Code::conflict, cat("session ", id, " has ", now.head.value, " messages, not ",
                                    options.expected_head->value, ": read it again"));
  }
  if (from.value < 0 || from > now.head) {
    return fail(Code::invalid_argument, cat("session ", id, " has no position ", from.value,
                                            ": it has ", now.head.value, " messages"));
  }
  if (std::cmp_greater(messages, kSeqMax.value - from.value)) {
    return fail(Code::unsupported,
                cat("session ", id, " has ", from.value, " messages, the limit is ", kSeqMax.value,
                    ": continue in a new session"));
  }
  if (options.end_partial && now.answer != options.end_partial->str()) {
    return std::unexpected(answer_not_running(now.id, *options.end_partial));
  }
  if (options.begin_partial && now.answer && !options.end_partial) {
    return fail(Code::busy, cat("session ", id, " is already being answered"));
  }
  return {};
}

Appended appended_at(Seq first, std::size_t messages) {
  return {first, first.next(static_cast<std::int64_t>(messages)), false};
}

std::string once_name(const OperationId& operation) {
  return cat("operation:", operation.str());
}

std::string once_name_of_request(std::string_view request_id) {
  return cat("request:", request_id);
}

}  // namespace reprise::store
