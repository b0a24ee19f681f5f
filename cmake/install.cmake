include(CMakePackageConfigHelpers)

install(TARGETS reprise EXPORT repriseTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT repriseTargets NAMESPACE reprise::
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/reprise)
configure_package_config_file(cmake/repriseConfig.cmake.in repriseConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/reprise)
write_basic_package_version_file(repriseConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/repriseConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/repriseConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/reprise)
