/* replay.c: runs a target on the files of a corpus: replay <file>... Any compiler will do. */
#include "fuzz.h"

int main(int argc, char **argv) {
    enum { MOST = 1 << 20 };
    uint8_t *bytes = malloc(MOST);
    for (int i = 1; i < argc; i++) {
        FILE *in = fopen(argv[i], "rb");
        FUZZ_ASSERT(bytes && in);
        const size_t size = fread(bytes, 1, MOST, in);
        FUZZ_ASSERT(!ferror(in) && fclose(in) == 0);
        uint8_t *exact = malloc(size + !size); /* so that reading beyond the input is seen by the address sanitizer */
        FUZZ_ASSERT(exact);
        memcpy(exact, bytes, size);
        LLVMFuzzerTestOneInput(exact, size);
        free(exact);
    }
    free(bytes);
    printf("%d inputs\n", argc - 1);
    return argc > 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
