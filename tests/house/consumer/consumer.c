/* Uses tare from C: loads a program and checks it. */
#include <stdio.h>
#include <tare/tare.h>

int main(int argc, char** argv) {
  tare_context* context = tare_context_create();
  tare_program* program = NULL;
  tare_check_counts counts = {0, 0, 0, 0};
  if (argc != 2 || tare_program_load(context, argv[1], &program) != TARE_OK) return TARE_BAD_INPUT;
  const tare_status status = tare_program_check(program, &counts);
  printf("values %lld, equal %lld\n", (long long)counts.values, (long long)counts.equal);
  tare_program_destroy(program);
  tare_context_destroy(context);
  return status;
}
