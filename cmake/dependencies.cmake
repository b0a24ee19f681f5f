# The system libraries that we link. Libraries for only some commands (libcurl, libcrypto, libedit,
# libpq, libzip, libzstd) are loaded on first use; only their headers are needed here.
find_package(Threads REQUIRED)
find_package(CURL 7.88 REQUIRED)

if(REPRISE_SQLITE_ROOT)
  set(SQLite3_ROOT ${REPRISE_SQLITE_ROOT})
endif()
find_package(SQLite3 3.40 REQUIRED)

# Small tables for titles and the terminal: linked statically, so they cost no start-up time.
find_path(REPRISE_UTF8PROC_INCLUDE utf8proc.h REQUIRED)
find_library(REPRISE_UTF8PROC NAMES libutf8proc.a utf8proc REQUIRED)

# Loaded when Markdown is first shown; only the header is needed here.
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
