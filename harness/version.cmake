# Writes harness/version.h; run at every build by faultlag_version.
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
execute_process(COMMAND git -C ${SOURCE} status --porcelain --untracked-files=no
  OUTPUT_VARIABLE changes ERROR_QUIET)
if(NOT commit)
  set(commit unknown)
endif()
set(dirty 0)
if(changes)
  set(dirty 1)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
"#define FAULTLAG_VERSION \"${VERSION}\"
#define FAULTLAG_COMMIT \"${commit}\"
#define FAULTLAG_DIRTY ${dirty}
")
