#pragma once

// Exit codes of the program.

#include "reprise/error.h"

namespace reprise::cli {

enum class Exit : std::uint8_t {
  done = 0,
  failed = 1,         // the command failed
  unsaved = 2,        // there was an answer, but it could not be saved
  usage = 64,         // invalid command line
  interrupted = 130,  // stopped by a signal, after saving
};

// The exit code for an error.
Exit exit_for(Code code);

}  // namespace reprise::cli
