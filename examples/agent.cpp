// An agent with a tool, kept in a store and resumed by id.
//
// usage: agent STORE_URL QUESTION [SESSION_ID]

#include <reprise/conversation.h>
#include <reprise/open_store.h>

#include <iostream>
#include <string>

using namespace reprise;  // NOLINT(google-build-using-namespace): a program of one page

namespace {

class Printer : public TurnObserver {
  void on_text(std::string_view text) override { std::cout << text << std::flush; }
  void on_warning(std::string_view text) override { std::cerr << "warning: " << text << '\n'; }
};

Result<ToolOutput> tell_time(const ToolContext& /*where*/, const RawJson& /*input*/) {
  return ToolOutput{.text = format_time(system_clock().now())};
}

Result<> run(int argc, char** argv) {
  if (argc < 3) {
    return fail(Code::invalid_argument, "usage: agent STORE_URL QUESTION [SESSION_ID]");
  }
  REPRISE_ASSIGN(const auto store, open_store(argv[1]));
  REPRISE_ASSIGN(const auto provider, make_provider("echo", {}));
  ToolRegistry tools;
  REPRISE_ASSIGN(auto no_input, RawJson::parse(R"({"type":"object","properties":{}})"));
  REPRISE_TRY(tools.add({.spec = {"tell_time", "The time now, UTC.", no_input}, .run = tell_time}));

  Session session{.info = {.id = make_session_id(system_clock(), system_entropy())}};
  if (argc > 3) {
    REPRISE_ASSIGN(const auto id, SessionId::parse(argv[3]));
    REPRISE_ASSIGN(session, get(*store, id));
  } else {
    session.info.title = title_from_prompt(argv[2]);
    session.info.created_at = session.info.updated_at = system_clock().now();
    REPRISE_TRY(store->create(session));
  }
  Conversation conversation(*provider, store.get(), session, {.model = "echo", .tools = &tools});
  Printer printer;
  REPRISE_TRY(conversation.ask(argv[2], printer));
  std::cout << "\nsession " << conversation.session().info.id.str() << '\n';
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto done = run(argc, argv); !done) {
    std::cerr << done.error().message << '\n';
    return 1;
  }
}
