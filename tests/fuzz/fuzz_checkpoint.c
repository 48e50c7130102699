/* fuzz_checkpoint.c: bytes as a checkpoint. The first byte says of which trainer, and whether sizes and checksums are put right first,
 * so that what lies behind them is reached. A refused file leaves the trainer as it was, bit for bit; an accepted one is what the
 * trainer then is; and the trainer takes a step. */
#include "fuzz.h"
#include "trainer/checkpoint.h"
#include "trainer/crc.h"
#include <linattn/linattn.h>
#include <math.h>

enum { TRAINERS = 2, MOST_P = 16, MOST_STATE = 2 * MOST_P, ROOM = 1 << 14 };

typedef struct position {
    uint64_t step, optimizer_step, skips;
    double theta[MOST_P], state[MOST_STATE];
} position;

typedef struct subject {
    linattn_trainer *trainer;
    position start;
    unsigned char saved[ROOM]; /* its checkpoint at the start */
    size_t size;
} subject;

static memory_file file;

static int bowl(uint64_t draw, const double *theta, double *value, double *gradient, void *user) {
    (void)draw, (void)user;
    gradient[0] = theta[0], gradient[1] = 2 * theta[1];
    *value = (theta[0] * theta[0] + 2 * theta[1] * theta[1]) / 2;
    return 0;
}

static linattn_objective *callback_objective(void) {
    linattn_objective_callbacks callbacks;
    linattn_objective *f;
    FUZZ_ASSERT(linattn_objective_callbacks_init(&callbacks, sizeof callbacks) == 0);
    callbacks.parameter_count = 2;
    callbacks.gradient = bowl;
    FUZZ_ASSERT(linattn_objective_create_callbacks(&f, &callbacks, NULL, NULL) == 0);
    return f;
}

static linattn_objective *transformer_objective(void) {
    linattn_sampler_options data;
    linattn_model_options shape;
    linattn_sampler *sampler;
    linattn_model *model;
    linattn_objective *f;
    FUZZ_ASSERT(linattn_sampler_options_init(&data, sizeof data) == 0 && linattn_model_options_init(&shape, sizeof shape) == 0);
    data.dim = shape.dim = 2;
    data.context = 3;
    shape.layers = 2;
    FUZZ_ASSERT(linattn_sampler_create(&sampler, &data) == 0 && linattn_model_create(&model, &shape) == 0);
    FUZZ_ASSERT(linattn_objective_create_sampled(&f, model, sampler, 8, NULL) == 0);
    linattn_sampler_destroy(sampler);
    linattn_model_destroy(model);
    return f;
}

static position position_of(const linattn_trainer *trainer) {
    position at = {.step = trainer->step};
    FUZZ_ASSERT(linattn_trainer_get_parameters(trainer, at.theta) == 0);
    FUZZ_ASSERT(linattn_optimizer_get_state(trainer->optimizer, at.state, &at.optimizer_step, &at.skips) == 0);
    return at;
}

static void make(subject *s, linattn_objective *f, int32_t rule) {
    linattn_optimizer_options options;
    linattn_optimizer *optimizer;
    double theta[MOST_P];
    const size_t p = linattn_objective_parameter_count(f);
    for (size_t i = 0; i < p; i++) theta[i] = 0.1 * (double)(i + 1);
    FUZZ_ASSERT(p <= MOST_P && linattn_optimizer_options_init(&options, sizeof options) == 0);
    options.rule = rule;
    options.learning_rate = 0.1;
    options.clip = LINATTN_CLIP_GLOBAL_NORM;
    FUZZ_ASSERT(linattn_optimizer_create(&optimizer, &options, NULL, 0, p) == 0);
    FUZZ_ASSERT(linattn_trainer_create(&s->trainer, f, optimizer, theta, NULL) == 0);
    FUZZ_ASSERT(linattn_trainer_run(s->trainer, 3, NULL) == 0);
    linattn_objective_destroy(f);
    linattn_optimizer_destroy(optimizer);
    s->start = position_of(s->trainer);
    s->size = linattn__checkpoint_write(s->trainer, NULL);
    FUZZ_ASSERT(s->size <= ROOM && linattn__checkpoint_write(s->trainer, s->saved) == s->size);
}

static subject *subjects(void) {
    static subject all[TRAINERS];
    if (!all[0].trainer) {
        file = memory_file_open();
        make(&all[0], callback_objective(), LINATTN_RULE_ADAM);
        make(&all[1], transformer_objective(), LINATTN_RULE_SGD);
    }
    return all;
}

static uint64_t integer(const unsigned char *bytes, size_t width) {
    uint64_t value = 0;
    for (size_t i = 0; i < width; i++) value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

static void put(unsigned char *bytes, uint64_t value, size_t width) {
    for (size_t i = 0; i < width; i++) bytes[i] = (unsigned char)(value >> 8 * i);
}

/* Size and checksums as checkpoint.h has them, as far as there is room. */
static void mend(unsigned char *bytes, size_t size) {
    if (size < LINATTN__CHECKPOINT_HEADER + LINATTN__CHECKPOINT_END) return;
    const size_t end = size - LINATTN__CHECKPOINT_END;
    put(bytes + 16, size, 8);
    put(bytes + 24, linattn__crc32(0, bytes, 24), 4);
    for (size_t at = LINATTN__CHECKPOINT_HEADER; at + LINATTN__CHECKPOINT_FRAME <= end;) {
        const uint64_t length = integer(bytes + at + 4, 8);
        if (length > end - at - LINATTN__CHECKPOINT_FRAME) break;
        put(bytes + at + 12 + length, linattn__crc32(0, bytes + at, (size_t)length + 12), 4);
        at += (size_t)length + LINATTN__CHECKPOINT_FRAME;
    }
    memcpy(bytes + end, "END.", 4);
    put(bytes + end + 4, 4, 8);
    put(bytes + end + 12, linattn__crc32(0, bytes, end), 4);
    put(bytes + end + 16, linattn__crc32(0, bytes + end, 16), 4);
}

static void load(subject *s, const unsigned char *bytes, size_t size) {
    unsigned char again[ROOM];
    memory_file_set(&file, bytes, size);
    const int status = linattn_trainer_load(s->trainer, file.path);
    const position now = position_of(s->trainer);
    if (status) {
        FUZZ_ASSERT(status == LINATTN_EFORMAT || status == LINATTN_EVERSION || status == LINATTN_EMISMATCH);
        FUZZ_ASSERT(linattn_last_message()[0] != '\0' && !strpbrk(linattn_last_message(), "\n\r"));
        FUZZ_ASSERT(memcmp(&now, &s->start, sizeof now) == 0);
    } else {
        for (size_t i = 0; i < MOST_P; i++) FUZZ_ASSERT(isfinite(now.theta[i]) && isfinite(now.state[i]));
        const size_t written = linattn__checkpoint_write(s->trainer, again);
        memory_file_set(&file, again, written);
        FUZZ_ASSERT(linattn_trainer_load(s->trainer, file.path) == 0);
        const position loaded = position_of(s->trainer);
        FUZZ_ASSERT(memcmp(&loaded, &now, sizeof now) == 0);
    }
    const int ran = linattn_trainer_run(s->trainer, 1, NULL); /* huge parameters overflow, and that is said */
    FUZZ_ASSERT(ran == LINATTN_OK || (!status && ran != LINATTN_ENOMEM));
    memory_file_set(&file, s->saved, s->size);
    FUZZ_ASSERT(linattn_trainer_load(s->trainer, file.path) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static unsigned char bytes[ROOM];
    if (size < 1 || size > ROOM) return 0;
    memcpy(bytes, data + 1, size - 1);
    if (data[0] & 2) mend(bytes, size - 1);
    load(&subjects()[data[0] & 1], bytes, size - 1);
    return 0;
}
