/* What launchers, loggers and terminals put before a line: ranks, workers,
 * times, levels, the place in a source file that logged it. All of it must be
 * taken off, or `[core.py:632]` is read as a frame and `15: ` as a line; but
 * who says it must be kept, since the lines of many ranks are mixed. */
#include "harness/diagnose/read.h"
#include "harness/diagnose/scan.h"

/* WHO: the words tell apart processes whose lines may be mixed. AFTER: only
 * behind another prefix, since alone it is common text. */
enum kind { PLAIN, WHO, GLOG, AFTER };
static const struct { const char *shape; enum kind kind; } shapes[] = {
    { "[rank9]:", WHO },
    { "[Rank 9]", WHO },
    { "[rank 9]", WHO },
    { "[rank: 9]", WHO },
    { "Rank 9:", WHO },
    { "rank 9:", WHO },
    { "(@ pid=9)", WHO },
    { "(@ pid=9, ip=*)", WHO },
    { "(@ rank=9 pid=9)", WHO },
    { "(@ @=9 pid=9)", WHO },
    { "(@(*) pid=9)", WHO },
    { "[9,mpirank:9,@]<stderr>:", WHO },
    { "[9,mpirank:9,@]<stdout>:", WHO },
    { "[9,9]<stderr>:", WHO },
    { "[9,9]<stdout>:", WHO },
    { "[9]<stderr>:", WHO },
    { "[9]<stdout>:", WHO },
    { "[default9]:", WHO },
    { "[@/9]:", WHO },
    { "@_| ", WHO },
    { "#:", WHO },              /* pdsh: node07: */
    { "9.9.9.9:", WHO },
    { "localhost:", WHO },
    { "  _| ", PLAIN },          /* a group of exceptions */
    { "@ _9 9:9:9 @ @[9]:", PLAIN },     /* syslog, journald */
    { "9-9-9T9:9:9+9 @ @[9]:", PLAIN },
    { "9-9-9T9:9:9.9+9:9 @ @[9]:", PLAIN },
    { "- @ - ", AFTER },   /* Python's logging */
    { "- ", AFTER },
    { "[PG * Rank 9]", PLAIN },
    { "[PG @ (*) Rank 9]", PLAIN },
    { "[!9 9:9:9.9 @:9]", GLOG },
    { "!9 9:9:9.9_9 @:9]", GLOG },
    { "[9-9-9T9:9:9.9Z]", PLAIN },
    { "9-9-9T9:9:9.9+9:9", PLAIN },
    { "9-9-9T9:9:9.9Z", PLAIN },
    { "9-9-9T9:9:9Z", PLAIN },
    { "9-9-9 9:9:9.9: ! @:9]", GLOG },
    { "9-9-9 9:9:9.9:", PLAIN },
    { "9-9-9 9:9:9,9", PLAIN },
    { "9-9-9 9:9:9.9", PLAIN },
    { "9-9-9 9:9:9", PLAIN },
    { "9-9-9T9:9:9.9", PLAIN },
    { "[9-9-9 9:9:9,9]", PLAIN },
    { "[9-9-9 9:9:9.9]", PLAIN },
    { "[9-9-9 9:9:9 @]", PLAIN },
    { "[9-9-9, 9:9:9 @]", PLAIN },       /* Airflow */
    { "{@:9}", PLAIN },
    { "[9-9-9 9:9:9]", PLAIN },
    { "[9/9 9:9:9 @]:", PLAIN },
    { "[9/9 9:9:9]", PLAIN },
    { "[9/9/9 9:9:9]", PLAIN },
    { "9/9/9 9:9:9", PLAIN },
    { "9-9 9:9:9", PLAIN },
    { "[9:9:9]", PLAIN },
    { "[9:9:9.9]", PLAIN },
    { "9:9:9.9", PLAIN },
    { "9:9:9,9", PLAIN },
    { "[@:9]", PLAIN },
    { "@:9] ", PLAIN },
    { "9-9-9T9:9:9,9", PLAIN },
    { "@ MODEL_LOG - ", WHO },
    { "[@|@:9]", PLAIN },
    { "[@:9:@]", PLAIN },
    { "|_@_| @:@:9 - ", PLAIN },
    { "@:@:9 - ", PLAIN },
    { "[_ERROR]", PLAIN },
    { "[_INFO]", PLAIN },
    { "[_WARNING]", PLAIN },
    { "stderr F", PLAIN },
    { "stdout F", PLAIN },
    { "[stderr]", PLAIN },
    { "[stdout]", PLAIN },
    { "stderr:", PLAIN },
};

static const struct { const char *word; char level; } levels[] = {
    { "ERROR", 'E' }, { "CRITICAL", 'F' }, { "FATAL", 'F' }, { "INFO", 'I' },
    { "WARNING", 'W' }, { "WARN", 'W' }, { "DEBUG", 'D' }, { "TRACE", 'D' },
    { "[ERROR]", 'E' }, { "[INFO]", 'I' }, { "[WARNING]", 'W' },
    { "[DEBUG]", 'D' }, { "[WARN ]", 'W' }, { "[INFO ]", 'I' },
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

static bool is_letter(char c)
{
    return dg_is_word(c) && !dg_is_digit(c);
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
        if ((shapes[i].kind == AFTER && s == l->s)
            || (*shapes[i].shape == '@' && !is_letter(*s))
            || !(n = dg_shape(shapes[i].shape, s)))
            continue;
        if (shapes[i].kind == GLOG)
            take_glog(l, s, n);
        if (shapes[i].kind == WHO)
            l->at.source = mix(l->at.source, s, n);
        return n;
    }
    return take_level(l, s);
}

void dg_take_learned(const struct dg *d, struct dg_line *l)
{
    for (size_t i = 0; i < d->n_learned; i++)
        if (dg_starts(l->body, d->learned[i])) {
            size_t n = strlen(d->learned[i]);
            l->at.source = mix(l->at.source, d->learned[i], n);
            l->body += n;
            return;
        }
}

bool dg_learn_prefix(struct dg *d, struct dg_line *l, uint32_t *was)
{
    size_t n = strlen(d->head);
    *was = l->at.source;
    if (!n || l->at.line > d->head_line + 1 || !dg_starts(l->body, d->head)
        || !dg_starts(l->body + n, "  File \"")
        || d->n_learned == sizeof d->learned / sizeof *d->learned)
        return false;
    memcpy(d->learned[d->n_learned++], d->head, sizeof d->head);
    d->head[0] = '\0';
    dg_take_learned(d, l);
    return true;
}

void dg_take_prefix(struct dg_line *l)
{
    const char *s = l->s;
    size_t n;
    l->at.source = 0;
    l->level = 0;
    l->file[0] = '\0';
    l->body = s;
    /* a terminal's table of other lines; rich's boxes hold no levels */
    struct dg_line probe = { 0 };
    if (dg_starts(s, "\xe2\x94\x82 ") && take_level(&probe, s + 4))
        s = l->body = s + 4;
    /* quoted text */
    if (dg_starts(s, "> ") && !dg_starts(s, "> python") && !dg_starts(s, "> set "))
        s = l->body = s + 2;
    /* Blanks belong to what follows, which may be indented code; only after
     * a level they are padding. */
    for (int i = 0; i < 8; i++) {
        const char *from = s;
        if (!(n = take_one(l, from)) && l->level && s[-1] == ' ')
            n = take_one(l, from = dg_blank(s));
        if (!n)
            break;
        s = from + n;
        if (*s == ' ' && s[-1] != ' ')
            s++;
        l->body = s;
    }
}
