// Typed SEL arguments: either a one-line error or a matching session.

#include "fuzzing.h"
#include "reprise/open_store.h"
#include "reprise/select.h"

using reprise::fuzz::require;

namespace {

reprise::Session session(char last, std::string title) {
  const auto id =
      reprise::SessionId::parse(std::string("01990000-0000-7000-8000-00000000000") + last);
  return {.info = {.id = *id, .title = std::move(title)}};
}

std::unique_ptr<reprise::Store> two_sessions() {
  auto store = reprise::open_memory_store();
  require(store->create(session('1', "Leagues")) && store->create(session('2', "Miles")), "create");
  return store;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::unique_ptr<reprise::Store> store = two_sessions();
  const auto sel = reprise::fuzz::text_of(data, size);
  const auto found = reprise::select_session(*store, sel, {});
  if (!found) {
    require(!found.error().message.empty() && !found.error().message.contains('\n'),
            "an error that is no line");
    // Quoted input must be safe to display.
    require(found.error().message.find('\x1B') == std::string::npos, "an escape in an error");
  }
  return 0;
}
