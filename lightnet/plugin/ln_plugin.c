// SPDX-License-Identifier: Apache-2.0
// Plug-ins: operators, rules and architectures from shared objects that were built elsewhere.

#include "lightnet/ln_plugin.h"

#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ln_error_memory.h"
#include "base/ln_infile.h"
#include "base/ln_list_end.h"
#include "base/ln_name.h"
#include "ir/ln_arch_tables.h"
#include "lightnet/ln_msg.h"
#include "lightnet/ln_util.h"

typedef ElfW(Ehdr) elf_header;
typedef ElfW(Phdr) elf_segment;

// The word size and byte order of this process, which plug-ins must have.
static const unsigned char this_class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
static const unsigned char this_order =
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

static int is_shared_object(const ln_infile *in, elf_header *header)
{
    if (ln_infile_read(in, 0, header, sizeof(*header), NULL))
        return 0;
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == this_class && header->e_ident[EI_DATA] == this_order &&
           header->e_type == ET_DYN && header->e_phentsize == sizeof(elf_segment);
}

// Whether `size` bytes at `offset` are in the file.
static int is_within(const ln_infile *in, size_t offset, size_t size)
{
    size_t end;
    return !ln_size_add(offset, size, &end) && end <= in->size;
}

static int is_whole(const ln_infile *in, const elf_header *header)
{
    if (!is_within(in, header->e_phoff, (size_t)header->e_phnum * sizeof(elf_segment)))
        return 0;
    for (size_t i = 0; i < header->e_phnum; i++) {
        elf_segment segment;
        if (ln_infile_read(in, header->e_phoff + i * sizeof(segment), &segment, sizeof(segment),
                           NULL))
            return 0;
        if (segment.p_type != PT_NULL && segment.p_filesz &&
            !is_within(in, segment.p_offset, segment.p_filesz))
            return 0;
    }
    return 1;
}

// 0 if `file` is a complete shared object for this machine: access to a truncated one ends the
// process. Otherwise -1 with a reason that names it. Source:
// System V Application Binary Interface, "Object Files" and "Program Loading".
static int check_elf(const char *file, ln_error *err)
{
    ln_infile in;
    elf_header header;
    struct stat about;
    int status = 0;
    // Opening a pipe would block, and the loader cannot map one.
    if (!stat(file, &about) && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))
        return ln_error_set(err, "%s: is not a regular file", file);
    if (ln_infile_open(&in, file, err))
        return -1;
    if (!is_shared_object(&in, &header))
        status = ln_error_set(err, "%s: is not a shared object for this machine", file);
    else if (!is_whole(&in, &header))
        status = ln_error_set(err, "%s: is cut off: it has %zu bytes, less than its segments need",
                              file, in.size);
    ln_infile_close(&in);
    return status;
}

static ln_list *plugins; // ln_plugin_loaded *, in the order of loading

// The descriptor

// Structs whose sizes must be equal on both sides.
static const struct {
    const char *name;
    uint32_t size;
} structs[] = {
#define ROW(type) {#type, LN_PLUGIN_SIZE(type)},
    LN_PLUGIN_STRUCTS(ROW)
#undef ROW
};

// In this order: a field is valid only if those before it are as expected.
static int check_descriptor(const ln_plugin *plugin)
{
    static const char again[] = "build it again with the headers of this LightNet";
    if (!plugin)
        return ln_error_set(NULL, "is not a plug-in: it has no symbol '%s'", LN_PLUGIN_SYMBOL);
    if (plugin->magic != LN_PLUGIN_MAGIC)
        return ln_error_set(NULL, "is not a plug-in: its '%s' begins with 0x%x, expected 0x%x",
                            LN_PLUGIN_SYMBOL, (unsigned)plugin->magic, (unsigned)LN_PLUGIN_MAGIC);
    if (plugin->abi != LN_PLUGIN_ABI)
        return ln_error_set(NULL, "is built for binary interface %u of plug-ins, expected %u; %s",
                            (unsigned)plugin->abi, (unsigned)LN_PLUGIN_ABI, again);
    for (size_t i = 0; i < sizeof(structs) / sizeof(*structs); i++) {
        if (plugin->sizes[i] != structs[i].size)
            return ln_error_set(NULL, "is built with %u bytes of '%s', expected %u; %s",
                                (unsigned)plugin->sizes[i], structs[i].name,
                                (unsigned)structs[i].size, again);
    }
    if (plugin->library != &LN_ARCH)
        return ln_error_set(NULL, "uses another copy of LightNet than this program does, expected "
                                  "the same shared library");
    if (!plugin->name || !*plugin->name)
        return ln_error_set(NULL, "is a plug-in without a name");
    return 0;
}

// Checks all errors of ln_mem_type_provide, which is called last, since it cannot be undone.
static int check_memory(const ln_mem_provider *memory)
{
    if (!memory)
        return 0;
    if (!ln_mem_type_is_valid(memory->mtype) || memory->mtype == LN_MEM_NONE)
        return ln_error_set(NULL, "provides memory type %d, which is unknown", (int)memory->mtype);
    if (!memory->alloc_func || !memory->free_func || !memory->memset_func || !memory->copy_in ||
        !memory->copy_out || !memory->copy_within)
        return ln_error_set(NULL, "lacks functions of memory type %s",
                            ln_mem_type_name(memory->mtype));
    if (ln_mem_type_info(memory->mtype).alloc_func)
        return ln_error_set(NULL, "provides memory type %s, which has functions already",
                            ln_mem_type_name(memory->mtype));
    return 0;
}

// Loading

static int register_all(const ln_plugin *plugin)
{
    for (ln_arch *const *arch = plugin->archs; arch && *arch; arch++) {
        if (ln_arch_check_ops(*arch) || ln_arch_register(*arch))
            return -1;
    }
    for (const ln_arch *const *more = plugin->additions; more && *more; more++) {
        if (ln_arch_extend(*more))
            return -1;
    }
    return 0;
}

static int is_loaded(const void *handle)
{
    LN_FOREACH (const ln_plugin_loaded *, loaded, plugins)
        if (loaded->handle == handle)
            return 1;
    return 0;
}

// Takes the handle and `path`; on failure they are still the caller's.
static int remember(void *handle, const ln_plugin *plugin, char *path)
{
    ln_plugin_loaded *loaded = ln_alloc(sizeof(*loaded));
    if (ln_list_add(&plugins, loaded, ln_free))
        return -1;
    *loaded = (ln_plugin_loaded){.file = path, .plugin = plugin, .handle = handle};
    return 0;
}

// The message of the loader, without the path, with which most of them begin.
static const char *loader_error(const char *path)
{
    const char *text = dlerror();
    const size_t len = strlen(path);
    if (!text)
        return "for an unknown reason";
    return strncmp(text, path, len) == 0 && strncmp(text + len, ": ", 2) == 0 ? text + len + 2
                                                                              : text;
}

// In a static program, dlopen() of glibc maps a second C library, whose objects crash. In such a
// program dlsym() finds no symbol, not even of the C library.
static void *open_object(const char *path)
{
    void *handle = NULL;
    if (!dlsym(RTLD_DEFAULT, "malloc"))
        ln_error_set(NULL, "cannot be loaded: this program is static; expected one that is linked "
                           "with the shared liblightnet");
    else if (!(handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)))
        ln_error_set(NULL, "cannot be loaded: %s", loader_error(path));
    return handle;
}

// Takes `path` if it succeeds; the thread's last error lacks the file.
static int load(char *path)
{
    const int before = ln_arch_changes();
    void *handle = open_object(path);
    if (!handle)
        return -1;
    const ln_plugin *plugin = dlsym(handle, LN_PLUGIN_SYMBOL);
    if (is_loaded(handle)) {
        dlclose(handle); // undoes this dlopen(): the object stays open once
        ln_free(path);
        return 0;
    }
    // Rejects objects that register something themselves, unchecked, when they are mapped.
    if (ln_arch_changes() != before)
        ln_error_set(NULL, "registers architectures by itself, expected them in its '%s'",
                     LN_PLUGIN_SYMBOL);
    else if (!check_descriptor(plugin) && !check_memory(plugin->memory) && !register_all(plugin) &&
             !remember(handle, plugin, path))
        return plugin->memory ? ln_mem_type_provide(plugin->memory) : 0;
    ln_arch_undo(before);
    dlclose(handle);
    return -1;
}

int ln_plugin_load(const char *file)
{
    char *real = realpath(file, NULL);
    if (!real)
        return ln_error_set(NULL, "%s: %s", file, strerror(errno));
    char *path = ln_strdup(real);
    free(real);
    if (!path || check_elf(file, NULL)) {
        ln_free(path);
        return -1;
    }
    int status = ln_arch_begin_change(); // while nothing else uses the tables
    if (!status) {
        status = load(path);
        ln_arch_end_change();
    }
    if (!status)
        return 0;
    ln_free(path);
    return ln_error_prefix(NULL, "%s", file);
}

// Folders

static int is_plugin_name(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && ln_has_suffix(entry->d_name, ".so");
}

// By bytes, in every locale.
static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int load_from(const char *folder, const char *name)
{
    char *file = NULL;
    if (asprintf(&file, "%s/%s", folder, name) < 0)
        return ln_error_memory_at(NULL, folder);
    const int status = ln_plugin_load(file);
    free(file);
    return status;
}

static int load_folder(const char *folder)
{
    struct dirent **entries;
    int status = 0;
    const int n = scandir(folder, &entries, is_plugin_name, compare_names);
    if (n < 0)
        return ln_error_set(NULL, "%s: cannot read the folder of plug-ins: %s", folder,
                            strerror(errno));
    for (int i = 0; i < n; i++) {
        if (!status)
            status = load_from(folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return status;
}

int ln_plugin_load_path(const char *folders)
{
    const char *path = folders ? folders : secure_getenv("LIGHTNET_PLUGIN_PATH");
    char *copy = ln_strdup(path ? path : ""), *rest = copy;
    int status = copy ? 0 : -1;
    for (const char *folder; !status && (folder = strsep(&rest, ":"));) {
        if (*folder)
            status = load_folder(folder);
    }
    ln_free(copy);
    return status;
}

// Targets that come with LightNet

static int is_word(const char *name)
{
    return *name && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name);
}

// The two subfolders with plug-ins of targets, in the folder of the library.
static const char *const subfolders[] = {"lightnet", "arch"};

// The path of a subfolder of the library's folder. -1: that is unknown, or the path is too long.
static int find_folder(char folder[PATH_MAX], const char *subfolder)
{
    Dl_info library;
    if (!dladdr(&plugins, &library) || !library.dli_fname)
        return -1;
    const char *path = library.dli_fname, *slash = strrchr(path, '/');
    const int len = slash ? (int)(slash - path) : 1;
    const int size = snprintf(folder, PATH_MAX, "%.*s/%s", len, slash ? path : ".", subfolder);
    return size < PATH_MAX ? 0 : -1;
}

// Finds the file of a target's plug-in: where it is installed, lightnet/TARGET.so, or where it is
// built, arch/TARGET/TARGET.so. Returns whether it exists.
static int find_target(char file[PATH_MAX], const char *target)
{
    char folder[PATH_MAX];
    if (!is_word(target))
        return 0;
    if (!find_folder(folder, subfolders[0]) &&
        snprintf(file, PATH_MAX, "%s/%s.so", folder, target) < PATH_MAX && !access(file, F_OK))
        return 1;
    return !find_folder(folder, subfolders[1]) &&
           snprintf(file, PATH_MAX, "%s/%s/%s.so", folder, target, target) < PATH_MAX &&
           !access(file, F_OK);
}

// Adds the target of an entry of a subfolder, if find_target finds its plug-in there.
static int add_entry(const char *folder, const char *entry, int (*add)(void *arg, const char *name),
                     void *arg)
{
    char target[PATH_MAX], file[PATH_MAX];
    const size_t len = strlen(entry), folder_len = strlen(folder);
    const size_t stem = ln_has_suffix(entry, ".so") ? len - strlen(".so") : len;
    snprintf(target, sizeof(target), "%.*s", (int)stem, entry);
    if (!find_target(file, target) || strncmp(file, folder, folder_len) || file[folder_len] != '/')
        return 0;
    const char *found = file + folder_len + 1;
    return strncmp(found, entry, len) || (found[len] && found[len] != '/') ? 0 : add(arg, target);
}

static void list_targets(int (*add)(void *arg, const char *name), void *arg)
{
    char folder[PATH_MAX];
    for (size_t i = 0; i < sizeof(subfolders) / sizeof(subfolders[0]); i++) {
        struct dirent **entries;
        const int n = find_folder(folder, subfolders[i])
                          ? -1
                          : scandir(folder, &entries, NULL, compare_names);
        int is_full = 0;
        for (int k = 0; k < n; k++) {
            is_full = is_full || add_entry(folder, entries[k]->d_name, add, arg);
            free(entries[k]);
        }
        if (n >= 0)
            free(entries);
    }
}

__attribute__((constructor)) static void register_lister(void)
{
    ln_arch_set_loadable(list_targets);
}

int ln_plugin_load_target(const char *target)
{
    char file[PATH_MAX];
    if (ln_hash_find(LN_ARCH.arch_table, target) || !find_target(file, target))
        return 0;
    return ln_plugin_load(file);
}

// Loaded plug-ins

const ln_list *ln_plugin_list(void)
{
    return plugins;
}

static int has_op(const ln_arch *arch, const ln_op *proto)
{
    for (ln_op **op = arch->reg_ops; op && *op; op++)
        if (*op == proto)
            return 1;
    return 0;
}

// Additions to the architecture of another plug-in belong to the plug-in that adds them.
const ln_plugin_loaded *ln_plugin_of_op(const ln_op *proto)
{
    LN_FOREACH (const ln_plugin_loaded *, loaded, plugins)
        for (const ln_arch *const *more = loaded->plugin->additions; more && *more; more++)
            if (has_op(*more, proto))
                return loaded;
    LN_FOREACH (const ln_plugin_loaded *, loaded, plugins)
        for (ln_arch *const *arch = loaded->plugin->archs; arch && *arch; arch++)
            if (has_op(*arch, proto))
                return loaded;
    return NULL;
}

const ln_plugin_loaded *ln_plugin_of_arch(const ln_arch *arch)
{
    LN_FOREACH (const ln_plugin_loaded *, loaded, plugins)
        for (ln_arch *const *own = loaded->plugin->archs; own && *own; own++)
            if (*own == arch)
                return loaded;
    return NULL;
}

static void free_loaded(void *data)
{
    ln_plugin_loaded *loaded = data;
    ln_free((char *)loaded->file);
    ln_free(loaded);
}

// After main, so that leak checkers see only real leaks. The objects stay mapped: their
// registered data is used until the tables are freed.
__attribute__((destructor)) static void free_list(void)
{
    ln_list_free_deep(plugins, free_loaded);
    plugins = NULL;
}
