/* The golden files: the encoder still makes them, the decoder still reads them, or refuses them. */
#include "tests/codec/support.h"
#include "tests/golden/golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t *file_read(const char *dir, const char *name, const char *kind, size_t *bytes)
{
    const char *source = getenv("TAH_SOURCE");
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/%s/%s%s", source ? source : ".", dir, name, kind);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "cannot open %s", path);
    uint8_t *data = support_alloc(1 << 16);
    *bytes = fread(data, 1, 1 << 16, file);
    ck_assert_int_eq(ferror(file), 0);
    fclose(file);
    return data;
}

static void same(const char *what, const uint8_t *a, size_t a_bytes, const uint8_t *b,
                 size_t b_bytes)
{
    ck_assert_msg(a_bytes == b_bytes && memcmp(a, b, a_bytes) == 0, "%s differs", what);
}

START_TEST(good)
{
    const char *name = golden_name((size_t)_i);
    size_t file_frame, file_tensor, made_frame, made_tensor;
    uint8_t *frame = file_read("golden", name, ".frame", &file_frame);
    uint8_t *tensor = file_read("golden", name, ".tensor", &file_tensor);
    uint8_t *again, *decoded;
    ck_assert(golden_make((size_t)_i, &again, &made_frame, &decoded, &made_tensor));
    same(name, again, made_frame, frame, file_frame);

    tah_frame_t info;
    ck_assert_int_eq(tah_frame_read(frame, file_frame, golden_key, &info), TAH_OK);
    ck_assert_uint_eq(info.tensor_bytes, file_tensor);
    ck_assert_int_eq(tah_decode(frame, file_frame, &info, NULL, decoded, made_tensor), TAH_OK);
    same(name, decoded, made_tensor, tensor, file_tensor);
    free(frame);
    free(tensor);
    free(again);
    free(decoded);
}
END_TEST

START_TEST(bad)
{
    const char *name = golden_bad_name((size_t)_i);
    size_t file_bytes, made_bytes;
    uint8_t *frame = file_read("golden-bad", name, ".frame", &file_bytes);
    uint8_t *again = golden_bad_make((size_t)_i, &made_bytes);
    ck_assert_ptr_nonnull(again);
    same(name, again, made_bytes, frame, file_bytes);

    tah_frame_t info;
    tah_status_t status = tah_frame_read(frame, file_bytes, golden_key, &info);
    if (status == TAH_OK) {
        uint8_t *dst = support_alloc(info.tensor_bytes);
        status = tah_decode(frame, file_bytes, &info, NULL, dst, info.tensor_bytes);
        free(dst);
    }
    ck_assert_msg(status == golden_bad_status((size_t)_i), "%s: %s", name,
                  tah_status_string(status));
    free(frame);
    free(again);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("golden");
    TCase *tests = tcase_create("golden");
    tcase_add_loop_test(tests, good, 0, (int)golden_count());
    tcase_add_loop_test(tests, bad, 0, (int)golden_bad_count());
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
