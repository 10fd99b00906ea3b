/* Small steps over a line of text; see scan.h. */
#include "harness/diagnose/scan.h"

#include <stdio.h>

void dg_copy(char *out, size_t size, const char *from, const char *to)
{
    size_t n = to ? (size_t)(to - from) : strlen(from);
    if (n >= size)
        n = size - 1;
    memmove(out, from, n);
    out[n] = '\0';
}

const char *dg_after(const char *s, const char *word)
{
    const char *at = strstr(s, word);
    return at ? at + strlen(word) : NULL;
}

const char *dg_blank(const char *s)
{
    while (*s == ' ' || *s == '\t')
        s++;
    return s;
}

const char *dg_trim_end(const char *s, const char *end)
{
    while (end > s && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    return end;
}

bool dg_starts(const char *s, const char *word)
{
    return !strncmp(s, word, strlen(word));
}

bool dg_is_digit(char c) { return c >= '0' && c <= '9'; }

bool dg_is_word(char c)
{
    return dg_is_digit(c) || c == '_' || (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z');
}

bool dg_number(const char **s, long *value)
{
    const char *p = *s;
    long v = 0;
    while (dg_is_digit(*p) && p - *s < 10)
        v = v * 10 + (*p++ - '0');
    if (p == *s || dg_is_digit(*p))
        return false;
    *s = p;
    *value = v;
    return true;
}

bool dg_triple(const char *s, long out[3])
{
    if (*s != '[' && *s != '(')
        return false;
    s++;
    for (int i = 0; i < 3; i++) {
        s = dg_blank(s);
        if (!dg_number(&s, &out[i]))
            return false;
        s = dg_blank(s);
        if (i < 2 ? *s != ',' : *s != ']' && *s != ')')
            return false;
        s++;
    }
    return true;
}

static bool in_name(char c) { return dg_is_word(c) || (c && strchr(".-/\\<>$+", c)); }

size_t dg_shape(const char *shape, const char *s)
{
    const char *start = s;
    for (; *shape; shape++) {
        const char *was = s;
        switch (*shape) {
        case '9':
            while (dg_is_digit(*s))
                s++;
            if (s == was)
                return 0;
            break;
        case '@':
            while (in_name(*s))
                s++;
            if (s == was)
                return 0;
            break;
        case '!':
            if (!*s || !strchr("DIWEF", *s++))
                return 0;
            break;
        case '_':
            s = dg_blank(s);
            break;
        case '*':
            while (*s && *s != shape[1] && s - was < 80)
                s++;
            break;
        default:
            if (*s++ != *shape)
                return 0;
        }
    }
    return (size_t)(s - start);
}

static bool in_path(const char *start, const char *p)
{
    char c = *p;
    if (c == ':')       /* a drive's */
        return p > start && dg_is_word(p[-1]) && !dg_is_digit(p[-1])
            && (p - 1 == start || !dg_is_word(p[-2]))
            && (p[1] == '\\' || p[1] == '/');
    return dg_is_word(c) || (c && strchr("./\\+~-@$", c))
        || (unsigned char)c >= 0x80;
}

const char *dg_path_start(const char *start, const char *end)
{
    const char *p = end;
    while (p > start && in_path(start, p - 1) && (unsigned char)p[-1] < 0x80)
        p--;
    while (p < end && strchr("-+@$", *p))
        p++;
    /* "0.73../aten/x.cu": a number that the path was glued to */
    if (dg_is_digit(*p)) {
        const char *q = p;
        while (q < end && (dg_is_digit(*q) || (*q == '.' && q[1] != '.')
                           || (q == p + strspn(p, "0123456789") && *q == '/'
                               && dg_is_digit(q[1]))))
            q++;
        if (q < end && (*q == '/' || dg_starts(q, "../")
                        || (q + 2 < end && q[1] == ':')))
            p = q;
    }
    return p;
}

static const char *const endings[] = {
    "cu", "cuh", "cpp", "cc", "c", "h", "hpp", "cxx", "hip", "inl", "cuf",
    "f90", "F90", "hxx", "rs", "jl", "lua", "java", "scala", "py", "pyx", "go",
    "d", "m", "inc", "tpp", "tcc",
};

static bool has_ending(const char *s, const char *end)
{
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]);
        if ((size_t)(end - s) > n + 1 && end[-(ptrdiff_t)n - 1] == '.'
            && !memcmp(end - n, endings[i], n))
            return true;
    }
    return false;
}

/* What may stand between a file and its line. */
static const char *const between[] = {
    ":", "(", " line ", ", line ", " line:", ", line: ", " @ ", ":line ",
    " line=", ", line=", " ; line=", "' line ", "\" line ", "', line ",
    "\", line ", " ", ": ", " at line ", " (line ",
};

static bool line_follows(const char *s, long *line)
{
    for (size_t i = 0; i < sizeof between / sizeof *between; i++) {
        const char *p = s + strlen(between[i]);
        if (dg_starts(s, between[i]) && dg_number(&p, line)
            && !dg_is_word(*p) && *p != ']')    /* a logger's own place */
            return true;
    }
    return false;
}

bool dg_find_site(const char *s, char *file, size_t size, long *line)
{
    const char *p = s, *before;
    /* line N in file PATH */
    if ((before = dg_after(s, "line ")) && dg_number(&before, line)
        && (dg_starts(before, " in file ") || dg_starts(before, " of file ")
            || dg_starts(before, " in ") || dg_starts(before, " of "))) {
        before = strstr(before + 4, "file ") ? dg_after(before, "file ")
                                             : before + 4;
        const char *end = before;
        while (*end && !strchr(" '\",;)", *end))
            end++;
        while (end > before && strchr(".:", end[-1]))
            end--;
        if (has_ending(before, end)) {
            dg_copy(file, size, before, end);
            return true;
        }
    }
    if ((before = dg_after(s, "file=")) && strstr(before, "line="))
        p = before;
    while ((p = strchr(p, '.'))) {
        const char *end = ++p;
        while (dg_is_word(*end))
            end++;
        if (end == p || !line_follows(end, line))
            continue;
        const char *from = dg_path_start(s, end);
        if (!has_ending(from, end))
            continue;
        dg_copy(file, size, from, end);
        return true;
    }
    return false;
}

/* Takes what is between `open` and its `close` out of s, at every depth. */
static void without(char *s, char open, char close)
{
    char *to = s;
    int depth = 0;
    for (char *p = s; *p; p++) {
        bool arrow = p > s && p[-1] == '-' && *p == '>';
        if (*p == open && !arrow)
            depth++;
        if (!depth)
            *to++ = *p;
        if (*p == close && depth && !arrow)
            depth--;
    }
    *to = '\0';
}

static void drop(char *s, const char *word)
{
    char *at;
    while ((at = strstr(s, word)))
        memmove(at, at + strlen(word), strlen(at + strlen(word)) + 1);
}

static bool is_lambda(const char *s)
{
    return dg_starts(s, "[lambda") || dg_starts(s, "{lambda")
        || dg_starts(s, "lambda") || dg_starts(s, "<lambda");
}

void dg_short_name(const char *signature, char *out, size_t size)
{
    char s[1024];
    DG_COPY(s, signature, NULL);
    char *with = strstr(s, " [with ");
    if (with)
        *with = '\0';
    drop(s, "(anonymous namespace)::");
    drop(s, "<unnamed>::");
    drop(s, "_GLOBAL__N__");
    bool call = strstr(s, "operator()") != NULL;
    drop(s, "::operator()");
    drop(s, "operator()");
    without(s, '<', '>');
    without(s, '[', ']');
    without(s, '{', '}');
    without(s, '(', ')');
    char *end = s + strlen(s), *escaped = strchr(s, '$');
    while (end > s && strchr(" :", end[-1]))
        end--;
    *end = '\0';
    /* numba: module::$3clocals$3e::name$12 */
    char *last = s;
    for (char *p = s; *p; p++)
        if (*p == ' ' || *p == ':' || *p == '*' || *p == '&')
            last = p + 1;
    if (escaped && (escaped = strchr(last, '$')) && escaped > last)
        *escaped = '\0';
    char *offset = strstr(last, "+0x");
    if (offset)
        *offset = '\0';
    /* a lambda's or a nameless thing's call has no better name */
    bool none = !*last || is_lambda(last) || dg_starts(last, "->");
    dg_copy(out, size, none && call ? "operator()" : none ? "" : last, NULL);
}
