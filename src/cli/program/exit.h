#pragma once

// How the program ends.

#include "reprise/error.h"

namespace reprise::cli {

enum class Exit : std::uint8_t {
  done = 0,
  failed = 1,         // it could not be done
  unsaved = 2,        // the answer was given but could not be saved
  usage = 64,         // the command line is wrong
  interrupted = 130,  // stopped by a signal, after saving
};

// The one table from what failed to the exit code.
Exit exit_for(Code code);

}  // namespace reprise::cli
