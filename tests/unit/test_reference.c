/* The CPU oracle's arithmetic against results worked out by hand: an oracle
 * that is wrong in the same way as a kernel would find everything right. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "scenarios/reference.c"

#define CLOSE(a, b) assert_true(fabs((double)(a) - (double)(b)) < 1e-5)

static void linear_adds_products_and_bias(void **state)
{
    (void)state;
    const float x[] = { 1, 2, 3, 4 }, w[] = { 1, 10, 100, 2, 20, 200 };
    const float b[] = { 0.5f, 0, -1 };
    float y[6];

    ref_linear(y, x, w, b, 2, 2, 3);
    const float right[] = { 5.5f, 50, 499, 11.5f, 110, 1099 };
    for (int i = 0; i < 6; i++)
        CLOSE(y[i], right[i]);
}

/* <dy, x W> = <dy W^T, x> = <x^T dy, W>: the two gradients are the adjoints of
 * the product, whatever the numbers. */
static void gradients_are_adjoint_to_linear(void **state)
{
    (void)state;
    enum { ROWS = 3, IN = 4, OUT = 5 };
    float x[ROWS * IN], w[IN * OUT], dy[ROWS * OUT];
    float y[ROWS * OUT], dx[ROWS * IN], dw[IN * OUT];
    double by_y = 0, by_x = 0, by_w = 0;

    for (int i = 0; i < ROWS * IN; i++)
        x[i] = (float)sin(i + 1);
    for (int i = 0; i < IN * OUT; i++)
        w[i] = (float)cos(3 * i);
    for (int i = 0; i < ROWS * OUT; i++)
        dy[i] = (float)sin(7 * i);
    ref_linear(y, x, w, NULL, ROWS, IN, OUT);
    ref_linear_grad_input(dx, dy, w, ROWS, IN, OUT);
    ref_linear_grad_weight(dw, x, dy, ROWS, IN, OUT);
    for (int i = 0; i < ROWS * OUT; i++)
        by_y += dy[i] * y[i];
    for (int i = 0; i < ROWS * IN; i++)
        by_x += dx[i] * x[i];
    for (int i = 0; i < IN * OUT; i++)
        by_w += dw[i] * w[i];
    CLOSE(by_y, by_x);
    CLOSE(by_y, by_w);
}

static void softmax_of_known_odds(void **state)
{
    (void)state;
    float x[] = { logf(1), logf(2), logf(5), 1000, 1000, 1000 };

    ref_softmax(x, 2, 3);
    CLOSE(x[0], 0.125);
    CLOSE(x[1], 0.25);
    CLOSE(x[2], 0.625);
    CLOSE(x[4], 1.0 / 3);   /* no overflow */
}

/* With equal keys attention is the mean of the values that are not masked. */
static void attention_over_equal_keys_is_a_mean(void **state)
{
    (void)state;
    const float q[] = { 1, 2, 3, 4, 5, 6 }, k[] = { 7, 7, 7, 7, 7, 7 };
    const float v[] = { 1, 2, 6, 10, 20, 60 };
    const int64_t length[] = { 3, 2 };
    float y[6];

    ref_attention(y, q, k, v, length, 2, 3, 1);
    for (int i = 0; i < 6; i++)
        CLOSE(y[i], i < 3 ? 3 : 15);
}

static void layernorm_has_mean_and_variance(void **state)
{
    (void)state;
    const float x[] = { 1, 3, 5, 7 }, gamma[] = { 1, 1, 1, 2 };
    const float beta[] = { 0, 0, 10, 0 };
    float y[4];

    ref_layernorm(y, x, gamma, beta, 1, 4);
    double step = 1 / sqrt(5 + 1e-5);   /* mean 4, variance 5 */
    CLOSE(y[0], -3 * step);
    CLOSE(y[1], -step);
    CLOSE(y[2], 10 + step);
    CLOSE(y[3], 6 * step);
}

static void gelu_at_known_points(void **state)
{
    (void)state;
    float x[] = { 0, 1, -1, 10, -10 };

    ref_gelu(x, x, 5);
    CLOSE(x[0], 0);
    CLOSE(x[1], 0.841192);
    CLOSE(x[2], -0.158808);
    CLOSE(x[3], 10);
    CLOSE(x[4], 0);
}

static void cross_entropy_and_its_gradient(void **state)
{
    (void)state;
    const float logits[] = { logf(1), logf(3), 0, 0 };
    const int64_t label[] = { 1, 0 };
    float d[4];

    CLOSE(ref_cross_entropy(d, logits, label, 2, 2),
          (log(4.0 / 3) + log(2.0)) / 2);
    CLOSE(d[0], 0.125);
    CLOSE(d[1], -0.125);
    CLOSE(d[2], -0.25);
    CLOSE(d[3], 0.25);
    CLOSE(ref_cross_entropy(NULL, logits, label, 2, 2),
          ref_cross_entropy(d, logits, label, 2, 2));
}

static void mse_and_its_gradient(void **state)
{
    (void)state;
    const float x[] = { 1, 4 }, target[] = { 0, 6 };
    float d[2];

    CLOSE(ref_mse(d, x, target, 2), 2.5);
    CLOSE(d[0], 1);
    CLOSE(d[1], -2);
}

static void selection_and_descent(void **state)
{
    (void)state;
    const float table[] = { 0, 1, 10, 11, 20, 21 }, dw[] = { 1, -2 };
    const int64_t index[] = { 2, 0 };
    float y[4], w[] = { 1, 1 };

    ref_index_select(y, table, index, 2, 2);
    CLOSE(y[0], 20);
    CLOSE(y[3], 1);
    ref_sgd(w, dw, 0.5f, 2);
    CLOSE(w[0], 0.5);
    CLOSE(w[1], 2);
}

static void closeness_is_relative_and_no_nan_is_close(void **state)
{
    (void)state;
    const float a[] = { 1000, 0 }, b[] = { 1000.5f, 0 }, nan_[] = { NAN, 0 };

    assert_true(all_close(a, b, 2, 1e-3f));
    assert_false(all_close(a, b, 2, 1e-4f));
    assert_false(all_close(nan_, a, 2, 1));
    assert_false(all_close(a, nan_, 2, 1));
    assert_false(all_close(nan_, nan_, 2, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_adds_products_and_bias),
        cmocka_unit_test(gradients_are_adjoint_to_linear),
        cmocka_unit_test(softmax_of_known_odds),
        cmocka_unit_test(attention_over_equal_keys_is_a_mean),
        cmocka_unit_test(layernorm_has_mean_and_variance),
        cmocka_unit_test(gelu_at_known_points),
        cmocka_unit_test(cross_entropy_and_its_gradient),
        cmocka_unit_test(mse_and_its_gradient),
        cmocka_unit_test(selection_and_descent),
        cmocka_unit_test(closeness_is_relative_and_no_nan_is_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
