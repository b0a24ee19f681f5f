#pragma once

// libedit's functions, loaded when an interactive REPL starts: no other command pays for it.

#include <histedit.h>

#include "reprise/error.h"

namespace reprise::cli {

struct EditLibrary {
  decltype(&::el_init_fd) init = nullptr;
  decltype(&::el_end) end = nullptr;
  decltype(&::el_set) set = nullptr;
  decltype(&::el_wset) set_wide = nullptr;
  decltype(&::el_get) get = nullptr;
  decltype(&::el_gets) gets = nullptr;
  decltype(&::el_line) line = nullptr;
  decltype(&::el_push) push = nullptr;
  decltype(&::el_resize) resize = nullptr;
  decltype(&::el_insertstr) insert = nullptr;
  decltype(&::el_deletestr) erase = nullptr;
  decltype(&::history_init) history_begin = nullptr;
  decltype(&::history_end) history_end = nullptr;
  decltype(&::history) history = nullptr;
};

// Loaded by the first call. unsupported, naming the package, where it is not installed.
const Result<EditLibrary>& edit_library();

}  // namespace reprise::cli
