/* The C interface to groma/legion.h, for languages that call C, such as Regent:
 *
 *   local groma = terralib.includec("groma/legion_c.h")
 *   terralib.linklibrary("libgroma_legion.so")
 *   terra use_mapping() groma.groma_legion_use_file("my.mapper") end
 *   regentlib.start(main, use_mapping)
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Calls groma::legion::use_file without options. Call it before the runtime starts. Returns 0, or 1
 * if the file cannot be used; its diagnostics are then on standard error. */
int groma_legion_use_file(const char* path);

#ifdef __cplusplus
}
#endif
