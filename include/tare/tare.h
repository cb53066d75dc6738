/* The C interface of tare: load a program, check it, run passes, write it.
 *
 *   tare_context* context = tare_context_create();
 *   tare_program* program = NULL;
 *   if (tare_program_load(context, "model.pt2", &program) != TARE_OK ||
 *       tare_program_run_passes(program, "remove-noops,dead-code") != TARE_OK ||
 *       tare_program_write(program, "smaller.pt2") != TARE_OK) {
 *     fprintf(stderr, "%s\n", tare_error_text(context));
 *   }
 *   tare_program_destroy(program);
 *   tare_context_destroy(context);
 *
 * There is no global state. A context may be shared by threads, a program is used by one thread at
 * a time, and a context outlives its programs. The error text belongs to the calling thread's last
 * failed call with this context. Strings are UTF-8; those returned are valid as stated.
 */
#ifndef TARE_TARE_H_
#define TARE_TARE_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TARE_API __attribute__((visibility("default")))
#else
#define TARE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when something is added; a function never changes its meaning. */
#define TARE_API_VERSION 1

typedef struct tare_context tare_context;
typedef struct tare_program tare_program;

/* The values are the exit codes of the command. */
typedef enum tare_status {
  TARE_OK = 0,
  TARE_NO = 1,          /* the answer is no: values differ, or a pass needs something first */
  TARE_USAGE = 2,       /* a name or an argument is wrong */
  TARE_BAD_INPUT = 3,   /* a file cannot be read, written or believed */
  TARE_UNSUPPORTED = 4, /* correct, but not something tare can do yet */
  TARE_BUG = 70         /* ours */
} tare_status;

/* What tare_program_check counts; see `tare check`. */
typedef struct tare_check_counts {
  int64_t values, equal, different, declared;
} tare_check_counts;

TARE_API int tare_api_version(void);
TARE_API const char* tare_version(void); /* "0.1.0" */

TARE_API tare_context* tare_context_create(void); /* NULL when memory runs out */
TARE_API void tare_context_destroy(tare_context* context);

/* Adds the rows of a file of ops (docs/rules.md). Not while other threads use the context. */
TARE_API tare_status tare_context_add_ops(tare_context* context, const char* path);

/* Why the calling thread's last failed call with `context` failed, "" when none did. Valid until
 * the thread's next call with the context. */
TARE_API const char* tare_error_text(const tare_context* context);

/* Reads a .pt2 archive, a .tosa file or the text form. `*program` is set only on TARE_OK. */
TARE_API tare_status tare_program_load(tare_context* context, const char* path, tare_program** program);
TARE_API void tare_program_destroy(tare_program* program); /* NULL is fine */

/* Nodes of all graphs. */
TARE_API int64_t tare_program_num_nodes(const tare_program* program);

/* The program as text. The caller frees it with tare_free. */
TARE_API char* tare_program_text(const tare_program* program);
TARE_API void tare_free(char* text);

/* Re-infers every value. TARE_NO when one differs, TARE_BAD_INPUT when a call is refused; `counts` may
 * be NULL. */
TARE_API tare_status tare_program_check(tare_program* program, tare_check_counts* counts);

/* Runs passes, names separated by commas, in order. On failure the program is what the last pass
 * that succeeded left. */
TARE_API tare_status tare_program_run_passes(tare_program* program, const char* passes);
/* Runs a pipeline given as a file (pipelines/NAME.toml). */
TARE_API tare_status tare_program_run_pipeline(tare_program* program, const char* path);

/* Writes by the ending: .pt2, .tosa or .tare. No file is left behind by a failure. */
TARE_API tare_status tare_program_write(const tare_program* program, const char* path);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TARE_TARE_H_ */
