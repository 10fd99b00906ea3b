/* printf of the device: the format language of CUDA's guide ("Formatted
 * output"), each conversion carried out by the host's printf. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/guest.h"
#include "ptx/guest_view.h"

#define MAX_ARGS 32
#define MAX_SPEC 64
#define MAX_FIELD 4096 /* widths and precisions are cut to this */

struct formatter {
    struct warp *w;
    uint32_t lane;
    uint64_t format, args; /* next byte of each */
    int n_args;
    char *text;
    size_t len, cap;
    uint64_t bad;
    bool failed;
};

/* ---- guest memory ------------------------------------------------------------- */

static uint64_t load(struct formatter *f, uint64_t address, uint32_t bytes) {
    const void *at = guest_view(f->w, f->lane, address, bytes);
    if (at)
        return bytes == 1 ? guest_load8(at)
             : bytes == 4 ? guest_load32(at) : guest_load64(at);
    if (!f->failed) f->bad = address;
    f->failed = true;
    return 0;
}

static char next_char(struct formatter *f) {
    return (char)load(f, f->format++, 1);
}

static uint64_t next_arg(struct formatter *f, uint32_t bytes) {
    f->args = (f->args + bytes - 1) & ~(uint64_t)(bytes - 1);
    uint64_t value = load(f, f->args, bytes);
    f->args += bytes;
    f->n_args++;
    return value;
}

/* ---- the text --------------------------------------------------------------- */

static char *reserve(struct formatter *f, size_t n) {
    if (f->len + n > f->cap) {
        size_t cap = 2 * f->cap + n + 64;
        char *grown = realloc(f->text, cap);
        if (!grown) {
            f->failed = true;
            return NULL;
        }
        f->text = grown;
        f->cap = cap;
    }
    return f->text + f->len;
}

static void append(struct formatter *f, const char *s, size_t n) {
    char *to = reserve(f, n);
    if (!to) return;
    memcpy(to, s, n);
    f->len += n;
}

/* printf into the text; the widest field and a %f of 1e308 fit. */
#define APPEND_FORMAT(f, spec, value)                                      \
    do {                                                                   \
        char *to_ = reserve((f), 2 * MAX_FIELD);                           \
        if (to_) {                                                         \
            int n_ = snprintf(to_, 2 * MAX_FIELD, (spec), (value));        \
            if (n_ > 0)                                                    \
                (f)->len += n_ < 2 * MAX_FIELD ? n_ : 2 * MAX_FIELD - 1;   \
        }                                                                  \
    } while (0)

/* ---- one conversion ----------------------------------------------------------- */

/* %[flags][width][.precision][size]type, as read and rebuilt. */
struct spec {
    char raw[MAX_SPEC]; /* as it stands in the format */
    size_t n_raw;
    char flags[8];
    int width, precision; /* -1: none */
    int longs;            /* how many l's; size in bytes follows from it */
    int halves;
    char type;
};

static char spec_char(struct formatter *f, struct spec *s) {
    char c = next_char(f);
    if (c && s->n_raw < sizeof s->raw) s->raw[s->n_raw++] = c;
    return c;
}

/* A number or a '*'; *c is the character behind it afterwards. */
static int field(struct formatter *f, struct spec *s, char *c) {
    int n = 0;
    if (*c == '*') {
        n = (int32_t)next_arg(f, 4);
        *c = spec_char(f, s);
        return n;
    }
    while (*c >= '0' && *c <= '9') {
        if (n < MAX_FIELD) n = 10 * n + (*c - '0');
        *c = spec_char(f, s);
    }
    return n;
}

static int limited(int n) {
    return n > MAX_FIELD - 512 ? MAX_FIELD - 512 : n;
}

/* Reads what follows a '%'. */
static void parse(struct formatter *f, struct spec *s) {
    char c = spec_char(f, s);
    size_t n = 0;
    while (c && strchr("-+ #0", c)) {
        if (n + 2 < sizeof s->flags && !strchr(s->flags, c)) s->flags[n++] = c;
        c = spec_char(f, s);
    }
    s->width = (c >= '0' && c <= '9') || c == '*' ? field(f, s, &c) : -1;
    if (s->width < -1) { /* of '*': as if with '-' */
        if (!strchr(s->flags, '-')) s->flags[n++] = '-';
        s->width = s->width == INT32_MIN ? MAX_FIELD : -s->width;
    }
    s->precision = -1;
    if (c == '.') {
        c = spec_char(f, s);
        s->precision = field(f, s, &c);
    }
    for (; c && strchr("hlLjzt", c); c = spec_char(f, s)) {
        if (c == 'h') s->halves++;
        else s->longs += c == 'l' ? 1 : 2;
    }
    s->width = limited(s->width);
    s->precision = limited(s->precision);
    s->type = c;
}

/* The same for the host's printf, with the size our value has. */
static void rebuild(const struct spec *s, const char *size, char *to) {
    char *at = to + sprintf(to, "%%%s", s->flags);
    if (s->width >= 0) at += sprintf(at, "%d", s->width);
    if (s->precision >= 0) at += sprintf(at, ".%d", s->precision);
    sprintf(at, "%s%c", size, s->type);
}

static void print_integer(struct formatter *f, const struct spec *s) {
    bool is_signed = s->type == 'd' || s->type == 'i';
    uint64_t v = next_arg(f, s->longs ? 8 : 4);
    char spec[MAX_SPEC];
    if (!s->longs && is_signed) v = (uint64_t)(int64_t)(int32_t)v;
    if (s->halves == 1) v = is_signed ? (uint64_t)(int16_t)v : (uint16_t)v;
    if (s->halves > 1) v = is_signed ? (uint64_t)(int8_t)v : (uint8_t)v;
    rebuild(s, "ll", spec);
    APPEND_FORMAT(f, spec, (long long)v);
}

static void print_float(struct formatter *f, const struct spec *s) {
    uint64_t bits = next_arg(f, 8);
    char spec[MAX_SPEC];
    double v;
    memcpy(&v, &bits, sizeof v);
    rebuild(s, "", spec);
    APPEND_FORMAT(f, spec, v);
}

static void pad(struct formatter *f, int n) {
    for (; n > 0; n--) append(f, " ", 1);
}

static void print_string(struct formatter *f, const struct spec *s) {
    uint64_t address = next_arg(f, 8), n = 0;
    size_t limit = s->precision >= 0 ? (size_t)s->precision : SIZE_MAX;
    bool left = strchr(s->flags, '-') != NULL;
    if (f->failed) return;
    if (!address) {
        char spec[MAX_SPEC];
        rebuild(s, "", spec);
        APPEND_FORMAT(f, spec, "(null)");
        return;
    }
    while (n < limit && load(f, address + n, 1)) n++;
    if (!left) pad(f, s->width - (int)n);
    for (uint64_t i = 0; i < n && !f->failed; i++) {
        char c = (char)load(f, address + i, 1);
        append(f, &c, 1);
    }
    if (left) pad(f, s->width - (int)n);
}

/* snprintf stops its count at a NUL, which %c may well print. */
static void print_char(struct formatter *f, const struct spec *s) {
    char c = (char)next_arg(f, 4);
    bool left = strchr(s->flags, '-') != NULL;
    if (!left) pad(f, s->width - 1);
    append(f, &c, 1);
    if (left) pad(f, s->width - 1);
}

static void convert(struct formatter *f) {
    struct spec s = {.raw = "%", .n_raw = 1};
    char spec[MAX_SPEC];
    parse(f, &s);
    if (f->failed) return;
    if (s.type == '%') {
        append(f, "%", 1);
        return;
    }
    bool known = s.type && strchr("diouxXcspaAeEfFgG", s.type);
    if (!known || f->n_args >= MAX_ARGS) {
        append(f, s.raw, s.n_raw);
        if (!s.type) f->format--; /* the end of the format is seen again */
        return;
    }
    switch (s.type) {
    case 'd': case 'i': case 'o': case 'u': case 'x': case 'X':
        print_integer(f, &s);
        break;
    case 'c':
        print_char(f, &s);
        break;
    case 's':
        print_string(f, &s);
        break;
    case 'p':
        rebuild(&s, "", spec);
        APPEND_FORMAT(f, spec, (void *)(uintptr_t)next_arg(f, 8));
        break;
    default:
        print_float(f, &s);
        break;
    }
}

int device_format(struct warp *w, uint32_t lane, uint64_t format,
                  uint64_t args, char **text, size_t *len, uint64_t *bad) {
    struct formatter f = {.w = w, .lane = lane, .format = format,
                          .args = args, .text = *text, .len = *len,
                          .cap = *len};
    for (char c; !f.failed && (c = next_char(&f)) && !f.failed;) {
        if (c == '%') convert(&f);
        else append(&f, &c, 1);
    }
    *text = f.text;
    *len = f.len;
    *bad = f.bad;
    return f.failed ? -2 : f.n_args;
}
