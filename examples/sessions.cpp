// Stored sessions: resume one, fork it, take a turn back, remove the fork.
//
// usage: sessions STORE_URL

#include <reprise/environment.h>
#include <reprise/open_store.h>
#include <reprise/sessions.h>

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
  session.info.title = "Leagues";
  session.info.created_at = session.info.updated_at = system_clock().now();
  REPRISE_TRY(store->create(session));
  REPRISE_TRY(store->append(
      session.info.id,
      {say(role::kUser, "How long is a league?"), say(role::kAssistant, "An hour's walk."),
       say(role::kUser, "And a mile?"), say(role::kAssistant, "A third of it.")},
      {}));

  // What a crash has left of a running answer is settled, and a closed session is active again.
  REPRISE_ASSIGN(const ResumedSession resumed, resume_session(*store, session.info.id));
  // The fork is there with its messages, or not at all.
  REPRISE_ASSIGN(const SessionId aside, fork_session(*store, {.parent = resumed.session.info.id}));
  REPRISE_ASSIGN(const RewindResult rewound, rewind_session(*store, aside, 1));
  REPRISE_ASSIGN(const Exchange last, last_exchange(*store, aside));
  std::cout << "took back " << rewound.messages << " messages: " << last.question << '\n';

  REPRISE_ASSIGN(const FoundSessions all, find_all_sessions(*store));
  std::cout << all.sessions.size() << " sessions\n";
  REPRISE_ASSIGN(const Session fork, get(*store, aside));
  REPRISE_ASSIGN(const RemovedSessions done,
                 remove_sessions(*store, {{fork.info}}, Removal::trash));
  std::cout << done.removed.size() << " in the trash\n";
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto done = run(argc > 1 ? argv[1] : "memory:"); !done) {
    std::cerr << done.error().message << '\n';
    return 1;
  }
}
