#include "cli/app/testing/screens.h"

#include "base/text.h"
#include "cli/app/testing/state.h"
#include "cli/app/update.h"
#include "reprise/message.h"

namespace reprise::cli::app {
namespace session_screens_for_test {
namespace {

constexpr TabId kFirst{1};
constexpr std::string_view kAnswer =
    "## What was found\n\n"
    "Two files *read* the config, one **writes** it:\n\n"
    "1. `config.cpp`, the user's file first\n"
    "2. `cmd_config.cpp`\n   - only for `init`\n\n"
    "| from | wins over | why |\n|---|---|---:|\n| flags | all else | they are nearest |\n"
    "| 環境 | files | 🙂 |\n\n"
    "```cpp\nauto settings = load(sources);  // flags come later\n```\n\n"
    "> Quoted, with a [link](https://example.org/a).";

Usage used(std::int64_t in, std::int64_t out, std::string_view cost) {
  return {.input = {in}, .output = {out}, .cost = Money::parse(cost)};
}

void end_turn(State& state, TabId tab) {
  TabMetadata metadata = state.find(tab)->metadata;
  metadata.usage = used(1420, 96, "0.0021");
  metadata.budget = 8000;
  update(state, TurnEnded{.tab = tab, .metadata = metadata});
}

void answer(State& state, std::string_view text) {
  update(state, TextReceived{kFirst, std::string(text)});
  update(state, AnswerStored{.tab = kFirst,
                             .model = "gpt-x",
                             .usage = used(1420, 96, "0.0021"),
                             .at = state.now - std::chrono::minutes(3)});
  end_turn(state, kFirst);
}

State conversation(Size size) {
  State state = open_state(size);
  enter(state, "Which files read the config?");
  answer(state, kAnswer);
  return state;
}

ToolUseBlock call(std::string id, std::string name, std::string_view input) {
  return {std::move(id), std::move(name), *RawJson::parse(std::string(input)), {}};
}

// A turn with a thought and two calls in two requests; the footer has the total of both.
State tools(Size size) {
  State state = open_state(size);
  enter(state, "Read a.txt and write b.txt");
  update(state, ThinkingReceived{kFirst, "First I read.\nThen I write."});
  update(state, ToolCalled{kFirst, call("1", "read_file", R"({"path":"a.txt"})")});
  update(state, ToolCalled{kFirst, call("2", "write_file", R"({"path":"b.txt"})")});
  update(state, AnswerStored{.tab = kFirst,
                             .model = "gpt-x",
                             .usage = used(1000, 50, "0.001"),
                             .at = state.now,
                             .calls_tools = true});
  update(state, ToolAnswered{kFirst, {"1", "one\ntwo", false, {}, {}}});
  update(state, ToolAnswered{kFirst, {"2", "no permission", true, {}, {}}});
  answer(state, "The second one could not be written.");
  return state;
}

State opened_tools(Size size) {
  State state = tools(size);
  key(state, "Shift-Tab");
  key(state, "Enter");
  return state;
}

State answering(Size size) {
  State state = conversation(size);
  enter(state, "And who writes it?");
  update(state, TextReceived{kFirst, "Nobody but"});
  enter(state, "Are you sure?");
  type(state, "half a thou");
  return state;
}

State cut(Size size) {
  State state = open_state(size);
  enter(state, "Tell me all");
  update(state, TextReceived{kFirst, "To begin with"});
  TurnEnded ended{.tab = kFirst,
                  .metadata = state.tabs[0].metadata,
                  .stopped = true,
                  .advice = "what has arrived is saved, /go-on continues it"};
  ended.metadata.saved = false;
  ended.metadata.title = "All of it";
  update(state, ended);
  update(state, Announcement{Announcement::Kind::warning, kFirst,
                             "the disk is full; the conversation continues, unsaved"});
  return state;
}

State offer(Size size) {
  State state = empty_state(size);
  update(state,
         NewestFound{SessionInfo{.id = *SessionId::parse("0190a6a0-0000-7000-8000-000000000002"),
                                 .title = "Find who reads the config, and why it is read twice",
                                 .head = Seq{12},
                                 .updated_at = state.now - std::chrono::hours(30)}});
  return state;
}

State consent(Size size) {
  State state = open_state(size);
  enter(state, "Write it");
  std::string input = R"({"path":"notes.txt","text":")";
  for (int i = 1; i <= 120; ++i) {
    input += cat("line ", i, "\\n");
  }
  update(state, ToolCalled{kFirst, call("1", "write_file", input + "\"}")});
  update(state, ConsentRequest{kFirst, 1, cat("Run write_file ", input, "\"}?")});
  return state;
}

State closing_question(Size size) {
  State state = answering(size);
  key(state, "Ctrl-W");
  return state;
}

State clearing(Size size) {
  State state = conversation(size);
  update(state, ClearRequest{3});
  return state;
}

State leaving(Size size) {
  State state = conversation(size);
  enter(state, "/quit");
  return state;
}

State todos(Size size) {
  State state = conversation(size);
  std::vector<Todo> list(4);
  list[0].content = "Find who reads the config";
  list[0].status = TodoStatus::completed;
  list[1].content = "List the keys";
  list[1].active_form = "Listing the keys";
  list[1].status = TodoStatus::in_progress;
  list[2].content = "Write them down, with what each of them means and where it may stand";
  list[3].content = "漢字 and 🙂";
  update(state, TodosChanged{kFirst, list});
  return state;
}

// Ten tabs: one is answering, one has unread text, one is being opened.
State tabs(Size size) {
  State state = conversation(size);
  for (int i = 2; i <= 10; ++i) {
    enter(state, cat("/session new /home/ann/p", i));
    if (i < 10) {
      const std::string title = i == 3 ? "見出し" : i == 4 ? "A title that is long" : "";
      update(state, TabOpened{{i}, some_metadata(cat("/home/ann/p", i), title), {}, {}, {}});
    }
  }
  key(state, "Alt-2");
  enter(state, "slow");
  key(state, "Alt-1");
  update(state, Announcement{Announcement::Kind::notice, TabId{4}, "news"});
  enter(state, "/session list");
  enter(state, "/session new /one/too/many");
  return state;
}

State help(Size size) {
  State state = conversation(size);
  key(state, "F1");
  return state;
}

State history_search(Size size) {
  State state = conversation(size);
  key(state, "Ctrl-R");
  type(state, "config");
  return state;
}

State transcript_search(Size size) {
  State state = open_state(size);
  for (int i = 0; i < 60; ++i) {
    state.tabs[0].entries.push_back({.text = cat(i % 20 == 3 ? "Needle " : "hay ", i)});
  }
  key(state, "PgUp");
  key(state, "Ctrl-F");
  type(state, "needle");
  key(state, "Enter");
  key(state, "Ctrl-F");
  type(state, "other");
  return state;
}

State commands(Size size) {
  State state = conversation(size);
  type(state, "/");
  key(state, "Down");
  return state;
}

State questions(Size size) {
  State state = conversation(size);
  state.tabs[0].metadata.messages = 2;
  update(state,
         QuestionsListed{kFirst, SlashVerb::fork, {{Seq{0}, "Which files read the config?"}}});
  return state;
}

State long_input(Size size) {
  State state = conversation(size);
  for (int i = 1; i <= 12; ++i) {
    type(state, cat("line ", i, " of what is typed, 漢字"));
    key(state, "Alt-Enter");
  }
  type(state, std::string(90, 'x'));
  return state;
}

State hostile(Size size) {
  State state = open_state(size);
  const std::string bad = "a\x1b]0;owned\x07\x1b[2Jb\u202ec\u2066d\te\u0301\u0302\xff";
  state.tabs[0].metadata = some_metadata("/tmp/" + bad, bad);
  state.tabs[0].metadata.model = bad;
  state.tabs[0].metadata.mode = bad;
  enter(state, bad);
  update(state, ToolCalled{kFirst, {"1", bad, *RawJson::parse("{}"), {}}});
  update(state, ToolAnswered{kFirst, {"1", bad, false, {}, {}}});
  update(state,
         TextReceived{kFirst, "# " + bad + "\n" + bad + "\n```" + bad + "\n" + bad + "\n```"});
  std::vector<Todo> list(1);
  list[0].content = bad;
  update(state, TodosChanged{kFirst, list});
  key(state, "Ctrl-T");
  return state;
}

std::vector<NamedScreen> list() {
  return {{"opening", [](Size size) { return empty_state(size); }},
          {"new_session", [](Size size) { return open_state(size); }},
          {"no_session",
           [](Size size) {
             State state = open_state(size);
             update(state, TabClosed{kFirst});
             return state;
           }},
          {"offer", offer},
          {"talk", conversation},
          {"tools", tools},
          {"opened_tools", opened_tools},
          {"answering", answering},
          {"cut", cut},
          {"consent", consent},
          {"closing_question", closing_question},
          {"clearing", clearing},
          {"leaving", leaving},
          {"todos", todos},
          {"tabs", tabs},
          {"help", help},
          {"history_search", history_search},
          {"transcript_search", transcript_search},
          {"commands", commands},
          {"questions", questions},
          {"long_input", long_input},
          {"hostile", hostile}};
}

}  // namespace
}  // namespace session_screens_for_test

std::vector<NamedScreen> session_screens() {
  return session_screens_for_test::list();
}

}  // namespace reprise::cli::app
