# The system libraries we link. What only some commands need (libcurl, libcrypto, libedit, libpq, libzip, libzstd)
# is loaded when it is used; of those only the headers are needed here.
find_package(Threads REQUIRED)
find_package(CURL 7.88 REQUIRED)

if(REPRISE_SQLITE_ROOT)
  set(SQLite3_ROOT ${REPRISE_SQLITE_ROOT})
endif()
find_package(SQLite3 3.40 REQUIRED)

# Small tables that the titles and the terminal need: linked statically, so they cost no start-up.
find_path(REPRISE_UTF8PROC_INCLUDE utf8proc.h REQUIRED)
find_library(REPRISE_UTF8PROC NAMES libutf8proc.a utf8proc REQUIRED)

# Loaded when the first Markdown is shown; only the header is needed here.
find_path(REPRISE_MD4C_INCLUDE md4c.h REQUIRED)
# The full-screen program: linked statically, so that no other command loads them.
if(REPRISE_PROGRAM)
  find_path(REPRISE_NCURSES_INCLUDE ncurses.h REQUIRED)
  find_library(REPRISE_NCURSES NAMES libncursesw.a ncursesw REQUIRED)
  find_library(REPRISE_TINFO NAMES libtinfo.a tinfo REQUIRED)
endif()

find_path(REPRISE_ZIP_INCLUDE zip.h REQUIRED)
find_path(REPRISE_ZSTD_INCLUDE zstd.h REQUIRED)
find_path(REPRISE_YAML_INCLUDE yaml.h REQUIRED)
find_path(REPRISE_LIBPQ_INCLUDE libpq-fe.h PATH_SUFFIXES postgresql REQUIRED)
