#pragma once

// For tests: states in the middle of use.

#include "cli/app/render.h"
#include "cli/app/update.h"

namespace reprise::cli::app {

inline constexpr Size kUsual{24, 80};

inline State empty_state(Size size = kUsual) {
  State state;
  state.size = size;
  state.now = Time(std::chrono::hours(24 * 365 * 50));
  state.start_folder = "/home/ann/reprise";
  state.home = "/home/ann";
  return state;
}

inline TabMetadata some_metadata(std::string folder = "/home/ann/reprise", std::string title = "") {
  TabMetadata metadata;
  metadata.id = "0190a6a0-0000-7000-8000-000000000001";
  metadata.title = std::move(title);
  metadata.folder = std::move(folder);
  metadata.provider = "echo";
  metadata.model = "echo";
  metadata.store = "sqlite";
  return metadata;
}

inline SessionInfo some_session() {
  return {.id = *SessionId::parse("0190a6a0-0000-7000-8000-000000000002"),
          .title = "An old chat",
          .head = Seq{4}};
}

// A new session in the start folder.
inline State open_state(Size size = kUsual) {
  State state = empty_state(size);
  update(state, NewestFound{});
  update(state, TabOpened{state.tabs.front().id, some_metadata(), {}, {}, {}});
  return state;
}

inline Effects type(State& state, std::string_view text) {
  return update(state, Typed{std::string(text)});
}

inline Effects key(State& state, std::string_view name) {
  return update(state, KeyPressed{std::string(name)});
}

inline Effects enter(State& state, std::string_view text) {
  type(state, text);
  return key(state, "Enter");
}

inline std::string shown(const State& state) {
  return render(state).text();
}

// The only effect, which must have this type.
template <class EffectType>
EffectType only(const Effects& effects) {
  const auto* const found =
      effects.size() == 1 ? std::get_if<EffectType>(&effects.front()) : nullptr;
  return found == nullptr ? EffectType{} : *found;
}

// The end of the shown tab's turn.
inline TurnEnded end_of(const State& state) {
  return {.tab = state.tabs[state.current].id, .metadata = state.tabs[state.current].metadata};
}

}  // namespace reprise::cli::app
