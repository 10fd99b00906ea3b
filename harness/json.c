/* A recursive-descent reader and a writer; see json.h. */
#include "harness/json.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 64

struct reader {
    const char *start, *s, *end;
    const char *wrong;          /* first thing that is wrong */
    int depth;
};

static struct fl_json *value(struct reader *r);

static struct fl_json *fail(struct reader *r, const char *what)
{
    if (!r->wrong)
        r->wrong = what;
    return NULL;
}

static void skip_space(struct reader *r)
{
    while (r->s < r->end && strchr(" \t\r\n", *r->s) && *r->s)
        r->s++;
}

static bool eat(struct reader *r, char c)
{
    skip_space(r);
    if (r->s == r->end || *r->s != c)
        return false;
    r->s++;
    return true;
}

static struct fl_json *node(enum fl_json_type type)
{
    struct fl_json *j = fl_alloc(sizeof *j);
    j->type = type;
    return j;
}

static void add_utf8(struct fl_text *t, uint32_t c)
{
    char b[4];
    size_t n = 0;
    if (c < 0x80) {
        b[n++] = (char)c;
    } else if (c < 0x800) {
        b[n++] = (char)(0xc0 | c >> 6);
        b[n++] = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        b[n++] = (char)(0xe0 | c >> 12);
        b[n++] = (char)(0x80 | (c >> 6 & 0x3f));
        b[n++] = (char)(0x80 | (c & 0x3f));
    } else {
        b[n++] = (char)(0xf0 | c >> 18);
        b[n++] = (char)(0x80 | (c >> 12 & 0x3f));
        b[n++] = (char)(0x80 | (c >> 6 & 0x3f));
        b[n++] = (char)(0x80 | (c & 0x3f));
    }
    fl_text_add(t, b, n);
}

static bool hex4(struct reader *r, uint32_t *out)
{
    uint32_t v = 0;
    if (r->end - r->s < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        char c = *r->s++;
        const char *digits = "0123456789abcdef", *d;
        if (c >= 'A' && c <= 'F')
            c = (char)(c - 'A' + 'a');
        if (!c || !(d = strchr(digits, c)))
            return false;
        v = v << 4 | (uint32_t)(d - digits);
    }
    *out = v;
    return true;
}

/* After a backslash. Lone surrogates become U+FFFD. */
static bool escape(struct reader *r, struct fl_text *t)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (r->s == r->end)
        return false;
    char c = *r->s++;
    const char *at = c ? strchr(from, c) : NULL;
    if (at) {
        fl_text_add(t, &to[at - from], 1);
        return true;
    }
    uint32_t u, low;
    if (c != 'u' || !hex4(r, &u) || u == 0)
        return false;
    if (u >= 0xd800 && u < 0xdc00 && r->end - r->s >= 6 && r->s[0] == '\\'
        && r->s[1] == 'u') {
        const char *back = r->s;
        r->s += 2;
        if (!hex4(r, &low))
            return false;
        if (low >= 0xdc00 && low < 0xe000)
            u = 0x10000 + ((u - 0xd800) << 10) + (low - 0xdc00);
        else
            r->s = back;
    }
    add_utf8(t, u >= 0xd800 && u < 0xe000 ? 0xfffd : u);
    return true;
}

static char *string(struct reader *r)
{
    struct fl_text t = { 0 };
    fl_text_add(&t, "", 0);
    while (r->s < r->end && *r->s != '"') {
        unsigned char c = (unsigned char)*r->s++;
        if (c < 0x20 || (c == '\\' && !escape(r, &t))) {
            fl_text_free(&t);
            fail(r, c == '\\' ? "bad escape" : "control character in string");
            return NULL;
        }
        if (c != '\\')
            fl_text_add(&t, (char *)&c, 1);
    }
    if (r->s == r->end) {
        fl_text_free(&t);
        fail(r, "string without end");
        return NULL;
    }
    r->s++;
    return t.s;
}

static size_t digits(struct reader *r)
{
    const char *start = r->s;
    while (r->s < r->end && *r->s >= '0' && *r->s <= '9')
        r->s++;
    return (size_t)(r->s - start);
}

static bool take(struct reader *r, const char *any_of)
{
    if (r->s == r->end || !*r->s || !strchr(any_of, *r->s))
        return false;
    r->s++;
    return true;
}

static struct fl_json *number(struct reader *r)
{
    const char *start = r->s;
    take(r, "-");
    const char *whole = r->s;
    size_t n = digits(r);
    if (!n || (n > 1 && *whole == '0'))
        return fail(r, "not a value");
    if (take(r, ".") && !digits(r))
        return fail(r, "no digit after the point");
    if (take(r, "eE")) {
        take(r, "+-");
        if (!digits(r))
            return fail(r, "no digit in the exponent");
    }
    struct fl_json *j = node(FL_JSON_NUMBER);
    j->text = fl_format("%.*s", (int)(r->s - start), start);
    return j;
}

static struct fl_json *literal(struct reader *r)
{
    static const struct { const char *word; enum fl_json_type type; bool t; }
        words[] = { { "null", FL_JSON_NULL, false },
                    { "true", FL_JSON_BOOL, true },
                    { "false", FL_JSON_BOOL, false } };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i].word);
        if ((size_t)(r->end - r->s) >= n && !memcmp(r->s, words[i].word, n)) {
            r->s += n;
            struct fl_json *j = node(words[i].type);
            j->truth = words[i].t;
            return j;
        }
    }
    return number(r);
}

static struct fl_json *container(struct reader *r, bool object)
{
    struct fl_json *j = node(object ? FL_JSON_OBJECT : FL_JSON_ARRAY);
    struct fl_json **tail = &j->first;
    char close = object ? '}' : ']';
    if (++r->depth > MAX_DEPTH)
        fail(r, "nested too deeply");
    else if (eat(r, close)) {
        r->depth--;
        return j;
    }
    while (!r->wrong) {
        char *key = NULL;
        if (object && (!eat(r, '"') || !(key = string(r)) || !eat(r, ':'))) {
            free(key);
            fail(r, "no key");
            break;
        }
        struct fl_json *v = value(r);
        if (!v) {
            free(key);
            break;
        }
        v->key = key;
        *tail = v;
        tail = &v->next;
        if (eat(r, close)) {
            r->depth--;
            return j;
        }
        if (!eat(r, ','))
            fail(r, "no comma");
    }
    fl_json_free(j);
    return NULL;
}

static struct fl_json *value(struct reader *r)
{
    if (eat(r, '{'))
        return container(r, true);
    if (eat(r, '['))
        return container(r, false);
    if (eat(r, '"')) {
        char *s = string(r);
        if (!s)
            return NULL;
        struct fl_json *j = node(FL_JSON_STRING);
        j->text = s;
        return j;
    }
    return literal(r);
}

struct fl_json *fl_json_parse(const char *s, size_t n, char error[128])
{
    struct reader r = { .start = s, .s = s, .end = s + n };
    struct fl_json *j = value(&r);
    skip_space(&r);
    if (j && r.s != r.end) {
        fl_json_free(j);
        j = fail(&r, "something after the value");
    }
    if (!j && error)
        snprintf(error, 128, "byte %zu: %s", (size_t)(r.s - r.start), r.wrong);
    return j;
}

void fl_json_free(struct fl_json *j)
{
    while (j) {
        struct fl_json *next = j->next;
        fl_json_free(j->first);
        free(j->key);
        free(j->text);
        free(j);
        j = next;
    }
}

const struct fl_json *fl_json_get(const struct fl_json *object,
                                  const char *key)
{
    if (!object || object->type != FL_JSON_OBJECT)
        return NULL;
    for (const struct fl_json *j = object->first; j; j = j->next)
        if (!strcmp(j->key, key))
            return j;
    return NULL;
}

const char *fl_json_string(const struct fl_json *object, const char *key,
                           const char *otherwise)
{
    const struct fl_json *j = fl_json_get(object, key);
    return j && j->type == FL_JSON_STRING ? j->text : otherwise;
}

long long fl_json_integer(const struct fl_json *object, const char *key,
                          long long otherwise)
{
    const struct fl_json *j = fl_json_get(object, key);
    return j && j->type == FL_JSON_NUMBER ? strtoll(j->text, NULL, 10)
                                          : otherwise;
}

bool fl_json_bool(const struct fl_json *object, const char *key)
{
    const struct fl_json *j = fl_json_get(object, key);
    return j && j->type == FL_JSON_BOOL && j->truth;
}

/* ---- writing ---- */

/* Length of the UTF-8 sequence at s, 0 if it is not one. */
static size_t utf8_length(const unsigned char *s)
{
    size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
             : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
             : s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((n == 3 && s[0] == 0xe0 && s[1] < 0xa0)
        || (n == 3 && s[0] == 0xed && s[1] >= 0xa0)
        || (n == 4 && s[0] == 0xf0 && s[1] < 0x90)
        || (n == 4 && s[0] == 0xf4 && s[1] >= 0x90))
        return 0;
    return n;
}

static void quote(struct fl_text *t, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    fl_text_puts(t, "\"");
    while (*s) {
        size_t n = utf8_length(s);
        if (n == 0) {
            fl_text_puts(t, "\xef\xbf\xbd");
            n = 1;
        } else if (*s == '"' || *s == '\\') {
            fl_text_printf(t, "\\%c", *s);
        } else if (*s == '\n') {
            fl_text_puts(t, "\\n");
        } else if (*s < 0x20) {
            fl_text_printf(t, "\\u%04x", *s);
        } else {
            fl_text_add(t, (const char *)s, n);
        }
        s += n;
    }
    fl_text_puts(t, "\"");
}

static void begin_item(struct fl_text *t, const char *key)
{
    if (t->n && !strchr("[{\n", t->s[t->n - 1]))
        fl_text_puts(t, ",");
    if (key) {
        quote(t, key);
        fl_text_puts(t, ":");
    }
}

void fl_json_open(struct fl_text *t, const char *key, char bracket)
{
    begin_item(t, key);
    fl_text_add(t, &bracket, 1);
}

void fl_json_close(struct fl_text *t, char bracket)
{
    fl_text_add(t, &bracket, 1);
}

void fl_json_put_string(struct fl_text *t, const char *key, const char *s)
{
    begin_item(t, key);
    quote(t, s);
}

void fl_json_put_raw(struct fl_text *t, const char *key, const char *number)
{
    begin_item(t, key);
    fl_text_puts(t, number);
}

void fl_json_put_integer(struct fl_text *t, const char *key, long long value)
{
    begin_item(t, key);
    fl_text_printf(t, "%lld", value);
}

void fl_json_put_bool(struct fl_text *t, const char *key, bool value)
{
    fl_json_put_raw(t, key, value ? "true" : "false");
}

void fl_json_put(struct fl_text *t, const char *key, const struct fl_json *j)
{
    static const char brackets[][2] = { [FL_JSON_ARRAY] = { '[', ']' },
                                        [FL_JSON_OBJECT] = { '{', '}' } };
    if (j->type == FL_JSON_STRING)
        fl_json_put_string(t, key, j->text);
    else if (j->type == FL_JSON_NUMBER)
        fl_json_put_raw(t, key, j->text);
    else if (j->type == FL_JSON_BOOL)
        fl_json_put_bool(t, key, j->truth);
    else if (j->type == FL_JSON_NULL)
        fl_json_put_raw(t, key, "null");
    else {
        fl_json_open(t, key, brackets[j->type][0]);
        for (const struct fl_json *m = j->first; m; m = m->next)
            fl_json_put(t, m->key, m);
        fl_json_close(t, brackets[j->type][1]);
    }
}
