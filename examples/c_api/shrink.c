/* shrink IN OUT: removes what does nothing from a program and writes it. */
#include <stdio.h>
#include <tare/tare.h>

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: shrink IN OUT\n");
    return TARE_USAGE;
  }
  tare_context* context = tare_context_create();
  tare_program* program = NULL;
  tare_status status = tare_program_load(context, argv[1], &program);
  if (status == TARE_OK) {
    printf("%lld nodes before\n", (long long)tare_program_num_nodes(program));
    status = tare_program_run_passes(program, "remove-noops,compose-permutes,compose-views,dead-code");
  }
  if (status == TARE_OK) status = tare_program_write(program, argv[2]);
  if (status == TARE_OK) {
    printf("%lld nodes after\n", (long long)tare_program_num_nodes(program));
  } else {
    fprintf(stderr, "shrink: %s\n", tare_error_text(context));
  }
  tare_program_destroy(program);
  tare_context_destroy(context);
  return status;
}
