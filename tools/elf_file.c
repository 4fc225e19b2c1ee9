/* ELF files, mapped and bounds-checked. */
#include "tools/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * count items of size bytes at offset of the file, or NULL where they are not all within it.
 * Structures must lie at multiples of 8, as in every file that a linker made.
 */
static const void *elf_at(const elf_file_t *elf, uint64_t offset, uint64_t count, size_t size)
{
    if (offset > elf->bytes || count > (elf->bytes - offset) / size || (size > 1 && offset % 8))
        return NULL;
    return elf->data + offset;
}

/* The string at index of a table, or NULL where it does not end within it. */
static const char *string_at(const char *table, size_t bytes, uint64_t index)
{
    if (!table || index >= bytes || !memchr(table + index, '\0', bytes - index))
        return NULL;
    return table + index;
}

static const Elf64_Phdr *program_headers(const elf_file_t *elf, size_t *count)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)elf->data;
    const Elf64_Phdr *programs = NULL;

    *count = 0;
    if (header->e_phentsize == sizeof *programs)
        programs = elf_at(elf, header->e_phoff, header->e_phnum, sizeof *programs);
    if (programs)
        *count = header->e_phnum;
    return programs;
}

/* Offset in the file of a virtual address, or UINT64_MAX. */
static uint64_t offset_of(const elf_file_t *elf, uint64_t address)
{
    size_t count;
    const Elf64_Phdr *programs = program_headers(elf, &count);

    for (size_t i = 0; i < count; i++) {
        if (programs[i].p_type == PT_LOAD && address >= programs[i].p_vaddr &&
            address - programs[i].p_vaddr < programs[i].p_filesz)
            return address - programs[i].p_vaddr + programs[i].p_offset;
    }
    return UINT64_MAX;
}

/* Value of the first dynamic entry with that tag; false: there is none. */
static bool dynamic_value(const elf_file_t *elf, Elf64_Sxword tag, uint64_t *value)
{
    for (size_t i = 0; i < elf->entry_count; i++) {
        if (elf->entries[i].d_tag == tag) {
            *value = elf->entries[i].d_un.d_val;
            return true;
        }
    }
    return false;
}

static const char *dynamic_string(const elf_file_t *elf, Elf64_Sxword tag)
{
    uint64_t value;

    return dynamic_value(elf, tag, &value) ? string_at(elf->strings, elf->strings_bytes, value)
                                           : NULL;
}

/* The dynamic section up to its end mark, its strings, and what they name. */
static void read_dynamic(elf_file_t *elf, const Elf64_Phdr *program)
{
    uint64_t value, bytes = 0, limit = program->p_filesz / sizeof *elf->entries;

    elf->dynamic = true;
    elf->entries = elf_at(elf, program->p_offset, limit, sizeof *elf->entries);
    while (elf->entries && elf->entry_count < limit &&
           elf->entries[elf->entry_count].d_tag != DT_NULL)
        elf->entry_count++;
    if (dynamic_value(elf, DT_STRTAB, &value) && dynamic_value(elf, DT_STRSZ, &bytes))
        elf->strings = elf_at(elf, offset_of(elf, value), bytes, 1);
    elf->strings_bytes = elf->strings ? bytes : 0;
    elf->rpath = dynamic_string(elf, DT_RPATH);
    elf->runpath = dynamic_string(elf, DT_RUNPATH);
}

static const char *read_headers(elf_file_t *elf)
{
    const Elf64_Ehdr *header = elf_at(elf, 0, 1, sizeof *header);
    const Elf64_Phdr *programs;
    size_t count;

    if (elf->bytes < SELFMAG || memcmp(elf->data, ELFMAG, SELFMAG) != 0)
        return "is not an ELF file";
    if (!header)
        return "is an ELF file that has been cut off";
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
        return "is not a program for a 64-bit little-endian machine";
    if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
        return "is an ELF file, but neither a program nor a library";
    elf->machine = header->e_machine;
    programs = program_headers(elf, &count);
    if (!programs)
        return "is an ELF file that has been cut off";
    for (size_t i = 0; i < count; i++) {
        if (programs[i].p_type == PT_DYNAMIC)
            read_dynamic(elf, &programs[i]);
        else if (programs[i].p_type == PT_INTERP)
            elf->interpreter = string_at(elf_at(elf, programs[i].p_offset, programs[i].p_filesz, 1),
                                         programs[i].p_filesz, 0);
    }
    return NULL;
}

const char *elf_open(const char *path, elf_file_t *elf)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not wait */
    const char *why = NULL;
    struct stat status;
    void *data = MAP_FAILED;

    memset(elf, 0, sizeof *elf);
    if (file < 0)
        return strerror(errno);
    if (fstat(file, &status) != 0)
        why = strerror(errno);
    else if (!S_ISREG(status.st_mode))
        why = "is not a file";
    else if (status.st_size == 0)
        why = "is empty";
    else if ((data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0)) ==
             MAP_FAILED)
        why = strerror(errno);
    close(file);
    if (why)
        return why;
    elf->data = data;
    elf->bytes = (size_t)status.st_size;
    why = read_headers(elf);
    if (why)
        elf_close(elf);
    return why;
}

void elf_close(elf_file_t *elf)
{
    munmap((void *)elf->data, elf->bytes);
    elf->data = NULL;
}

const char *elf_needed(const elf_file_t *elf, size_t *at)
{
    while (*at < elf->entry_count) {
        const Elf64_Dyn *entry = &elf->entries[(*at)++];
        const char *name = NULL;
        if (entry->d_tag == DT_NEEDED)
            name = string_at(elf->strings, elf->strings_bytes, entry->d_un.d_val);
        if (name)
            return name;
    }
    return NULL;
}

bool elf_defines(const elf_file_t *elf, const char *name)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)elf->data;
    const Elf64_Shdr *sections = elf_at(elf, header->e_shoff, header->e_shnum, sizeof *sections);

    for (size_t i = 0; sections && i < header->e_shnum; i++) {
        const Elf64_Shdr *section = &sections[i], *linked;
        const Elf64_Sym *symbols;
        const char *strings;
        size_t count = section->sh_size / sizeof *symbols;
        if ((section->sh_type != SHT_SYMTAB && section->sh_type != SHT_DYNSYM) ||
            section->sh_link >= header->e_shnum)
            continue;
        linked = &sections[section->sh_link];
        symbols = elf_at(elf, section->sh_offset, count, sizeof *symbols);
        strings = elf_at(elf, linked->sh_offset, linked->sh_size, 1);
        for (size_t j = 0; symbols && j < count; j++) {
            const char *other = string_at(strings, linked->sh_size, symbols[j].st_name);
            if (symbols[j].st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbols[j].st_info) == STT_FUNC &&
                other && strcmp(other, name) == 0)
                return true;
        }
    }
    return false;
}
