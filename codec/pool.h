/* Work on a message in parts, by the threads of a pool. */
#ifndef TAH_POOL_H
#define TAH_POOL_H

#include "codec/tah.h"

#include <stdatomic.h>

#define POOL_PART_BYTES (1u << 17)         /* of the tensor: what a part is to be, about */
#define POOL_LEAST_PARTS 8                 /* fewer are not worth waking threads for */
#define POOL_SCRATCH (2 * POOL_PART_BYTES) /* bytes of scratch of a part */

typedef struct pool_part {
    uint64_t number;
    uint8_t *scratch; /* POOL_SCRATCH bytes for this part alone, until it is finished;
                         NULL: parts are done and finished one after another in their order */
    /* What is left by the work on a part for its finish. */
    size_t bytes;
    tah_encoded_t sums;
} pool_part_t;

typedef void (*pool_work_t)(void *job, pool_part_t *part);

/* Whether a job of so many parts may be shared: what is done for that alone is then worth it. */
bool pool_suits(const tah_pool_t *pool, uint64_t parts);

/*
 * Does work on parts 0 to parts - 1 of a job, several at a time, and, if finish is not NULL,
 * finishes each after its work, one at a time and in their order. Returns when all is done. The
 * calling thread does so alone where there are few parts, where pool is NULL or is working for
 * another thread, and in a forked child.
 */
void pool_run(tah_pool_t *pool, uint64_t parts, pool_work_t work, pool_work_t finish, void *job);

#endif
