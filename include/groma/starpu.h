/* Groma as a scheduling policy of StarPU, for a program in C or C++ that links groma::starpu and
 * chooses its policy itself. A program that was built without Groma needs no call: see
 * docs/starpu.md.
 *
 *   struct starpu_conf conf;
 *   starpu_conf_init(&conf);
 *   conf.sched_policy = groma_starpu_policy();
 *   starpu_init(&conf);
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

struct starpu_sched_policy;

/* Returns the policy "groma". It places tasks and data as the mapping in the environment variable
 * GROMA_MAPPING says, or as Groma's default mapper does if there is no such variable. The object
 * belongs to the library and lives as long as the process. If the mapping has errors, starpu_init
 * prints them and ends the process. */
struct starpu_sched_policy* groma_starpu_policy(void);

#ifdef __cplusplus
}
#endif
