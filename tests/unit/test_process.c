/* Child processes: what they say is captured, however much; none outlives its
 * time, its parent's wish or leaves a descriptor open; each end is told. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness/process.h"

#define SECOND INT64_C(1000000000)

static struct fl_env env;

static void run(struct fl_child *child, const char *script, int64_t limit_ns)
{
    char *argv[] = { "/bin/sh", "-c", (char *)script, NULL };
    assert_true(fl_child_run(child, argv, &env, limit_ns));
}

static void output_is_captured(void **state)
{
    struct fl_child c;
    (void)state;
    run(&c, "echo out; echo err >&2; echo record >&3; exit 5", 30 * SECOND);
    assert_string_equal(fl_text_str(&c.text[FL_OUT]), "out\n");
    assert_string_equal(fl_text_str(&c.text[FL_ERR]), "err\n");
    assert_string_equal(fl_text_str(&c.text[FL_RECORD]), "record\n");
    assert_true(WIFEXITED(c.status) && WEXITSTATUS(c.status) == 5);
    assert_false(c.timed_out);
    assert_true(c.ended_ns > c.started_ns);
    fl_child_free(&c);
}

/* More than a pipe holds, and more than is kept. */
static void much_output_does_not_block(void **state)
{
    struct fl_child c;
    (void)state;
    run(&c, "head -c 5000000 /dev/zero | tr '\\0' x >&2; echo end",
        60 * SECOND);
    assert_int_equal(c.text[FL_ERR].n, 1 << 20);
    assert_string_equal(fl_text_str(&c.text[FL_OUT]), "end\n");
    fl_child_free(&c);
}

/* Exists and is no zombie, which init, or whoever adopted it, may keep. */
static bool alive(pid_t pid)
{
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "r");
    bool there = f && fgets(text, sizeof text, f) && !strstr(text, ") Z");
    if (f)
        fclose(f);
    return there;
}

static void a_hang_ends_with_its_group(void **state)
{
    struct fl_child c;
    (void)state;
    run(&c, "echo begun; sleep 1000 & echo $! >&3; sleep 1000", SECOND / 2);
    assert_true(c.timed_out);
    assert_true(WIFSIGNALED(c.status) && WTERMSIG(c.status) == SIGKILL);
    assert_string_equal(fl_text_str(&c.text[FL_OUT]), "begun\n");
    pid_t grandchild = atoi(fl_text_str(&c.text[FL_RECORD]));
    assert_true(grandchild > 0);
    for (int i = 0; i < 1000 && alive(grandchild); i++)
        usleep(10000);
    assert_false(alive(grandchild));
    fl_child_free(&c);
}

static void signals_are_told(void **state)
{
    struct fl_child c;
    (void)state;
    run(&c, "kill -SEGV $$", 30 * SECOND);
    assert_true(WIFSIGNALED(c.status) && WTERMSIG(c.status) == SIGSEGV);
    fl_child_free(&c);
}

static void what_cannot_be_run_leaves_127(void **state)
{
    struct fl_child c;
    char *argv[] = { "/nonexistent/program", NULL };
    (void)state;
    assert_true(fl_child_run(&c, argv, &env, 30 * SECOND));
    assert_int_equal(WEXITSTATUS(c.status), 127);
    fl_child_free(&c);
}

static void many_run_at_once(void **state)
{
    enum { N = 12 };
    struct fl_child c[N], *running[N];
    volatile sig_atomic_t stop = 0;
    char *argv[] = { "/bin/sh", "-c", "echo $$", NULL };
    int n = 0;
    (void)state;
    for (; n < N; n++) {
        assert_true(fl_child_start(&c[n], argv, &env, 60 * SECOND));
        running[n] = &c[n];
    }
    while (n) {
        int i = fl_child_wait(running, n, &stop);
        assert_in_range(i, 0, n - 1);
        assert_int_equal(running[i]->status, 0);
        assert_true(running[i]->text[FL_OUT].n > 1);
        running[i] = running[--n];
    }
    for (int i = 0; i < N; i++)
        fl_child_free(&c[i]);
    stop = 1;
    assert_true(fl_child_start(&c[0], argv, &env, 60 * SECOND));
    running[0] = &c[0];
    assert_int_equal(fl_child_wait(running, 1, &stop), -1);
    fl_child_free(&c[0]);
}

static void descriptors_do_not_leak(void **state)
{
    struct fl_child c;
    (void)state;
    /* The shell itself expands the star: a pipeline's own ends, which come and
     * go, are not among them. 0 to 3, and the folder being read. */
    run(&c, "cd /proc/$$/fd; echo *", 30 * SECOND);
    assert_non_null(strstr(fl_text_str(&c.text[FL_OUT]), "0 1 2 3"));
    assert_null(strstr(fl_text_str(&c.text[FL_OUT]), "0 1 2 3 4 5"));
    fl_child_free(&c);
    int before = dup(0);
    close(before);
    for (int i = 0; i < 20; i++) {
        run(&c, ":", 30 * SECOND);
        fl_child_free(&c);
    }
    int after = dup(0);
    close(after);
    assert_int_equal(before, after);
}

static void the_environment_can_be_changed(void **state)
{
    struct fl_env e;
    struct fl_child c;
    char *argv[] = { "/bin/sh", "-c", "echo $A-$B-$C", NULL };
    (void)state;
    fl_env_init(&e);
    fl_env_set(&e, "A", "1");
    fl_env_set(&e, "A", "2");
    fl_env_set(&e, "B", "3");
    fl_env_set(&e, "C", "");
    fl_env_unset(&e, "B");
    fl_env_unset(&e, "NOT_THERE_AT_ALL");
    assert_string_equal(fl_env_get(&e, "A"), "2");
    assert_null(fl_env_get(&e, "B"));
    assert_true(fl_child_run(&c, argv, &e, 30 * SECOND));
    assert_string_equal(fl_text_str(&c.text[FL_OUT]), "2--\n");
    fl_child_free(&c);
    fl_env_free(&e);
}

static int begin(void **state)
{
    (void)state;
    fl_env_init(&env);
    return 0;
}

static int end(void **state)
{
    (void)state;
    fl_env_free(&env);
    return 0;
}

int main(void)
{
    /* What whoever started this test left open is not what it counts. */
    closefrom(3);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_is_captured),
        cmocka_unit_test(much_output_does_not_block),
        cmocka_unit_test(a_hang_ends_with_its_group),
        cmocka_unit_test(signals_are_told),
        cmocka_unit_test(what_cannot_be_run_leaves_127),
        cmocka_unit_test(many_run_at_once),
        cmocka_unit_test(descriptors_do_not_leak),
        cmocka_unit_test(the_environment_can_be_changed),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
