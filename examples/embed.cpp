// Only the store: keep two messages, read them back, list what there is.
//
// usage: embed STORE_URL

#include <reprise/environment.h>
#include <reprise/open_store.h>

#include <iostream>

using namespace reprise;  // NOLINT(google-build-using-namespace): a program of one page

namespace {

Message say(std::string_view role, std::string_view text) {
  return {
      .role = std::string(role), .blocks = {text_block(text)}, .created_at = system_clock().now()};
}

Result<> run(std::string_view url) {
  REPRISE_ASSIGN(const auto store, open_store(url));
  Session session{.info = {.id = make_session_id(system_clock(), system_entropy())}};
  session.info.title = "Stored by another program";
  session.info.created_at = session.info.updated_at = system_clock().now();
  REPRISE_TRY(store->create(session));
  // Returns when both are on the disk; a crash leaves both or none.
  REPRISE_TRY(store->append(session.info.id,
                            {say(role::kUser, "Hello?"), say(role::kAssistant, "Hello!")}, {}));

  REPRISE_ASSIGN(const auto page, store->list({.limit = 10}));
  for (const SessionInfo& info : page.sessions) {
    std::cout << info.id.str() << "  " << info.title << ", " << info.head.value << " messages\n";
  }
  REPRISE_ASSIGN(const auto report, store->read(session.info.id, {}, [](Message&& message) {
    std::cout << message.role << ": " << plain_text(message) << '\n';
    return Flow::proceed;
  }));
  return report.damage.empty() ? Result<>() : fail(Code::corrupt, report.damage[0].reason);
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto done = run(argc > 1 ? argv[1] : "memory:"); !done) {
    std::cerr << done.error().message << '\n';
    return 1;
  }
}
