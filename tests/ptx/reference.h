/* What the files of references share. */
#ifndef TESTS_PTX_REFERENCE_H
#define TESTS_PTX_REFERENCE_H

#include "tests/ptx/form.h"

#define FORM_LIST(array)                                                     \
    extern const struct form_list list_##array;                              \
    const struct form_list list_##array = {#array, array,                    \
                                           sizeof array / sizeof *array};

#endif
