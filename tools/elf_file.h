/*
 * Reads ELF files: what the dynamic loader would, without running anything. Bytes are not trusted:
 * whatever a file holds, nothing outside it is read.
 */
#ifndef ELF_FILE_H
#define ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct elf_file {
    const uint8_t *data; /* the mapped file */
    size_t bytes;
    uint16_t machine;            /* EM_X86_64 ... */
    bool dynamic;                /* has a dynamic section */
    const char *interpreter;     /* the loader it asks for; NULL: none */
    const char *rpath, *runpath; /* NULL: none */
    const char *strings;         /* string table of the dynamic section */
    size_t strings_bytes;
    const Elf64_Dyn *entries;
    size_t entry_count;
} elf_file_t;

/*
 * Opens a file. Returns NULL and fills elf, which the caller closes with elf_close; or says in one
 * clause why not ("is not an ELF file"), with nothing to close. Pointers in elf are valid until
 * then.
 */
const char *elf_open(const char *path, elf_file_t *elf);

void elf_close(elf_file_t *elf);

/* The next library that the file needs, by its soname: *at is 0 at first. NULL: no more. */
const char *elf_needed(const elf_file_t *elf, size_t *at);

/* Whether the file itself defines a function of that name, exported or not. */
bool elf_defines(const elf_file_t *elf, const char *name);

#endif
