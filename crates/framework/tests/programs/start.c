// Prints the milliseconds that loading the library and making the device take: on the clock, and of CPU time.
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

static double milliseconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return 1e3 * now.tv_sec + 1e-6 * now.tv_nsec;
}

int main(int count, char **arguments) {
  if (count < 2) {
    return 2;
  }
  const double wall = milliseconds(CLOCK_MONOTONIC), cpu = milliseconds(CLOCK_PROCESS_CPUTIME_ID);
  void *library = dlopen(arguments[1], RTLD_NOW);
  void *(*create)(void) = library ? (void *(*)(void))dlsym(library, "MTLCreateSystemDefaultDevice") : NULL;
  if (!create || !create()) {
    fprintf(stderr, "%s\n", library ? "no device" : dlerror());
    return 1;
  }
  printf("%.2f %.2f\n", milliseconds(CLOCK_MONOTONIC) - wall, milliseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
  return 0;
}
