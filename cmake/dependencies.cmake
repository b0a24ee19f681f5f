# The system libraries we link. What only some commands need (libcurl, libcrypto, libedit) is
# loaded when it is used; of those only the headers are needed here.
find_package(Threads REQUIRED)

if(REPRISE_SQLITE_ROOT)
  set(SQLite3_ROOT ${REPRISE_SQLITE_ROOT})
  find_package(SQLite3 3.40 REQUIRED)
else()
  find_package(SQLite3 3.40 REQUIRED)
endif()
