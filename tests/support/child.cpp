#include "support/child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace reprise::test {

pid_t in_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child != 0) {
    return child;
  }
  int code = 99;
  try {
    code = work();
  } catch (...) {
    code = 98;
  }
  ::_exit(code);
}

int exit_code_of(pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, 0) != child) {
    return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace reprise::test
