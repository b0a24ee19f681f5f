// The default options of the address sanitizer in the program `reprise`.
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0";
}
