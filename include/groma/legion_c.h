/* groma/legion.h for what speaks C, such as Regent:
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

/* groma::legion::use_file without options, before the runtime starts. 0, or 1 when the file cannot
 * be used: then its diagnostics are on standard error. */
int groma_legion_use_file(const char* path);

#ifdef __cplusplus
}
#endif
