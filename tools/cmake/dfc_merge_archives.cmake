# Adds the members of OTHERS (archives, separated by commas) to the archive LIBRARY, with the program AR.
string(REPLACE "," "\nADDLIB " others "${OTHERS}")
set(script "${LIBRARY}.mri")
file(WRITE "${script}" "CREATE ${LIBRARY}.merged\nADDLIB ${LIBRARY}\nADDLIB ${others}\nSAVE\nEND\n")
execute_process(COMMAND "${AR}" -M INPUT_FILE "${script}" COMMAND_ERROR_IS_FATAL ANY)
file(RENAME "${LIBRARY}.merged" "${LIBRARY}")
file(REMOVE "${script}")
