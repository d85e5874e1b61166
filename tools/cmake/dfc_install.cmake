# `cmake --install build/release --prefix DIR`: bin/dfc, the modules it opens in lib/dfc, machine and graph files in
# share/dfc. The folder may be moved: everything is found from where the executable lies.

if(TARGET dfc)
  set_target_properties(dfc PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/dfc")
  install(TARGETS dfc RUNTIME DESTINATION bin)
endif()
# CUDA's libraries are the system's; its usual folder is often unknown to the loader.
set(dfc_onednn_rpath "$ORIGIN")
set(dfc_cuda_rpath "$ORIGIN;/usr/local/cuda/lib64")
foreach(module dfc_onednn dfc_cuda)
  if(TARGET ${module})
    set_target_properties(${module} PROPERTIES INSTALL_RPATH "${${module}_rpath}")
    install(TARGETS ${module} LIBRARY DESTINATION lib/dfc)
  endif()
endforeach()

file(GLOB dfc_machines CONFIGURE_DEPENDS samples/machines/*.json)
file(GLOB_RECURSE dfc_graphs CONFIGURE_DEPENDS samples/*.dfg)
install(FILES ${dfc_machines} DESTINATION share/dfc/machines)
file(GLOB dfc_peers CONFIGURE_DEPENDS tools/bench/peers/*.py)
install(FILES ${dfc_peers} DESTINATION share/dfc/peers)
install(FILES ${dfc_graphs} DESTINATION share/dfc/graphs)
