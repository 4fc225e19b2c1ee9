/* The dynamic loader's search for libraries (ld.so(8)), as far as names and folders go. */
#include "config.h"

#include "tools/loader.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder of a file, without symbolic links: what $ORIGIN stands for. The caller frees it. */
static char *folder_of(const char *path)
{
    char *whole = realpath(path, NULL);
    char *folder = whole ? strdup(dirname(whole)) : NULL;

    free(whole);
    return folder;
}

/* Opens a candidate; false: not there, or for another machine, where the search goes on. */
static bool candidate_good(const char *path, uint16_t machine)
{
    elf_file_t elf;
    bool good;

    if (elf_open(path, &elf))
        return false;
    good = elf.machine == machine;
    elf_close(&elf);
    return good;
}

/* Looks in a list of folders with ':' between; $ORIGIN is origin. The caller frees the path. */
static char *search_folders(const char *list, const char *origin, const char *name,
                            uint16_t machine)
{
    static const char *const tokens[] = {"$ORIGIN", "${ORIGIN}"};

    while (list && *list) {
        size_t length = strcspn(list, ":");
        const char *rest = list, *before = "";
        char *path;
        for (int i = 0; i < 2 && origin; i++) {
            if (strncmp(list, tokens[i], strlen(tokens[i])) == 0) {
                before = origin;
                rest += strlen(tokens[i]);
            }
        }
        if (asprintf(&path, "%s%.*s/%s", before, (int)(list + length - rest), rest, name) < 0)
            return NULL;
        if (length > 0 && candidate_good(path, machine))
            return path;
        free(path);
        list += length + (list[length] == ':');
    }
    return NULL;
}

/* Looks in the text of ldconfig -p: lines "\tNAME (TYPE) => PATH". The caller frees the path. */
static char *search_cache(const char *cache, const char *name, uint16_t machine)
{
    size_t length = strlen(name);

    for (const char *line = cache; line && *line; line = strchr(line, '\n')) {
        const char *path;
        char *copy;
        line += strspn(line, "\n\t ");
        if (strncmp(line, name, length) != 0 || line[length] != ' ')
            continue;
        path = strstr(line, "=> ");
        copy = path ? strndup(path + 3, strcspn(path + 3, "\n")) : NULL;
        if (copy && candidate_good(copy, machine))
            return copy;
        free(copy);
    }
    return NULL;
}

/* Finds a library that the file at path, opened as elf, needs. The caller frees the answer. */
static char *find(const loader_t *loader, const char *path, const elf_file_t *elf, const char *name)
{
    char *folder, *found = NULL;

    if (strchr(name, '/'))
        return candidate_good(name, elf->machine) ? strdup(name) : NULL;
    folder = folder_of(path);
    if (!elf->runpath) {
        found = search_folders(elf->rpath, folder, name, elf->machine);
        if (!found)
            found =
                search_folders(loader->program_rpath, loader->program_folder, name, elf->machine);
    }
    if (!found)
        found = search_folders(getenv("LD_LIBRARY_PATH"), folder, name, elf->machine);
    if (!found)
        found = search_folders(elf->runpath, folder, name, elf->machine);
    if (!found)
        found = search_cache(loader->cache, name, elf->machine);
    if (!found)
        found = search_folders("/lib64:/usr/lib64:/lib:/usr/lib", NULL, name, elf->machine);
    free(folder);
    return found;
}

/* The loader's cache as text; NULL if ldconfig cannot be run. The caller frees it. */
static char *read_cache(void)
{
    FILE *pipe = popen("PATH=/sbin:/usr/sbin:$PATH ldconfig -p 2>/dev/null", "re");
    char *text = NULL;
    size_t room = 0;
    ssize_t length;

    if (!pipe)
        return NULL;
    length = getdelim(&text, &room, '\0', pipe);
    if (pclose(pipe) != 0 || length < 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* Adds what the file at path needs and is not there yet. False: no more room. */
static bool add_needed(loader_t *loader, const char *path, const elf_file_t *elf, int index)
{
    size_t at = 0;
    const char *name;

    while ((name = elf_needed(elf, &at))) {
        loader_library_t *library = &loader->libraries[loader->count];
        int i = 0;
        while (i < loader->count && strcmp(loader->libraries[i].name, name) != 0)
            i++;
        if (i < loader->count)
            continue;
        if (loader->count == LOADER_LIBRARIES || !(library->name = strdup(name)))
            return false;
        library->path = find(loader, path, elf, name);
        library->needed_by = index;
        loader->count++;
    }
    return true;
}

bool loader_walk(loader_t *loader, const char *path, const elf_file_t *elf)
{
    bool complete;

    memset(loader, 0, sizeof *loader);
    loader->cache = read_cache();
    loader->program_rpath = elf->runpath ? NULL : elf->rpath;
    loader->program_folder = folder_of(path);
    complete = add_needed(loader, path, elf, -1);
    for (int i = 0; i < loader->count && complete; i++) {
        elf_file_t library;
        if (!loader->libraries[i].path || elf_open(loader->libraries[i].path, &library))
            continue;
        complete = add_needed(loader, loader->libraries[i].path, &library, i);
        elf_close(&library);
    }
    return complete;
}

void loader_free(loader_t *loader)
{
    for (int i = 0; i < loader->count; i++) {
        free(loader->libraries[i].name);
        free(loader->libraries[i].path);
    }
    free(loader->cache);
    free(loader->program_folder);
}
