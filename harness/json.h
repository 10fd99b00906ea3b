/* JSON (RFC 8259), written and read. Numbers keep their text, since 64-bit
 * times do not survive a double. */
#ifndef FAULTLAG_HARNESS_JSON_H
#define FAULTLAG_HARNESS_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "harness/text.h"

enum fl_json_type {
    FL_JSON_NULL, FL_JSON_BOOL, FL_JSON_NUMBER, FL_JSON_STRING,
    FL_JSON_ARRAY, FL_JSON_OBJECT
};

struct fl_json {
    enum fl_json_type type;
    char *key;                  /* in an object */
    char *text;                 /* of a string, or a number as written */
    bool truth;
    struct fl_json *first, *next;
};

/* NULL on malformed input; *error (if not NULL) then says where and why. The
 * whole input must be one value. Strings with an embedded NUL are refused. */
struct fl_json *fl_json_parse(const char *s, size_t n, char error[128]);
void fl_json_free(struct fl_json *j);

/* All of these accept NULL and say NULL, or the given default. */
const struct fl_json *fl_json_get(const struct fl_json *object,
                                  const char *key);
const char *fl_json_string(const struct fl_json *object, const char *key,
                           const char *otherwise);
long long fl_json_integer(const struct fl_json *object, const char *key,
                          long long otherwise);
bool fl_json_bool(const struct fl_json *object, const char *key);

/* Writing: a comma where one is needed, quoting, escapes. Bytes that are not
 * UTF-8 are written as U+FFFD. key NULL: an array's element. */
void fl_json_open(struct fl_text *t, const char *key, char bracket);
void fl_json_close(struct fl_text *t, char bracket);
void fl_json_put_string(struct fl_text *t, const char *key, const char *s);
void fl_json_put_integer(struct fl_text *t, const char *key, long long value);
void fl_json_put_bool(struct fl_text *t, const char *key, bool value);
void fl_json_put(struct fl_text *t, const char *key, const struct fl_json *j);
/* `number` goes out as it is: the caller knows that it is one. */
void fl_json_put_raw(struct fl_text *t, const char *key, const char *number);

#endif
