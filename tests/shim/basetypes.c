/* Every predefined type of the C and Fortran bindings, contiguous and in a vector type. */
#include "tests/lib/mt.h"

#include <complex.h>
#include <stdio.h>
#include <string.h>

enum { BYTES = 9600, TAG = 1 };

/* What the values of a type look like in memory. */
typedef enum values {
    FLOATS,
    DOUBLES,
    BYTES_ANY,    /* integers and characters: any bytes will do */
    BOOLS,        /* one byte, 0 or 1 */
    LOGICALS,     /* Fortran's, of any size: 0 or 1 as an integer */
    LONG_DOUBLES, /* only ten bytes of each sixteen are value */
    PAIRS,        /* value and index, perhaps with padding between */
} values_t;

static const struct {
    const char *name;
    MPI_Datatype type;
    values_t values;
} types[] = {
#define T(TYPE, VALUES)     \
    {                       \
#TYPE, TYPE, VALUES \
    }
    T(MPI_CHAR, BYTES_ANY),
    T(MPI_SIGNED_CHAR, BYTES_ANY),
    T(MPI_UNSIGNED_CHAR, BYTES_ANY),
    T(MPI_BYTE, BYTES_ANY),
    T(MPI_WCHAR, BYTES_ANY),
    T(MPI_SHORT, BYTES_ANY),
    T(MPI_UNSIGNED_SHORT, BYTES_ANY),
    T(MPI_INT, BYTES_ANY),
    T(MPI_UNSIGNED, BYTES_ANY),
    T(MPI_LONG, BYTES_ANY),
    T(MPI_UNSIGNED_LONG, BYTES_ANY),
    T(MPI_LONG_LONG, BYTES_ANY),
    T(MPI_UNSIGNED_LONG_LONG, BYTES_ANY),
    T(MPI_INT8_T, BYTES_ANY),
    T(MPI_UINT8_T, BYTES_ANY),
    T(MPI_INT16_T, BYTES_ANY),
    T(MPI_UINT16_T, BYTES_ANY),
    T(MPI_INT32_T, BYTES_ANY),
    T(MPI_UINT32_T, BYTES_ANY),
    T(MPI_INT64_T, BYTES_ANY),
    T(MPI_UINT64_T, BYTES_ANY),
    T(MPI_AINT, BYTES_ANY),
    T(MPI_COUNT, BYTES_ANY),
    T(MPI_OFFSET, BYTES_ANY),
    T(MPI_FLOAT, FLOATS),
    T(MPI_DOUBLE, DOUBLES),
    T(MPI_LONG_DOUBLE, LONG_DOUBLES),
    T(MPI_C_BOOL, BOOLS),
    T(MPI_C_FLOAT_COMPLEX, FLOATS),
    T(MPI_C_DOUBLE_COMPLEX, DOUBLES),
    T(MPI_C_LONG_DOUBLE_COMPLEX, LONG_DOUBLES),
    T(MPI_FLOAT_INT, PAIRS),
    T(MPI_DOUBLE_INT, PAIRS),
    T(MPI_LONG_INT, PAIRS),
    T(MPI_2INT, BYTES_ANY),
    T(MPI_SHORT_INT, PAIRS),
    T(MPI_CHARACTER, BYTES_ANY),
    T(MPI_LOGICAL, LOGICALS),
    T(MPI_INTEGER, BYTES_ANY),
    T(MPI_REAL, FLOATS),
    T(MPI_DOUBLE_PRECISION, DOUBLES),
    T(MPI_COMPLEX, FLOATS),
    T(MPI_DOUBLE_COMPLEX, DOUBLES),
    T(MPI_2INTEGER, BYTES_ANY),
    T(MPI_2REAL, FLOATS),
    T(MPI_2DOUBLE_PRECISION, DOUBLES),
    T(MPI_INTEGER1, BYTES_ANY),
    T(MPI_INTEGER2, BYTES_ANY),
    T(MPI_INTEGER4, BYTES_ANY),
    T(MPI_INTEGER8, BYTES_ANY),
    T(MPI_REAL4, FLOATS),
    T(MPI_REAL8, DOUBLES),
    T(MPI_COMPLEX8, FLOATS),
    T(MPI_COMPLEX16, DOUBLES),
};
enum { TYPES = sizeof types / sizeof *types };

/* Fills BYTES bytes with values of that look. */
static void fill(void *data, values_t values, unsigned seed)
{
    long double *wide = data;
    unsigned char *bytes = data;
    switch (values) {
    case FLOATS:
        mt_fill(data, BYTES / sizeof(float), MT_FLOAT, seed);
        break;
    case DOUBLES:
        mt_fill(data, BYTES / sizeof(double), MT_DOUBLE, seed);
        break;
    case LONG_DOUBLES:
        memset(data, 0, BYTES);
        for (size_t i = 0; i < BYTES / sizeof *wide; i++)
            wide[i] = (long double)(i + seed) / 8;
        break;
    case LOGICALS:
        for (size_t i = 0; i < BYTES; i++)
            bytes[i] = i % 4 == 0 && i / 4 % 3 == 0;
        break;
    case BOOLS:
        for (size_t i = 0; i < BYTES; i++)
            bytes[i] = (i + seed) % 5 < 2;
        break;
    default:
        mt_fill(data, BYTES, MT_BYTES, seed);
    }
}

/* The values of a buffer one after the other, as MPI packs them, with nothing but zeros between. */
static size_t packed(void *out, const void *data, MPI_Datatype type, values_t values, int count)
{
    int position = 0;
    MPI_Pack(data, count, type, out, 2 * BYTES, &position, MPI_COMM_SELF);
    for (int i = 0; values == LONG_DOUBLES && i < position; i++)
        if (i % 16 >= 10)
            ((char *)out)[i] = 0;
    return (size_t)position;
}

/* Whether what was received as got_count of got_type are the first count values that were sent. */
static void check(const char *label, const void *got, MPI_Datatype got_type, int got_count,
                  const void *sent, MPI_Datatype sent_type, int count, values_t values)
{
    static char first[2 * BYTES], second[2 * BYTES];
    mt_kind_t kind = values == FLOATS ? MT_FLOAT : MT_BYTES;
    size_t bytes = packed(first, got, got_type, values, got_count);
    if (bytes != packed(second, sent, sent_type, values, count))
        mt_say("BAD %s: the two sides differ in size", label);
    mt_check_against(label, first, second, bytes / mt_kind_bytes(kind), kind);
}

static void contiguous(int t)
{
    MPI_Aint lower, extent;
    MPI_Status status;
    MPI_Type_get_extent(types[t].type, &lower, &extent);
    int count = (int)(BYTES / extent);
    void *sent = mt_alloc(BYTES), *received = mt_alloc(BYTES);
    fill(sent, types[t].values, (unsigned)t);
    mt_seal(sent);
    mt_status_clear(&status);
    mt_result(types[t].name,
              MPI_Sendrecv(sent, count, types[t].type, mt_right, TAG, received, count,
                           types[t].type, mt_left, TAG, MPI_COMM_WORLD, &status));
    /* MPICH 4.0.2 divides by zero in MPI_Get_elements of a pair type. */
    mt_status(types[t].name, &status, types[t].values == PAIRS ? MPI_BYTE : types[t].type);
    int got;
    MPI_Get_count(&status, types[t].type, &got);
    mt_say("%s count %d of %d", types[t].name, got, count);
    check(types[t].name, received, types[t].type, count, sent, types[t].type, count,
          types[t].values);
    mt_free(sent);
    mt_free(received);
}

/* Every second value received into a vector: gaps untouched, and nothing changed on the way. */
static void strided(int t)
{
    MPI_Aint lower, extent;
    MPI_Datatype vector;
    MPI_Status status;
    char label[64];
    MPI_Type_get_extent(types[t].type, &lower, &extent);
    int count = (int)(BYTES / extent / 2);
    void *sent = mt_alloc(BYTES), *received = mt_alloc(BYTES);
    fill(sent, types[t].values, (unsigned)t + 100);
    mt_seal(sent);
    snprintf(label, sizeof label, "%s strided", types[t].name);
    MPI_Type_vector(count, 1, 2, types[t].type, &vector);
    MPI_Type_commit(&vector);
    mt_status_clear(&status);
    if (t % 2) /* by a vector on one side or on both */
        MPI_Sendrecv(sent, 1, vector, mt_right, TAG, received, 1, vector, mt_left, TAG,
                     MPI_COMM_WORLD, &status);
    else
        MPI_Sendrecv(sent, count, types[t].type, mt_right, TAG, received, 1, vector, mt_left, TAG,
                     MPI_COMM_WORLD, &status);
    mt_status(label, &status, MPI_BYTE);
    check(label, received, vector, 1, sent, t % 2 ? vector : types[t].type, t % 2 ? 1 : count,
          types[t].values);
    for (int i = 0; i < count; i++) {
        size_t gap = (size_t)(2 * i + 1) * (size_t)extent;
        if (gap + (size_t)extent <= BYTES)
            mt_untouched(label, received, gap, gap + (size_t)extent);
    }
    MPI_Type_free(&vector);
    mt_free(sent);
    mt_free(received);
}

static void body(void)
{
    for (int t = 0; t < TYPES; t++) {
        contiguous(t);
#ifdef OPEN_MPI
        if (types[t].type == MPI_C_LONG_DOUBLE_COMPLEX)
            continue; /* Open MPI 4.1.4 overflows a buffer of its own */
#endif
        strided(t);
    }
}

int main(int argc, char **argv)
{
    return mt_main(argc, argv, "basetypes", body);
}
