/*
 * What the MPI test programs share. A program uses MPI as any program would and writes down, in a
 * fixed order, everything that it can observe; the driver (compare.sh) runs it plain and with the
 * library loaded and compares what was written. Nothing here knows of the library.
 *
 * Unless stated otherwise these functions are for one thread, the one that called mt_begin.
 */
#ifndef MT_H
#define MT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* World rank and size of this process, set by mt_begin. */
extern int mt_rank, mt_size;

/* The ranks before and after this one, in a ring: most programs receive from the left. */
extern int mt_left, mt_right;

/* What is written before a receive where a status should be left alone. */
#define MT_UNSET (-4711)

/*
 * Opens this rank's notes: the file $MT_OUT/NAME.RANK, or standard output without MT_OUT. Call
 * after MPI_Init, once; name tells parent and spawned processes apart. A program that cannot write
 * its notes is of no use: any failure here ends it with exit code 99.
 */
void mt_begin(const char *name);

/* Checks that every buffer was freed, closes the notes. May be called after MPI_Finalize. */
void mt_end(void);

/* A whole program: MPI_Init, mt_begin, body, mt_end, MPI_Finalize. Returns what main returns. */
int mt_main(int argc, char **argv, const char *name, void (*body)(void));

/* One of the threads of mt_threads_main, with buffers of mt_alloc to send from and receive into. */
typedef struct mt_thread {
    int number;
    float *out, *in;
} mt_thread_t;

/*
 * A whole program under MPI_THREAD_MULTIPLE: at most 16 threads in work at once, each with buffers
 * of that many bytes and notes of its own, which are written in the order of their numbers.
 */
int mt_threads_main(int argc, char **argv, const char *name, int threads, size_t bytes,
                    void (*work)(mt_thread_t *thread));

/*
 * One line of notes, without the newline. Any thread; threads that write at the same time must
 * each be between mt_capture and mt_release, so that the order of lines does not depend on theirs.
 */
void mt_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* From here on the notes of the calling thread are kept in memory ... */
void mt_capture(void);

/* ... and handed back here, to be given to mt_write by one thread in a fixed order, then freed. */
char *mt_release(void);
void mt_write(const char *notes);

/* What the elements of a buffer are filled with. All but MT_NOISE shrink under a lossless codec. */
typedef enum mt_kind {
    MT_FLOAT,  /* float: rows of Gaussian values in steps of 1/4, some columns much larger */
    MT_DOUBLE, /* double: the same values */
    MT_INT,    /* int32: 0..15 */
    MT_BYTES,  /* bytes 0..3 */
    MT_NOISE,  /* bytes of all values, which no codec can shrink */
} mt_kind_t;

/* Bytes of one element of that kind. */
size_t mt_kind_bytes(mt_kind_t kind);

/* "float" ...; static storage. */
const char *mt_kind_name(mt_kind_t kind);

/* The MPI type that a program would send that kind as (MPI_BYTE for MT_BYTES and MT_NOISE). */
MPI_Datatype mt_kind_type(mt_kind_t kind);

/* Fills count elements at data, of any alignment, with the values that kind and seed stand for. */
void mt_fill(void *data, size_t count, mt_kind_t kind, unsigned seed);

/*
 * Notes how count elements at data compare with what mt_fill wrote for that kind and seed, as one
 * line "data LABEL ...": "exact"; or, for floats, "off RMS MAX" (root mean square of the error over
 * that of the values, largest error over largest value); or "WRONG at ELEMENT". Returns whether it
 * was exact.
 */
bool mt_check(const char *label, const void *data, size_t count, mt_kind_t kind, unsigned seed);

/* The same for values of any kind against expected values that the caller lays out. */
bool mt_check_against(const char *label, const void *data, const void *expected, size_t count,
                      mt_kind_t kind);

/* 64-bit hash of bytes, the same on every machine. */
uint64_t mt_hash(const void *data, size_t bytes);

/*
 * A buffer of bytes with a guard zone on both sides, all bytes 0xA5. Writable. The alignment is
 * that of malloc. Exits with 99 where there is no memory.
 */
void *mt_alloc(size_t bytes);

/* A buffer that is filled with count elements of kind and then made read-only: for sending. */
void *mt_alloc_sealed(size_t count, mt_kind_t kind, unsigned seed);

/* Makes a buffer of mt_alloc read-only: from here on it is for sending. */
void mt_seal(void *data);

/* Sets all bytes of a buffer of mt_alloc to 0xA5 again. */
void mt_wipe(void *data);

/* Notes "LABEL written at BYTE" if one of the bytes from..to-1 of the buffer is no longer 0xA5. */
void mt_untouched(const char *label, const void *data, size_t from, size_t to);

/* Frees a buffer of mt_alloc or mt_alloc_sealed; notes a guard zone that was written to. */
void mt_free(void *data);

/* Sets every field of a status to MT_UNSET (source, tag, error) and the rest to zero. */
void mt_status_clear(MPI_Status *status);

/*
 * Notes a status: source, tag, the error class ("untouched" where mt_status_clear's value stands),
 * and what Get_count and Get_elements say for type and for MPI_BYTE.
 */
void mt_status(const char *label, const MPI_Status *status, MPI_Datatype type);

/* The same without counts, for what MPI leaves undefined there (errors). */
void mt_status_brief(const char *label, const MPI_Status *status);

/* "TRUNCATE", "IN_STATUS" ... of an error code; a number for classes without a name here. */
const char *mt_class(int code);

/*
 * Gives comm an error handler that writes down its calls under that name and returns. At most 8
 * names per program.
 */
void mt_handler(MPI_Comm comm, const char *name);

/* Notes the class of code and which handlers ran since the last call, as "LABEL: CLASS by NAME". */
void mt_result(const char *label, int code);

/* Notes whether a request is MPI_REQUEST_NULL. */
void mt_request(const char *label, MPI_Request request);

/* Number of elements of a kind that is nearest below bytes and whose length is 112 modulo 128. */
size_t mt_odd_count(size_t bytes, mt_kind_t kind);

#endif
