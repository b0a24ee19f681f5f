#include "cli/process/exit.h"

#include "reprise/error.h"

namespace reprise::cli {

Exit exit_for(Code code) {
  switch (code) {
    case Code::cancelled:
      return Exit::interrupted;
    case Code::not_found:
    case Code::ambiguous:
    case Code::invalid_argument:
    case Code::conflict:
    case Code::busy:
    case Code::corrupt:
    case Code::unsupported:
    case Code::unauthorized:
    case Code::rate_limited:
    case Code::too_long:
    case Code::expired:
    case Code::timeout:
    case Code::io:
      return Exit::failed;
  }
  return Exit::failed;
}

}  // namespace reprise::cli
