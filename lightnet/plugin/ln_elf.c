// SPDX-License-Identifier: Apache-2.0
// Whether a file can be given to the dynamic loader, which trusts it.

#include "plugin/ln_elf.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>

#include "base/ln_infile.h"
#include "lightnet/ln_util.h"

typedef ElfW(Ehdr) elf_header;
typedef ElfW(Phdr) elf_segment;

// What the loader itself is: what it loads must be the same.
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

// A pipe would be waited for, and is not mapped by the loader.
static int is_stream(const char *file)
{
    struct stat about;
    return !stat(file, &about) && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
}

int ln_elf_check(const char *file, ln_error *err)
{
    ln_infile in;
    elf_header header;
    int status = 0;
    if (is_stream(file))
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
