/*
 * main of a fuzz target without libFuzzer: TARGET MUTATIONS FILE... gives it each file, and that
 * many copies of each with some bytes changed, the same ones at every run.
 */
#include "tests/fuzz/fuzz.h"

enum { FILE_MOST = 1 << 20 };

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "Usage: %s MUTATIONS FILE...\n", argv[0]);
        return 2;
    }
    uint8_t *data = fuzz_alloc(FILE_MOST);
    uint64_t state = 0x7461686d7069;
    for (int i = 2; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (!file) {
            perror(argv[i]);
            return 1;
        }
        const size_t bytes = fread(data, 1, FILE_MOST, file);
        fclose(file);
        fprintf(stderr, "%s\n", argv[i]); /* the last line says which one it was */
        LLVMFuzzerTestOneInput(data, bytes);
        for (int mutation = 0; bytes && mutation < atoi(argv[1]); mutation++) {
            uint8_t *mutant = fuzz_copy(data, bytes);
            for (uint64_t left = 1 + random_next(&state) % 4; left > 0; left--)
                mutant[random_next(&state) % bytes] = (uint8_t)random_next(&state);
            LLVMFuzzerTestOneInput(mutant, bytes);
            free(mutant);
        }
    }
    printf("%d files\n", argc - 2);
    free(data);
    return 0;
}
