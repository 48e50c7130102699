#include "support/vectors.h"

#include <linattn/number.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int complain(const char *path, const char *what, const char *which) {
    fprintf(stderr, "%s: %s %s\n", path, what, which);
    return -1;
}

static int read_config(known_answer *a, const char *path, const char *line) {
    if (a->configs == VECTOR_ITEMS) return complain(path, "too many", "config lines");
    if (sscanf(line, "config %63s %63s", a->config_name[a->configs], a->config_value[a->configs]) != 2)
        return complain(path, "cannot read the line", line);
    a->configs++;
    return 0;
}

/* "array NAME DIM ...": what is its name and how many values follow. */
static int read_header(known_answer *a, const char *path, char *line) {
    if (a->arrays == VECTOR_ITEMS) return complain(path, "too many", "arrays");
    char *save = NULL, *word = strtok_r(line, " \n", &save);
    word = strtok_r(NULL, " \n", &save);
    if (!word || strlen(word) >= VECTOR_NAME) return complain(path, "an array without", "name");
    strcpy(a->array_name[a->arrays], word);
    size_t count = 1;
    while ((word = strtok_r(NULL, " \n", &save))) count *= strtoul(word, NULL, 10);
    if (count == 0 || count > 10000000) return complain(path, "no size for", a->array_name[a->arrays]);
    a->array[a->arrays] = calloc(count, sizeof(double));
    a->array_count[a->arrays] = 0;
    a->arrays++;
    return a->array[a->arrays - 1] ? (int)count : -1;
}

static int read_values(known_answer *a, const char *path, size_t wanted, char *line) {
    char *save = NULL;
    const size_t last = a->arrays - 1;
    for (char *word = strtok_r(line, " \n", &save); word; word = strtok_r(NULL, " \n", &save)) {
        if (a->array_count[last] == wanted) return complain(path, "too many values in", a->array_name[last]);
        if (linattn_number_read(word, &a->array[last][a->array_count[last]], NULL) != 0)
            return complain(path, "not a number:", word);
        a->array_count[last]++;
    }
    return 0;
}

int known_answer_read(known_answer *a, const char *path) {
    memset(a, 0, sizeof *a);
    FILE *file = fopen(path, "r");
    if (!file) return complain(path, "cannot be", "opened");
    char *line = NULL;
    size_t room = 0, wanted = 0;
    int bad = 0;
    while (!bad && getline(&line, &room, file) >= 0) {
        const int is_array = strncmp(line, "array ", 6) == 0, is_config = strncmp(line, "config ", 7) == 0;
        if (line[0] == '#') continue;
        if ((is_array || is_config) && a->arrays && a->array_count[a->arrays - 1] != wanted)
            bad = complain(path, "values are missing in", a->array_name[a->arrays - 1]);
        else if (is_config)
            bad = read_config(a, path, line);
        else if (is_array) {
            const int count = read_header(a, path, line);
            bad = count < 0 ? -1 : 0;
            wanted = count < 0 ? 0 : (size_t)count;
        } else if (a->arrays)
            bad = read_values(a, path, wanted, line);
        else if (line[0] != '\n')
            bad = complain(path, "cannot read the line", line);
    }
    if (!bad && (!a->arrays || a->array_count[a->arrays - 1] != wanted)) bad = complain(path, "is", "cut short");
    free(line);
    fclose(file);
    if (bad) known_answer_release(a);
    return bad;
}

void known_answer_release(known_answer *a) {
    for (size_t i = 0; i < a->arrays; i++) free(a->array[i]);
    memset(a, 0, sizeof *a);
}

const char *known_answer_config(const known_answer *a, const char *name) {
    for (size_t i = 0; i < a->configs; i++)
        if (strcmp(a->config_name[i], name) == 0) return a->config_value[i];
    return "";
}

size_t known_answer_size(const known_answer *a, const char *name) { return strtoul(known_answer_config(a, name), NULL, 10); }

const double *known_answer_array(const known_answer *a, const char *name, size_t count) {
    for (size_t i = 0; i < a->arrays; i++)
        if (strcmp(a->array_name[i], name) == 0 && a->array_count[i] == count) return a->array[i];
    fprintf(stderr, "no array %s of %zu values\n", name, count);
    return NULL;
}
