/* Tables for look-ups of bytes in a vector of 64. */
#ifndef TAH_TABLE_64_H
#define TAH_TABLE_64_H

/* A table of 64 bytes, AT(w, k) at k. */
#define BYTES_8(AT, w, k)                                                                          \
    AT(w, k), AT(w, k + 1), AT(w, k + 2), AT(w, k + 3), AT(w, k + 4), AT(w, k + 5), AT(w, k + 6),  \
        AT(w, k + 7)
#define BYTES_64(AT, w)                                                                            \
    {                                                                                              \
        BYTES_8(AT, w, 0), BYTES_8(AT, w, 8), BYTES_8(AT, w, 16), BYTES_8(AT, w, 24),              \
            BYTES_8(AT, w, 32), BYTES_8(AT, w, 40), BYTES_8(AT, w, 48), BYTES_8(AT, w, 56)         \
    }

#endif
