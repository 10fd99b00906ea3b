/* What the toolkit's libcupti exports and this one does not do: each returns
 * CUPTI's own code for that. The list is unsupported.def; arguments are
 * ignored, as the calling convention allows. */
enum { NOT_SUPPORTED = 27 }; /* CUPTI_ERROR_NOT_SUPPORTED */

#define UNSUPPORTED(name) \
    int name(void); \
    int name(void) { return NOT_SUPPORTED; }
#include "cupti/unsupported.def"
#undef UNSUPPORTED
