/* fuzz_results.c: a text as a file of runs (examples/common/results.h). The first byte says whether its lines are given the right
 * checksum and the file the right header first. What is accepted can be written again and is then read as the same runs. */
#include "../../examples/common/complain.h"
#include "../../examples/common/results.h"
#include "fuzz.h"
#include <inttypes.h>
#include <math.h>

static const char SWEEP[] = "# recipe depth2\n# batch 1000\n";

int complain(int status, const char *format, ...) { return (void)format, status; }

/* A line's checksum is of what stands before its last comma. Returns the size of `out`. */
static size_t mend(const char *text, size_t size, char *out) {
    size_t made = 0;
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at), *comma = NULL;
        const size_t length = end ? (size_t)(end - (text + at)) : size - at;
        for (size_t i = 0; i < length; i++)
            if (text[at + i] == ',') comma = text + at + i;
        const size_t kept = comma ? (size_t)(comma - (text + at)) : length;
        memcpy(out + made, text + at, kept);
        made += kept;
        if (comma) made += (size_t)sprintf(out + made, ",%08" PRIx32, results_checksum(0, text + at, kept));
        if (end) out[made++] = '\n';
        at += length + 1;
    }
    out[made] = '\0';
    return made;
}

static int same(const result *a, const result *b) {
    return strcmp(a->recipe, b->recipe) == 0 && strcmp(a->optimizer, b->optimizer) == 0 && a->learning_rate == b->learning_rate &&
           a->seed == b->seed && a->steps == b->steps && a->diverged == b->diverged && a->diverged_at == b->diverged_at &&
           a->final_loss == b->final_loss && a->final_median == b->final_median && a->seconds == b->seconds;
}

/* Writes the runs to a new file and reads it back. */
static void write_again(const results *read) {
    memory_file file = memory_file_open();
    results again;
    FUZZ_ASSERT(results_open(&again, file.path, SWEEP) == 0);
    for (size_t i = 0; i < read->count; i++) FUZZ_ASSERT(results_add(&again, &read->runs[i]) == 0);
    results_close(&again);
    FUZZ_ASSERT(results_open(&again, file.path, SWEEP) == 0 && again.count == read->count);
    for (size_t i = 0; i < read->count; i++) FUZZ_ASSERT(same(&again.runs[i], &read->runs[i]));
    results_close(&again);
    close(file.descriptor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { MOST = 1 << 13 };
    static char text[RESULTS_HEADER + 10 * MOST + 1], header[RESULTS_HEADER];
    if (size < 1 || size > MOST) return 0;
    const size_t begun = results_header(header, SWEEP);
    size_t length = 0;
    if (data[0] & 1) {
        memcpy(text, header, begun);
        length = begun + mend((const char *)data + 1, size - 1, text + begun);
    } else {
        length = size - 1;
        memcpy(text, data + 1, length);
        text[length] = '\0';
    }
    results file = {.path = "fuzz", .descriptor = -1};
    const int status = results_read(&file, text, length, header);
    size_t lines = 0;
    for (size_t i = 0; i < length; i++) lines += text[i] == '\n';
    FUZZ_ASSERT(status == 0 || status == EXIT_FAILED);
    FUZZ_ASSERT(file.count <= lines);
    for (size_t i = 0; i < file.count; i++) {
        const result *run = &file.runs[i];
        FUZZ_ASSERT(results_find(&file, run) == run); /* none is there twice */
        FUZZ_ASSERT(isfinite(run->learning_rate) && isfinite(run->final_loss) && isfinite(run->seconds));
    }
    if (status == 0 && file.count > 0) write_again(&file);
    free(file.runs);
    return 0;
}
