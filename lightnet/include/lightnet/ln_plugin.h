// SPDX-License-Identifier: Apache-2.0
// Plug-ins: operators, rules and architectures from separately built shared objects.
//
// A plug-in is a shared object with one constant descriptor: its contents,
// and the LightNet version it was built for. In its source (docs/plugins.md):
//
//     static const ln_arch none = {.arch_name = "none", .reg_ops = ops_none};
//     static const ln_arch cpu = {.arch_name = "cpu", .reg_ops = ops_cpu};
//     static const ln_arch *const additions[] = {&none, &cpu, NULL};
//     LN_PLUGIN(.name = "squareplus", .additions = additions);
//
// In a program, before it creates its first context:
//
//     if (ln_plugin_load("./squareplus.so"))
//         fprintf(stderr, "%s\n", ln_last_error());
//
// Load plug-ins in one thread, while no context exists: contexts use the
// tables that loading changes. Plug-ins stay loaded until the process ends.

#ifndef LN_PLUGIN_H
#define LN_PLUGIN_H

#include <stdint.h>

#include "lightnet/ln_api.h"
#include "lightnet/ln_arch.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_list.h"
#include "lightnet/ln_op.h"
#include "lightnet/ln_param.h"
#include "lightnet/ln_tensor.h"
#include "tensorlight/tl_exec.h"
#include "tensorlight/tl_tensor.h"

LN_BEGIN_DECLS

/** The ABI number of LightNet and plug-ins, also in the SONAME of its
 * libraries. It increases when a struct, constant or function of a public
 * header changes or is removed; additions keep it (tests/structure/abi.py). */
#define LN_PLUGIN_ABI 35

/** The first word of a descriptor: "LNPI", which other objects lack. */
#define LN_PLUGIN_MAGIC UINT32_C(0x49504e4c)

/** The structs that generated operators and rules access: X(TYPE) for each. */
#define LN_PLUGIN_STRUCTS(X) \
    X(ln_arch)               \
    X(ln_arch_stage)         \
    X(ln_arg_info)           \
    X(ln_context)            \
    X(ln_mem_provider)       \
    X(ln_list)               \
    X(ln_op)                 \
    X(ln_op_arg)             \
    X(ln_op_info)            \
    X(ln_param_entry)        \
    X(ln_tensor_entry)       \
    X(ln_tensor_list_entry)  \
    X(tl_exec)               \
    X(tl_tensor)

#define LN_PLUGIN_ONE(type)  +1
#define LN_PLUGIN_SIZE(type) (uint32_t)sizeof(type),

/** The descriptor of a plug-in: a constant, defined with LN_PLUGIN. */
typedef struct ln_plugin {
    uint32_t magic;                                     // LN_PLUGIN_MAGIC
    uint32_t abi;                                       // LN_PLUGIN_ABI, of the headers it was
                                                        // compiled with, as all below
    uint32_t sizes[0 LN_PLUGIN_STRUCTS(LN_PLUGIN_ONE)]; // of LN_PLUGIN_STRUCTS, in bytes
    const ln_arch_info *library;                        // &LN_ARCH in the plug-in

    const char *name;                // a name for users
    ln_arch *const *archs;           // new architectures; NULL terminated, or NULL
    const ln_arch *const *additions; // operators and rules for existing architectures,
                                     // for ln_arch_extend; NULL terminated, or NULL
    const ln_mem_provider *memory;   // the functions of a memory type, or NULL
} ln_plugin;

/** The name of a plug-in's descriptor, the only symbol that is looked up in it. */
#define LN_PLUGIN_SYMBOL "ln_plugin_descriptor"

/** Defines the descriptor of a plug-in, once in it: LN_PLUGIN(.name = "mine", .archs = archs); */
#define LN_PLUGIN(...)                                  \
    LN_API extern const ln_plugin ln_plugin_descriptor; \
    const ln_plugin ln_plugin_descriptor = {            \
        .magic = LN_PLUGIN_MAGIC,                       \
        .abi = LN_PLUGIN_ABI,                           \
        .sizes = {LN_PLUGIN_STRUCTS(LN_PLUGIN_SIZE)},   \
        .library = &LN_ARCH,                            \
        __VA_ARGS__,                                    \
    }

/** A loaded plug-in. */
typedef struct ln_plugin_loaded {
    const char *file; // its path, absolute
    const ln_plugin *plugin;
    void *handle; // of the dynamic loader
} ln_plugin_loaded;

/** Loads a plug-in; ignores a file that is loaded already. -1 with the thread's
 * last error, which names the file, and nothing registered: a context exists,
 * or another thread loads a plug-in; not a shared object, or truncated; a
 * symbol is missing; another ABI number, or another copy of LightNet; a name is
 * taken; the program is linked with the static libraries. */
LN_API int ln_plugin_load(const char *file);

/** Loads all files *.so of each of the `folders`, separated by ':', sorted by
 * name; empty folder names are ignored. NULL: those of LIGHTNET_PLUGIN_PATH,
 * if set. -1 with the thread's last error, after loading the plug-ins before:
 * a folder cannot be read, or a plug-in not loaded. */
LN_API int ln_plugin_load_path(const char *folders);

/** Loads the plug-in that comes with LightNet for `target`: TARGET.so in the
 * folder `lightnet` beside its library. Does nothing if the target is known,
 * or if no such file exists: it stays unknown. -1 as ln_plugin_load. */
LN_API int ln_plugin_load_target(const char *target);

/** The plug-ins (ln_plugin_loaded *) in the order of loading. Returns borrowed. */
LN_API const ln_list *ln_plugin_list(void);

/** The plug-in that registered the operator type or architecture; NULL: LightNet, or the program
 * itself. Returns borrowed. */
LN_API const ln_plugin_loaded *ln_plugin_of_op(const ln_op *proto);
LN_API const ln_plugin_loaded *ln_plugin_of_arch(const ln_arch *arch);

LN_END_DECLS

#endif
