#include "stored_answer.h"

#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"

namespace reprise::rel {

namespace fs = std::filesystem;

StoredAnswer stored_answer_in(const fs::path& folder, std::string_view url) {
  StoredAnswer out;
  const auto colon = url.find(':') + 1;
  const auto store = open_store(cat(url.substr(0, colon), (folder / url.substr(colon)).native()),
                                {.access = Access::read});
  const auto page =
      store ? (*store)->list({}) : Result<SessionPage>(std::unexpected(store.error()));
  if (!page && page.error().code == Code::not_found) {
    return {.holds_questions = false};  // a context file starts with the first answer
  }
  if (!page) {
    return {.fault = page.error().message};
  }
  if (page->sessions.size() != 1 || !page->damage.empty()) {
    return {.fault = cat("shows ", page->sessions.size(), " sessions")};
  }
  out.holds_questions = (*store)->capabilities().open_questions;
  const auto read = (*store)->read(page->sessions[0].id, {}, [&](const Message& message) {
    out.questions += message.role == role::kUser && !plain_text(message).empty() ? 1U : 0U;
    out.is_whole = message.role == role::kAssistant && message.state == MessageState::complete;
    if (message.role == role::kAssistant) {
      out.answer += plain_text(message);
    }
    return Flow::proceed;
  });
  if (!read || read->damaged > 0) {
    return {.fault = read ? "shows damage" : read.error().message};
  }
  const std::optional<Partial> running =
      (*store)->capabilities().partials->find_partial(page->sessions[0].id).value_or(std::nullopt);
  if (running) {
    Message answer;
    answer.blocks = running->blocks;
    out.answer += plain_text(answer);
    out.is_whole = false;
  }
  return out;
}

}  // namespace reprise::rel
