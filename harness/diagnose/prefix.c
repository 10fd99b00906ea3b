/* What launchers, loggers and terminals put before a line: ranks, workers,
 * times, levels, the place in a source file that logged it. All of it must be
 * taken off, or `[core.py:632]` is read as a frame and `15: ` as a line; but
 * who says it must be kept, since the lines of many ranks are mixed. */
#include "harness/diagnose/read.h"
#include "harness/diagnose/scan.h"

/* who: the words tell apart processes whose lines may be mixed. after: only
 * what may follow another prefix, since alone it is common text. */
static const struct shape { const char *shape; bool who, glog, after; } shapes[] = {
    { "[rank9]:", true, false },
    { "[Rank 9]", true, false },
    { "[rank 9]", true, false },
    { "[rank: 9]", true, false },
    { "Rank 9:", true, false },
    { "rank 9:", true, false },
    { "(@ pid=9)", true, false },
    { "(@ pid=9, ip=*)", true, false },
    { "(@ rank=9 pid=9)", true, false },
    { "(@ @=9 pid=9)", true, false },
    { "(@(*) pid=9)", true, false },
    { "[9,9]<stderr>:", true, false },
    { "[9,9]<stdout>:", true, false },
    { "[9]<stderr>:", true, false },
    { "[9]<stdout>:", true, false },
    { "[default9]:", true, false },
    { "[@/9]:", true, false },
    { "@_| ", true, false },
    { "#:", true, false },              /* pdsh: node07: */
    { "9.9.9.9:", true, false },
    { "localhost:", true, false },
    { "  _| ", false, false },          /* a group of exceptions */
    { "@ _9 9:9:9 @ @[9]:", false, false },     /* syslog, journald */
    { "9-9-9T9:9:9+9 @ @[9]:", false, false },
    { "9-9-9T9:9:9.9+9:9 @ @[9]:", false, false },
    { "- @ - ", false, false, true },   /* Python's logging */
    { "- ", false, false, true },
    { "[PG * Rank 9]", false, false },
    { "[PG @ (*) Rank 9]", false, false },
    { "[!9 9:9:9.9 @:9]", false, true },
    { "!9 9:9:9.9_9 @:9]", false, true },
    { "[9-9-9T9:9:9.9Z]", false, false },
    { "9-9-9T9:9:9.9+9:9", false, false },
    { "9-9-9T9:9:9.9Z", false, false },
    { "9-9-9T9:9:9Z", false, false },
    { "9-9-9 9:9:9.9: ! @:9]", false, true },
    { "9-9-9 9:9:9.9:", false, false },
    { "9-9-9 9:9:9,9", false, false },
    { "9-9-9 9:9:9.9", false, false },
    { "9-9-9 9:9:9", false, false },
    { "9-9-9T9:9:9.9", false, false },
    { "[9-9-9 9:9:9,9]", false, false },
    { "[9-9-9 9:9:9.9]", false, false },
    { "[9-9-9 9:9:9 @]", false, false },
    { "[9-9-9 9:9:9]", false, false },
    { "[9/9 9:9:9 @]:", false, false },
    { "[9/9 9:9:9]", false, false },
    { "[9/9/9 9:9:9]", false, false },
    { "9/9/9 9:9:9", false, false },
    { "9-9 9:9:9", false, false },
    { "[9:9:9]", false, false },
    { "[9:9:9.9]", false, false },
    { "9:9:9.9", false, false },
    { "9:9:9,9", false, false },
    { "[@:9]", false, false },
    { "[@|@:9]", false, false },
    { "[@:9:@]", false, false },
    { "|_@_| @:@:9 - ", false, false },
    { "@:@:9 - ", false, false },
    { "[_ERROR]", false, false },
    { "[_INFO]", false, false },
    { "[_WARNING]", false, false },
    { "stderr F", false, false },
    { "stdout F", false, false },
    { "[stderr]", false, false },
    { "[stdout]", false, false },
    { "stderr:", false, false },
};

static const struct { const char *word; char level; } levels[] = {
    { "ERROR", 'E' }, { "CRITICAL", 'F' }, { "FATAL", 'F' }, { "INFO", 'I' },
    { "WARNING", 'W' }, { "WARN", 'W' }, { "DEBUG", 'D' }, { "TRACE", 'D' },
    { "[ERROR]", 'E' }, { "[INFO]", 'I' }, { "[WARNING]", 'W' },
    { "[DEBUG]", 'D' },
};

static uint32_t mix(uint32_t hash, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)s[i]) * 16777619u;
    return hash ? hash : 1;
}

/* glog's `E0224 15:06:03.877603   42666 file.cc:498]` and TensorFlow's form:
 * level, and the place that wrote the line. */
static void take_glog(struct dg_line *l, const char *s, size_t n)
{
    const char *end = s + n - 1, *colon = end;
    while (colon > s && *colon != ':')
        colon--;
    const char *from = colon, *number = colon + 1;
    while (from > s && from[-1] != ' ')
        from--;
    DG_COPY(l->file, from, colon);
    if (!dg_number(&number, &l->file_line))
        l->file_line = DG_UNKNOWN;
    /* TensorFlow: the level stands before the file */
    char c = *s == '[' ? s[1] : *s;
    if (dg_is_digit(c) && from - 2 >= s)
        c = from[-2];
    if (strchr("DIWEF", c))
        l->level = c;
}

static size_t take_level(struct dg_line *l, const char *s)
{
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        size_t n = strlen(levels[i].word);
        if (strncmp(s, levels[i].word, n) || (dg_is_word(s[n])))
            continue;
        if (s[n] == ':')
            n++;
        else if (s[n] != ' ')
            continue;
        l->level = levels[i].level;
        return n;
    }
    return 0;
}

/* srun --label pads the number; `15: ` is no line's number then. */
static size_t take_task(struct dg_line *l, const char *s)
{
    const char *p = dg_blank(s);
    long task;
    if (p - s > 4 || !dg_number(&p, &task) || task > 99999 || *p != ':'
        || (p[1] && p[1] != ' '))
        return 0;
    l->at.source = mix(l->at.source, s, (size_t)(p - s));
    return (size_t)(p + 1 - s);
}

static size_t take_one(struct dg_line *l, const char *s)
{
    size_t n = take_task(l, s);
    if (n)
        return n;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if ((shapes[i].after && s == l->s)
            || !(n = dg_shape(shapes[i].shape, s)))
            continue;
        if (shapes[i].glog)
            take_glog(l, s, n);
        if (shapes[i].who)
            l->at.source = mix(l->at.source, s, n);
        return n;
    }
    return take_level(l, s);
}

void dg_take_prefix(struct dg_line *l)
{
    const char *s = l->s;
    size_t n;
    l->at.source = 0;
    l->level = 0;
    l->file[0] = '\0';
    l->body = s;
    /* quoted text */
    if (dg_starts(s, "> ") && !dg_starts(s, "> python") && !dg_starts(s, "> set "))
        s = l->body = s + 2;
    /* Blanks belong to what follows, which may be indented code; only after
     * a level they are padding. */
    for (int i = 0; i < 8; i++) {
        const char *from = l->level && s[-1] == ' ' ? dg_blank(s) : s;
        if (!(n = take_one(l, from)))
            break;
        s = from + n;
        if (*s == ' ' && s[-1] != ' ')
            s++;
        l->body = s;
    }
}
