#include "base/text.h"
#include "cli/app/testing/screens.h"
#include "cli/app/testing/state.h"
#include "cli/app/update.h"

namespace reprise::cli::app {
namespace picker_screens_for_test {
namespace {

PickerRow row(int number, std::string_view title, std::string_view folder, std::int64_t messages) {
  const Time updated = empty_state().now - std::chrono::minutes(number * number * 17);
  return picker_row(
      {.id = *SessionId::parse(cat("0190a6a0-0000-7000-8000-", number, "00000000000")),
       .title = std::string(title),
       .mode = number == 2 ? "draft" : "",
       .working_dir = std::string(folder),
       .head = Seq{messages},
       .created_at = updated,
       .updated_at = updated},
      "");
}

State picking(Size size) {
  State state = empty_state(size);
  begin(state, {.pick = true, .all_folders = true});
  PageLoaded page{
      .generation = 1,
      .rows = {row(1, "Which files read the config?", "/home/ann/reprise", 12),
               row(2, "Mana base advice", "/home/ann/cards", 4),
               row(3, "A title that is longer than there is room for on most screens, 漢字",
                   "/home/ann/a/folder/with/a/long/path", 12345),
               row(4, "", "/srv/other", 0)},
      .next = ""};
  page.rows[2].mark = "! ";
  update(state, page);
  update(state, PreviewLoaded{page.rows[0].id,
                              {"Which files read the config?",
                               "Two files read it, one writes it:\nconfig.cpp\ncmd_config.cpp",
                               true, false}});
  return state;
}

State picker_filter(Size size) {
  State state = picking(size);
  type(state, "zzz");
  return state;
}

State picker_rename(Size size) {
  State state = picking(size);
  key(state, "F2");
  return state;
}

State picker_trash(Size size) {
  State state = picking(size);
  update(state,
         StoredChanged{StoredChanged::Change::trashed, "0190a6a0-0000-7000-8000-200000000000"});
  return state;
}

State picker_loading(Size size) {
  State state = empty_state(size);
  begin(state, {.pick = true});
  return state;
}

std::vector<NamedScreen> list() {
  return {{"picker", picking},
          {"picker_filter", picker_filter},
          {"picker_rename", picker_rename},
          {"picker_trash", picker_trash},
          {"picker_loading", picker_loading}};
}

}  // namespace
}  // namespace picker_screens_for_test

std::vector<NamedScreen> picker_screens() {
  return picker_screens_for_test::list();
}

}  // namespace reprise::cli::app
