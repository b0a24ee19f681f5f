#pragma once

// libedit's functions, loaded when an interactive REPL starts, so that other commands do not pay
// for it.

#include <histedit.h>

#include "base/late_library.h"
#include "reprise/error.h"

namespace reprise::cli {

struct EditLibrary : LateFunctions {
  Late<decltype(&::el_init_fd)> init{*this, "el_init_fd"};
  Late<decltype(&::el_end)> end{*this, "el_end"};
  Late<decltype(&::el_set)> set{*this, "el_set"};
  Late<decltype(&::el_wset)> set_wide{*this, "el_wset"};
  Late<decltype(&::el_get)> get{*this, "el_get"};
  Late<decltype(&::el_gets)> gets{*this, "el_gets"};
  Late<decltype(&::el_line)> line{*this, "el_line"};
  Late<decltype(&::el_push)> push{*this, "el_push"};
  Late<decltype(&::el_resize)> resize{*this, "el_resize"};
  Late<decltype(&::el_insertstr)> insert{*this, "el_insertstr"};
  Late<decltype(&::el_deletestr)> erase{*this, "el_deletestr"};
  Late<decltype(&::history_init)> history_begin{*this, "history_init"};
  Late<decltype(&::history_end)> history_end{*this, "history_end"};
  Late<decltype(&::history)> history{*this, "history"};
};

// Loads it at the first call. unsupported, naming the package, if it is not installed.
Result<const EditLibrary*> edit_library();

}  // namespace reprise::cli
