/* What the toolkit's library exports and simgpu does not do: each of these
 * says its name once on stderr and returns cudaErrorNotSupported. The list is
 * unsupported.def; a test compares all exports with the toolkit's.
 *
 * The toolkit's header is not included, since its prototypes would have to be
 * repeated: the calling convention lets a function ignore its arguments.
 */
#include "cudart/unsupported.h"

#define UNSUPPORTED(name) \
    int name(void); \
    int name(void) { return unsupported_call(#name); }
#include "cudart/unsupported.def"
#undef UNSUPPORTED
