/* checkpoint.c: saving and loading. Loading checks all of the file before it changes anything of the trainer. */
#include "trainer/checkpoint.h"
#include "common/allocate.h"
#include "common/fail.h"
#include "common/file.h"
#include <string.h>

int linattn_trainer_save(const linattn_trainer *trainer, const char *path) {
    if (!trainer) return linattn__fail_null("trainer");
    if (!path) return linattn__fail_null("path");
    if (trainer->optimizer->steps != trainer->step)
        return linattn__fail(LINATTN_EINVAL, "the optimizer is at step %llu and its trainer at step %llu; allowed: the same",
                             (unsigned long long)trainer->optimizer->steps, (unsigned long long)trainer->step);
    const size_t size = linattn__checkpoint_write(trainer, NULL);
    unsigned char *bytes = linattn__allocate(size, 1);
    if (!bytes) return linattn__fail_memory("the checkpoint");
    linattn__checkpoint_write(trainer, bytes);
    const int status = linattn__file_replace(path, bytes, size);
    linattn__release(bytes);
    return status;
}

/* Makes the checkpoint the trainer's position. Nothing here can fail: all was checked. */
static void adopt(linattn_trainer *trainer, const linattn__checkpoint *checkpoint) {
    linattn_optimizer *optimizer = trainer->optimizer;
    memcpy(trainer->theta, checkpoint->theta, trainer->p * sizeof *trainer->theta);
    memcpy(optimizer->state, checkpoint->state, optimizer->state_count * sizeof *optimizer->state);
    optimizer->steps = checkpoint->step;
    optimizer->skips = checkpoint->skips;
    trainer->step = checkpoint->step;
    trainer->record_count = 0; /* they belong to the path that was left */
}

int linattn_trainer_load(linattn_trainer *trainer, const char *path) {
    if (!trainer) return linattn__fail_null("trainer");
    if (!path) return linattn__fail_null("path");
    if (trainer->running) return linattn__fail(LINATTN_EINVAL, "the trainer is running; its observer cannot load into it");
    const size_t limit = linattn__checkpoint_write(trainer, NULL) + LINATTN__CHECKPOINT_SLACK;
    unsigned char *bytes;
    size_t size;
    int status = linattn__file_read(path, limit, &bytes, &size);
    if (status) return status;

    linattn__checkpoint checkpoint = {
        .theta = linattn__allocate(trainer->p, sizeof(double)),
        .state = linattn__allocate(trainer->optimizer->state_count, sizeof(double)),
    };
    if (checkpoint.theta && checkpoint.state)
        status = linattn__checkpoint_read(trainer, path, bytes, size, &checkpoint);
    else
        status = linattn__fail_memory("the checkpoint");
    if (!status) adopt(trainer, &checkpoint);
    linattn__release(checkpoint.theta);
    linattn__release(checkpoint.state);
    linattn__release(bytes);
    return status;
}
