#include "base/dynamic_library.h"

#include <dlfcn.h>

#include <initializer_list>

#include "base/text.h"
#include "reprise/error.h"

namespace reprise {

Result<DynamicLibrary> DynamicLibrary::load(std::string_view title,
                                            std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (void* handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL); handle != nullptr) {
      return DynamicLibrary(handle);
    }
  }
  return fail(Code::unsupported,
              cat(title, " is not installed here: ", *names.begin(), " was not found"));
}

Result<void*> DynamicLibrary::symbol(const char* name) const {
  void* address = ::dlsym(handle_, name);
  if (address == nullptr) {
    return fail(Code::unsupported, cat("an installed library is too old: it has no ", name));
  }
  return address;
}

Result<> LibraryFunctions::bind(const DynamicLibrary& library) const {
  for (const auto& [name, address] : functions_) {
    REPRISE_ASSIGN(*address, library.symbol(name));
  }
  return {};
}

}  // namespace reprise
