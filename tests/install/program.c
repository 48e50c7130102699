/* program.c: a user's C program, built against the installed library. Prints the version and the size of a batch. */
#include <linattn/linattn.h>
#include <stdio.h>
#include <string.h>

/* The header's and the library's version agree, and a failed call leaves its message. */
int main(void) {
    if (linattn_version_number() != LINATTN_VERSION_NUMBER) return 1;
    linattn_sampler *sampler = NULL;
    if (linattn_sampler_create(&sampler, NULL) == LINATTN_OK || strlen(linattn_last_message()) == 0) return 2;

    linattn_sampler_options options;
    if (linattn_sampler_options_init(&options, sizeof options) != LINATTN_OK) return 3;
    options.dim = 2;
    options.context = 3;
    if (linattn_sampler_create(&sampler, &options) != LINATTN_OK) return 4;
    linattn_batch *batch = NULL;
    if (linattn_batch_create_from_sampler(&batch, sampler, 5, 0) != LINATTN_OK) return 5;
    linattn_sampler_destroy(sampler);
    printf("%s %zu\n", linattn_version_string(), linattn_batch_prompts(batch));
    linattn_batch_destroy(batch);
    return 0;
}
