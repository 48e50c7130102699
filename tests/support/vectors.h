/* vectors.h: reads a file of known answers (tests/vectors/README.md). */
#ifndef LINATTN_TESTS_VECTORS_H
#define LINATTN_TESTS_VECTORS_H

#include <stddef.h>

enum { VECTOR_ITEMS = 32, VECTOR_NAME = 64 };

typedef struct known_answer {
    size_t configs;
    char config_name[VECTOR_ITEMS][VECTOR_NAME], config_value[VECTOR_ITEMS][VECTOR_NAME];
    size_t arrays;
    char array_name[VECTOR_ITEMS][VECTOR_NAME];
    size_t array_count[VECTOR_ITEMS]; /* product of its dimensions */
    double *array[VECTOR_ITEMS];
} known_answer;

/* Returns 0, or -1 after a line on stderr that says what is wrong with the file. */
int known_answer_read(known_answer *answer, const char *path);
void known_answer_release(known_answer *answer);

/* The text of a config line, "" when there is none; its number, 0 when there is none. */
const char *known_answer_config(const known_answer *answer, const char *name);
size_t known_answer_size(const known_answer *answer, const char *name);

/* The values of an array that must hold `count` of them; NULL (and a line on stderr) otherwise. */
const double *known_answer_array(const known_answer *answer, const char *name, size_t count);

#endif
