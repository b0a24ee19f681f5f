include(CMakePackageConfigHelpers)

# Builds only what is installed, so that the result of `./setup` can be installed.
add_custom_target(reprise_installation DEPENDS reprise)
if(REPRISE_PROGRAM)
  add_dependencies(reprise_installation reprise_program reprise_generated)
endif()

install(TARGETS reprise EXPORT repriseTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT repriseTargets NAMESPACE reprise::
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/reprise)
file(RELATIVE_PATH REPRISE_PREFIX_FROM_PC
  ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/reprise.pc.in reprise.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/reprise.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
configure_package_config_file(cmake/repriseConfig.cmake.in repriseConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/reprise)
write_basic_package_version_file(repriseConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/repriseConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/repriseConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/reprise)
