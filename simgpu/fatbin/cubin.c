/* Reads a cubin, the ELF file that ptxas and nvlink write.
 *
 * Sections of type SHT_CUDA_INFO (".nv.info", and ".nv.info.K" for a kernel K)
 * are lists of attributes. The one named EIATTR_REGCOUNT pairs a function's
 * symbol with its registers; what the function calls is in the number. Until
 * CUDA 12 the count also stood in the info field of the section ".text.K";
 * in CUDA 13 that is a plain symbol index, so the attribute is the source.
 *
 * Nothing in the bytes is believed: a section, an attribute or a name that
 * reaches past its end counts as missing. The headers are read with memcpy,
 * since an image may lie anywhere. */
#include "fatbin/cubin.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifndef EM_CUDA
#define EM_CUDA 190
#endif
#define SHT_CUDA_INFO SHT_LOPROC

/* An attribute: how its value is stored, which one it is, and 16 bits that
 * are the value itself or, for FORMAT_SIZED, the bytes of it that follow. */
struct attribute {
    uint8_t format, name;
    uint16_t size;
};
enum { FORMAT_NONE = 1, FORMAT_BYTE, FORMAT_HALF, FORMAT_SIZED };
enum { EIATTR_REGCOUNT = 0x2f, MOST_REGISTERS = 255 };

struct regcount { uint32_t symbol, registers; };

_Static_assert(sizeof(struct attribute) == 4, "layout");

struct span { const uint8_t *at; size_t len; };

/* `len` bytes at `offset` of s, which are empty if s has not that many. */
static struct span part(struct span s, uint64_t offset, uint64_t len)
{
    if (offset > s.len || len > s.len - offset) return (struct span){0};
    return (struct span){s.at + offset, (size_t)len};
}

/* Copies entry `index` of a table of such entries. */
static bool entry(struct span table, uint64_t index, void *to, size_t size)
{
    if (index >= table.len / size) return false;
    memcpy(to, table.at + index * size, size);
    return true;
}

struct cubin { struct span file, sections; };

static bool open_cubin(struct cubin *c, const void *data, size_t len)
{
    Elf64_Ehdr h;
    Elf64_Shdr first;
    c->file = (struct span){data, len};
    if (!entry(c->file, 0, &h, sizeof h)) return false;
    if (memcmp(h.e_ident, ELFMAG, SELFMAG) ||
        h.e_ident[EI_CLASS] != ELFCLASS64 ||
        h.e_ident[EI_DATA] != ELFDATA2LSB || h.e_machine != EM_CUDA ||
        h.e_shentsize != sizeof first)
        return false;
    uint64_t n = h.e_shnum;
    if (!n) { /* more than fit in the field: the first section has it */
        if (!entry(part(c->file, h.e_shoff, sizeof first), 0, &first,
                   sizeof first))
            return false;
        n = first.sh_size;
    }
    if (n > len / sizeof first) return false;
    c->sections = part(c->file, h.e_shoff, n * sizeof first);
    return true;
}

static bool section(const struct cubin *c, uint32_t index, Elf64_Shdr *h,
                    struct span *bytes)
{
    if (!entry(c->sections, index, h, sizeof *h)) return false;
    *bytes = h->sh_type == SHT_NOBITS
             ? (struct span){0} : part(c->file, h->sh_offset, h->sh_size);
    return true;
}

/* What an attribute needs to name its function by. */
struct names { struct span symbols, strings; };

static bool find_names(const struct cubin *c, uint32_t symtab,
                       struct names *n)
{
    Elf64_Shdr symbols, strings;
    return section(c, symtab, &symbols, &n->symbols) &&
           symbols.sh_type == SHT_SYMTAB &&
           section(c, symbols.sh_link, &strings, &n->strings) &&
           strings.sh_type == SHT_STRTAB;
}

static bool is_called(const struct names *n, uint32_t symbol,
                      const char *name)
{
    Elf64_Sym s;
    size_t size = strlen(name) + 1;
    if (!entry(n->symbols, symbol, &s, sizeof s)) return false;
    struct span text = part(n->strings, s.st_name, size);
    return text.at && !memcmp(text.at, name, size);
}

/* The count that one section has for the kernel; 0 none. */
static unsigned search(struct span s, const struct names *names,
                       const char *kernel)
{
    struct attribute a;
    while (entry(s, 0, &a, sizeof a)) {
        if (a.format < FORMAT_NONE || a.format > FORMAT_SIZED) return 0;
        size_t value = a.format == FORMAT_SIZED ? a.size : 0;
        struct span v = part(s, sizeof a, value);
        if (value && !v.at) return 0;
        struct regcount r;
        if (a.name == EIATTR_REGCOUNT && entry(v, 0, &r, sizeof r) &&
            r.registers && r.registers <= MOST_REGISTERS &&
            is_called(names, r.symbol, kernel))
            return r.registers;
        s = part(s, sizeof a + value, s.len - sizeof a - value);
    }
    return 0;
}

unsigned cubin_registers(const void *data, size_t len, const char *kernel)
{
    struct cubin c;
    Elf64_Shdr h;
    struct span bytes;
    struct names names;
    unsigned found = 0;
    if (!open_cubin(&c, data, len)) return 0;
    for (uint32_t i = 0; !found && section(&c, i, &h, &bytes); i++)
        if (h.sh_type == SHT_CUDA_INFO && find_names(&c, h.sh_link, &names))
            found = search(bytes, &names, kernel);
    return found;
}
