#pragma once

#include <cerrno>

#include "reprise/error.h"

namespace reprise {

// Whether the same call may succeed later: what was to be read is neither missing nor damaged, so
// that nothing may be concluded from the error.
inline bool is_transient(const Error& error) {
  switch (error.code) {
    case Code::io:
      return error.os_errno != EACCES;
    case Code::busy:
    case Code::conflict:
    case Code::timeout:
    case Code::cancelled:
      return true;
    default:
      return false;
  }
}

}  // namespace reprise
