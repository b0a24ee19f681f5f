#include "cli/repl/edit_library.h"

#include "base/late_library.h"
#include "reprise/error.h"

namespace reprise::cli {

namespace {

Result<EditLibrary> load() {
  REPRISE_ASSIGN(const auto library,
                 LateLibrary::load("libedit (Debian's libedit2)", {"libedit.so.2", "libedit.so"}));
  EditLibrary edit;
  Result<> bound;
  const auto bind = [&library, &bound](auto& function, const char* name) {
    if (bound) {
      bound = library.bind(function, name);
    }
  };
  bind(edit.init, "el_init_fd");
  bind(edit.end, "el_end");
  bind(edit.set, "el_set");
  bind(edit.set_wide, "el_wset");
  bind(edit.get, "el_get");
  bind(edit.gets, "el_gets");
  bind(edit.line, "el_line");
  bind(edit.push, "el_push");
  bind(edit.resize, "el_resize");
  bind(edit.insert, "el_insertstr");
  bind(edit.erase, "el_deletestr");
  bind(edit.history_begin, "history_init");
  bind(edit.history_end, "history_end");
  bind(edit.history, "history");
  REPRISE_TRY(bound);
  return edit;
}

}  // namespace

const Result<EditLibrary>& edit_library() {
  static const Result<EditLibrary> loaded = load();
  return loaded;
}

}  // namespace reprise::cli
