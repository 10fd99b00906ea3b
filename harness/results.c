/* Keeping results so that no interruption loses more than the trial in
 * flight, and nothing is ever overwritten; see results.h. */
#include "harness/results.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "harness/csv.h"

static bool told(const char *what)
{
    fprintf(stderr, "faultlag: %s: %s\n", what, strerror(errno));
    return false;
}

static char *in_folder(const struct fl_results *r, const char *name)
{
    return fl_format("%s/%s", r->path, name);
}

static bool write_all(int fd, const char *s, size_t n)
{
    while (n) {
        ssize_t done = write(fd, s, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        s += done;
        n -= (size_t)done;
    }
    return true;
}

/* A new file, whole on the disk when this returns. */
static bool write_file(const char *path, const struct fl_text *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    bool ok = fd >= 0 && write_all(fd, text->s, text->n) && !fsync(fd);
    if (fd >= 0)
        close(fd);
    return ok || told(path);
}

static char *default_path(void)
{
    char date[32];
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y%m%d-%H%M%S", gmtime(&now));
    return fl_format("results/run-%s", date);
}

/* The folders above `path`, where they are missing; mkdir() of the path
 * itself says what went wrong. */
static void make_parents(const char *path)
{
    char *folder = fl_strdup(path);
    for (char *s = folder + 1; *folder && (s = strchr(s, '/')); s++) {
        *s = 0;
        mkdir(folder, 0755);
        *s = '/';
    }
    free(folder);
}

static bool open_table(struct fl_results *r, int flags)
{
    char *path = in_folder(r, "trials.csv");
    r->csv = open(path, O_RDWR | O_APPEND | O_CLOEXEC | flags, 0644);
    bool ok = r->csv >= 0 || told(path);
    free(path);
    return ok;
}

bool fl_results_create(struct fl_results *r, const char *out)
{
    *r = (struct fl_results){ .csv = -1 };
    r->path = out ? fl_strdup(out) : default_path();
    make_parents(r->path);
    bool ok = !mkdir(r->path, 0755);
    for (int i = 2; !ok && !out && errno == EEXIST && i < 100; i++) {
        char *another = fl_format("%s-%d", r->path, i);
        ok = !mkdir(another, 0755);
        if (ok) {
            free(r->path);
            r->path = another;
        } else {
            free(another);
        }
    }
    if (!ok)
        return told(r->path);
    if (!open_table(r, O_CREAT | O_EXCL))
        return false;
    struct fl_text head = { 0 };
    fl_text_puts(&head, "# faultlag trials; the columns are explained in "
                 "docs/schema.md\n");
    fl_columns_to_csv(&head);
    ok = write_all(r->csv, head.s, head.n) && !fsync(r->csv);
    fl_text_free(&head);
    return ok || told(r->path);
}

bool fl_results_resume(struct fl_results *r, const char *path)
{
    *r = (struct fl_results){ .path = fl_strdup(path), .csv = -1 };
    return open_table(r, 0);
}

static bool same_columns(const struct fl_csv *csv)
{
    if (csv->columns != FL_COLUMNS)
        return false;
    for (int i = 0; i < FL_COLUMNS; i++)
        if (strcmp(csv->header[i], fl_columns[i].name))
            return false;
    return true;
}

bool fl_results_skip_done(struct fl_results *r, struct fl_plan *plan,
                          struct fl_cells *cells)
{
    struct fl_csv csv;
    char error[128] = "it has other columns";
    char *path = in_folder(r, "trials.csv");
    bool ok = fl_csv_read(path, &csv, error);
    if (ok && !same_columns(&csv)) {
        fl_csv_free(&csv);
        ok = false;
    }
    if (!ok) {
        fprintf(stderr, "faultlag: %s cannot be gone on with: %s\n", path,
                error);
        free(path);
        return false;
    }
    free(path);
    /* The row that was being written when the run was cut off. */
    if (ftruncate(r->csv, (off_t)csv.whole_bytes)) {
        fl_csv_free(&csv);
        return told(r->path);
    }
    for (size_t i = 0; i < csv.n_rows; i++) {
        struct fl_row row = { 0 };
        fl_row_from_fields(&row, csv.rows[i]);
        fl_cells_add(cells, &row);
        fl_row_free(&row);
        for (size_t k = 0; k < plan->n; k++)
            if (!strcmp(plan->trials[k].id, csv.rows[i][FL_COL_trial_id]))
                plan->trials[k].done = true;
    }
    fl_csv_free(&csv);
    return true;
}

static void keep_log(struct fl_results *r, const struct fl_row *row,
                     const char *log)
{
    char *folder = in_folder(r, "logs");
    char *path = fl_format("%s/%s.txt", folder,
                           fl_row_get(row, FL_COL_trial_id));
    for (char *s = path + strlen(folder) + 1; *s; s++)
        if (*s == '/')
            *s = '.';
    mkdir(folder, 0755);
    unlink(path);               /* a resumed run's torn trial */
    struct fl_text text = { 0 };
    fl_text_printf(&text, "%s: %s\n%s\n%s\n\n%s",
                   fl_row_get(row, FL_COL_trial_id),
                   fl_row_get(row, FL_COL_outcome),
                   fl_row_get(row, FL_COL_deviation),
                   fl_row_get(row, FL_COL_reason), log);
    write_file(path, &text);
    fl_text_free(&text);
    free(path);
    free(folder);
}

bool fl_results_keep(struct fl_results *r, const struct fl_row *row,
                     const char *log)
{
    struct fl_text line = { 0 };
    fl_row_to_csv(row, &line);
    bool ok = write_all(r->csv, line.s, line.n) && !fsync(r->csv);
    fl_text_free(&line);
    if (log && !strcmp(fl_row_get(row, FL_COL_as_expected), "no"))
        keep_log(r, row, log);
    return ok || told(r->path);
}

static bool copy_file(const char *from, const char *to)
{
    struct fl_text text = { 0 };
    text.s = fl_read_file(from, &text.n);
    bool ok = text.s ? write_file(to, &text) : told(from);
    free(text.s);
    return ok;
}

/* The files of `folder`/`part` whose names begin with `prefix`. */
static bool copy_files(const struct fl_results *r, const char *folder,
                       const char *part, const char *prefix)
{
    char *from = fl_format("%s/%s", folder, part), *to = in_folder(r, part);
    DIR *dir = opendir(from);
    bool ok = dir || errno == ENOENT || told(from);
    for (struct dirent *d; ok && dir && (d = readdir(dir)); ) {
        if (strncmp(d->d_name, prefix, strlen(prefix)) || *d->d_name == '.')
            continue;
        char *old = fl_format("%s/%s", from, d->d_name);
        char *new = fl_format("%s/%s", to, d->d_name);
        mkdir(to, 0755);
        ok = copy_file(old, new);
        free(old);
        free(new);
    }
    if (dir)
        closedir(dir);
    free(from);
    free(to);
    return ok;
}

bool fl_results_adopt(const struct fl_results *r, const char *folder)
{
    return copy_files(r, folder, "logs", "")
        && copy_files(r, folder, ".", "trace-");
}

void fl_results_close(struct fl_results *r)
{
    if (r->csv >= 0)
        close(r->csv);
    free(r->path);
    *r = (struct fl_results){ .csv = -1 };
}

bool fl_results_write_context(const struct fl_results *r,
                              const struct fl_text *context)
{
    char *path = in_folder(r, "context.json");
    bool ok = write_file(path, context);
    free(path);
    return ok;
}

struct fl_json *fl_results_read_context(const char *folder)
{
    char *path = fl_format("%s/context.json", folder), error[128];
    size_t n;
    char *s = fl_read_file(path, &n);
    struct fl_json *context = s ? fl_json_parse(s, n, error) : NULL;
    if (!context)
        fprintf(stderr, "faultlag: %s: %s\n", path,
                s ? error : strerror(errno));
    free(s);
    free(path);
    return context;
}

char **fl_results_arguments(const char *folder, int *argc)
{
    struct fl_json *context = fl_results_read_context(folder);
    const struct fl_json *all = fl_json_get(context, "arguments");
    char **argv = all ? fl_alloc(sizeof *argv) : NULL;
    *argc = 0;
    for (const struct fl_json *a = all ? all->first : NULL; a; a = a->next) {
        argv = fl_grow(argv, (size_t)*argc + 1, sizeof *argv);
        argv[(*argc)++] = fl_strdup(a->text ? a->text : "");
    }
    if (context && !all)
        fprintf(stderr, "faultlag: %s/context.json: no arguments in it\n",
                folder);
    fl_json_free(context);
    return argv;
}
