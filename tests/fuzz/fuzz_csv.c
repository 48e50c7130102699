/* fuzz_csv.c: a text as a CSV table (examples/common/table.h). What is accepted is finite, and reads the same when written again. */
#include "../../examples/common/complain.h"
#include "../../examples/common/table.h"
#include "fuzz.h"
#include <linattn/number.h>
#include <math.h>

int complain(int status, const char *format, ...) { return (void)format, status; }

static void write_table(const table *t, const char *path) {
    char number[LINATTN_NUMBER_SIZE];
    FILE *out = fopen(path, "w");
    FUZZ_ASSERT(out);
    for (size_t j = 0; j < t->columns; j++) {
        fputs(j > 0 ? ",\"" : "\"", out);
        for (const char *c = t->names[j]; *c; c++) fputs(*c == '"' ? "\"\"" : (char[]){*c, '\0'}, out);
        fputc('"', out);
    }
    for (size_t i = 0; i < t->rows * t->columns; i++) {
        FUZZ_ASSERT(isfinite(t->cells[i]) && linattn_number_write(t->cells[i], number) == 0);
        fprintf(out, "%s%s", i % t->columns == 0 ? "\n" : ",", number);
    }
    FUZZ_ASSERT(fclose(out) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static memory_file file = {-1, ""}, other;
    table t, again;
    if (file.descriptor < 0) file = memory_file_open(), other = memory_file_open();
    memory_file_set(&file, data, size);
    if (table_read(&t, file.path)) {
        FUZZ_ASSERT(t.rows == 0 && t.columns == 0 && !t.names && !t.cells);
        return 0;
    }
    FUZZ_ASSERT(t.rows > 0 && t.columns > 0 && t.rows * t.columns <= size);
    write_table(&t, other.path);
    FUZZ_ASSERT(table_read(&again, other.path) == 0 && again.rows == t.rows && again.columns == t.columns);
    FUZZ_ASSERT(memcmp(again.cells, t.cells, t.rows * t.columns * sizeof *t.cells) == 0);
    for (size_t j = 0; j < t.columns; j++) FUZZ_ASSERT(strcmp(t.names[j], again.names[j]) == 0);
    table_forget(&t);
    table_forget(&again);
    return 0;
}
