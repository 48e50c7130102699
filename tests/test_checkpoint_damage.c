/* test_checkpoint_damage.c: files that are no checkpoint, not this trainer's, or not of this version; saves that are interrupted.
 */
#include "support/problem.h"
#include "trainer/checkpoint.h"
#include "trainer/crc.h"
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { P = 2, PATH = 512, ROOM = 1 << 14 };

static char folder[PATH / 2], path[PATH];
static problem shared_problem;

static void make_folder(void) {
    snprintf(folder, sizeof folder, "/tmp/linattn_damage_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/checkpoint", folder);
}

/* With whatever temporary files a killed process has left. */
static void remove_folder(void) {
    DIR *entries = opendir(folder);
    ck_assert_ptr_nonnull(entries);
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        char name[2 * PATH];
        snprintf(name, sizeof name, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.' || entry->d_name[1] > '.') remove(name);
    }
    closedir(entries);
    ck_assert_int_eq(rmdir(folder), 0);
}

static linattn_optimizer_options usual_options(void) {
    linattn_optimizer_options options;
    ck_assert_ok(linattn_optimizer_options_init(&options, sizeof options));
    options.rule = LINATTN_RULE_ADAM;
    options.learning_rate = 0.25;
    options.clip = LINATTN_CLIP_GLOBAL_NORM;
    return options;
}

static linattn_trainer *trainer_of(const linattn_optimizer_options *options, size_t p) {
    shared_problem = problem_of(p);
    const double start[P + 1] = {1, -1, 2};
    linattn_objective *objective = problem_objective(&shared_problem);
    linattn_optimizer *optimizer;
    linattn_trainer *trainer;
    ck_assert_ok(linattn_optimizer_create(&optimizer, options, NULL, 0, p));
    ck_assert_ok(linattn_trainer_create(&trainer, objective, optimizer, start, NULL));
    linattn_objective_destroy(objective);
    linattn_optimizer_destroy(optimizer);
    return trainer;
}

static linattn_trainer *usual_trainer(uint64_t steps) {
    const linattn_optimizer_options options = usual_options();
    linattn_trainer *trainer = trainer_of(&options, P);
    ck_assert_ok(linattn_trainer_run(trainer, steps, NULL));
    return trainer;
}

static void write_file(const unsigned char *bytes, size_t size) {
    remove(path); /* some file systems sync a file that is truncated and written again */
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

static size_t read_file(unsigned char *bytes) {
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    const size_t size = fread(bytes, 1, ROOM, file);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert(size > 0 && size < ROOM);
    return size;
}

/* The bytes of a checkpoint after `steps` steps. */
static size_t checkpoint(uint64_t steps, unsigned char *bytes) {
    linattn_trainer *trainer = usual_trainer(steps);
    ck_assert_ok(linattn_trainer_save(trainer, path));
    linattn_trainer_destroy(trainer);
    return read_file(bytes);
}

/* Everything of a trainer that a checkpoint could change. */
typedef struct position {
    uint64_t step, skips, optimizer_step;
    double theta[P + 1], state[2 * P + 2];
    size_t records;
} position;

static position position_of(const linattn_trainer *trainer) {
    position at = {.step = trainer->step, .records = trainer->record_count};
    ck_assert_ok(linattn_trainer_get_parameters(trainer, at.theta));
    ck_assert_ok(linattn_optimizer_get_state(trainer->optimizer, at.state, &at.optimizer_step, &at.skips));
    return at;
}

/* Loading the file fails as it should and leaves the trainer alone. */
static void assert_refused(linattn_trainer *trainer, int status, const char *message) {
    const position before = position_of(trainer);
    ck_assert_status(linattn_trainer_load(trainer, path), status, message);
    const position after = position_of(trainer);
    ck_assert_mem_eq(&before, &after, sizeof before);
}

START_TEST(crc32_check_value) {
    const unsigned char text[] = "123456789";
    ck_assert_uint_eq(linattn__crc32(0, text, 9), 0xcbf43926);
    ck_assert_uint_eq(linattn__crc32(linattn__crc32(0, text, 4), text + 4, 5), 0xcbf43926);
    ck_assert_uint_eq(linattn__crc32(0, text, 0), 0);
}
END_TEST

START_TEST(case_R7_truncated_at_every_byte) {
    make_folder();
    unsigned char bytes[ROOM];
    const size_t size = checkpoint(5, bytes);
    linattn_trainer *trainer = usual_trainer(3);
    for (size_t length = 0; length < size; length++) {
        write_file(bytes, length);
        assert_refused(trainer, LINATTN_EFORMAT, "");
    }
    memcpy(bytes + size, bytes, 1);
    write_file(bytes, size + 1); /* longer by a byte */
    assert_refused(trainer, LINATTN_EFORMAT, "truncated or damaged");
    write_file(bytes, size);
    ck_assert_ok(linattn_trainer_load(trainer, path));
    linattn_trainer_destroy(trainer);
    remove_folder();
}
END_TEST

START_TEST(case_R7_every_bit_flipped) {
    make_folder();
    unsigned char bytes[ROOM];
    const size_t size = checkpoint(5, bytes);
    linattn_trainer *trainer = usual_trainer(3);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        write_file(bytes, size);
        assert_refused(trainer, LINATTN_EFORMAT, path);
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    linattn_trainer_destroy(trainer);
    remove_folder();
}
END_TEST

/* A second writer of checksums, so that a file can be changed and still be sound: CRC-32 bit by bit, and sections found anew. */
static uint32_t slow_crc(const unsigned char *bytes, size_t size) {
    uint32_t crc = 0xffffffff;
    for (size_t bit = 0; bit < 8 * size; bit++) {
        const uint32_t out = (crc ^ (uint32_t)(bytes[bit / 8] >> bit % 8)) & 1;
        crc = crc >> 1 ^ (out ? 0xedb88320 : 0);
    }
    return ~crc;
}

static void set(unsigned char *at, uint64_t value, int width) {
    for (int i = 0; i < width; i++, value /= 256) at[i] = (unsigned char)(value % 256);
}

static uint64_t get(const unsigned char *at, int width) {
    uint64_t value = 0;
    for (int i = width; i-- > 0;) value = 256 * value + at[i];
    return value;
}

static void seal(unsigned char *bytes, size_t size) {
    uint32_t sections = 0;
    for (size_t at = 28; at + 16 <= size && get(bytes + at + 4, 8) <= size - at - 16; sections++) at += 16 + get(bytes + at + 4, 8);
    set(bytes + 12, sections, 4);
    set(bytes + 16, size, 8);
    set(bytes + 24, slow_crc(bytes, 24), 4);
    for (size_t at = 28; sections-- > 0;) {
        const size_t length = get(bytes + at + 4, 8) + 12;
        if (memcmp(bytes + at, "END.", 4) == 0) set(bytes + at + 12, slow_crc(bytes, at), 4);
        set(bytes + at + length, slow_crc(bytes + at, length), 4);
        at += length + 4;
    }
}

static unsigned char *section(unsigned char *bytes, const char *tag) {
    unsigned char *at = bytes + 28;
    while (memcmp(at, tag, 4) != 0) at += 16 + get(at + 4, 8);
    return at;
}

/* Puts a section in front of the first one. */
static size_t insert(unsigned char *bytes, size_t size, const char *tag, const void *payload, size_t length) {
    memmove(bytes + 28 + 16 + length, bytes + 28, size - 28);
    memcpy(bytes + 28, tag, 4);
    set(bytes + 32, length, 8);
    memcpy(bytes + 40, payload, length);
    return size + 16 + length;
}

static void refuse_sealed(linattn_trainer *trainer, unsigned char *bytes, size_t size, int status, const char *message) {
    seal(bytes, size);
    write_file(bytes, size);
    assert_refused(trainer, status, message);
}

/* Files with right checksums and wrong content. */
START_TEST(sound_files_with_wrong_content) {
    make_folder();
    unsigned char good[ROOM], bytes[ROOM];
    const size_t size = checkpoint(5, good);
    linattn_trainer *trainer = usual_trainer(3);
#define AGAIN memcpy(bytes, good, sizeof bytes)
    AGAIN, seal(bytes, size);
    ck_assert_mem_eq(bytes, good, size); /* the second writer agrees with the library's */

    AGAIN, set(bytes + 8, 2, 4);
    refuse_sealed(trainer, bytes, size, LINATTN_EVERSION, "version 2; this library knows version 1");
    AGAIN;
    refuse_sealed(trainer, bytes, insert(bytes, size, "HESS", "12345", 5), LINATTN_EVERSION, "section HESS");
    AGAIN;
    refuse_sealed(trainer, bytes, insert(bytes, size, "PARA", "12345", 5), LINATTN_EFORMAT, "PARA is there twice");
    AGAIN, memcpy(section(bytes, "TRAI"), "trai", 4);
    refuse_sealed(trainer, bytes, size, LINATTN_EFORMAT, "TRAI is missing");
    AGAIN, set(section(bytes, "PARA") + 12 + 8, linattn__real_bits(NAN), 8);
    refuse_sealed(trainer, bytes, size, LINATTN_EFORMAT, "section PARA");
    AGAIN, set(section(bytes, "TRAI") + 12, 6, 8); /* the optimizer says 5 */
    refuse_sealed(trainer, bytes, size, LINATTN_EFORMAT, "section OPTI");
    AGAIN, set(section(bytes, "TRAI") + 12 + 8, P + 1, 8);
    refuse_sealed(trainer, bytes, size, LINATTN_EFORMAT, "section TRAI");
    AGAIN, set(section(bytes, "OPTI") + 12 + 2 + 4 + 8, 6, 8); /* skips > steps */
    refuse_sealed(trainer, bytes, size, LINATTN_EFORMAT, "section OPTI");
    AGAIN, set(section(bytes, "OPTI") + 12, 60000, 2); /* length of the rule's name */
    refuse_sealed(trainer, bytes, size, LINATTN_EFORMAT, "section OPTI");
    AGAIN, memcpy(section(bytes, "OPTI") + 12 + 2, "Adam", 4);
    refuse_sealed(trainer, bytes, size, LINATTN_EMISMATCH, "rule is \"Adam\"");
    AGAIN, set(section(bytes, "FING") + 12, UINT32_MAX, 4); /* number of fields */
    refuse_sealed(trainer, bytes, size, LINATTN_EMISMATCH, "which this trainer has not");
    AGAIN, set(section(bytes, "FING") + 12, 2, 4);
    refuse_sealed(trainer, bytes, size, LINATTN_EMISMATCH, "which this trainer has");
    AGAIN, set(section(bytes, "FING") + 16, 60000, 2); /* length of a name */
    refuse_sealed(trainer, bytes, size, LINATTN_EFORMAT, "section FING");
    AGAIN, section(bytes, "FING")[16 + 2] = '\0';
    refuse_sealed(trainer, bytes, size, LINATTN_EFORMAT, "section FING");
    AGAIN, memcpy(section(bytes, "FING") + 16 + 2, "new", 3);
    refuse_sealed(trainer, bytes, size, LINATTN_EMISMATCH, "where this trainer has");

    /* a section that may be skipped */
    AGAIN;
    const size_t longer = insert(bytes, size, "note", "12345", 5);
    seal(bytes, longer);
    write_file(bytes, longer);
    ck_assert_ok(linattn_trainer_load(trainer, path));
    ck_assert_uint_eq(linattn_trainer_step_count(trainer), 5);
    linattn_trainer_destroy(trainer);
    remove_folder();
}
END_TEST

/* Up to eight bytes of a file changed at random and its checksums put right: whatever is read is finite, and nothing is read that
 * is not there. */
START_TEST(random_changes_of_sound_files) {
    make_folder();
    unsigned char good[ROOM];
    const size_t size = checkpoint(5, good);
    linattn_trainer *trainer = usual_trainer(3);
    const position before = position_of(trainer);
    uint32_t random = 1;
    int accepted = 0, refused = 0;
    for (int round = 0; round < 2000; round++) {
        unsigned char *bytes = malloc(size); /* exactly, so that a reader beyond the end is caught */
        ck_assert_ptr_nonnull(bytes);
        memcpy(bytes, good, size);
        for (int i = 0; i <= round % 8; i++) {
            random = random * 1664525 + 1013904223;
            bytes[28 + (random >> 8) % (size - 28)] = (unsigned char)(random >> 3 & (random & 1 ? 0xff : 0x03));
        }
        seal(bytes, size);
        double theta[P], state[2 * P];
        linattn__checkpoint into = {.theta = theta, .state = state};
        const int status = linattn__checkpoint_read(trainer, "file", bytes, size, &into);
        free(bytes);
        ck_assert(status == LINATTN_OK || status == LINATTN_EFORMAT || status == LINATTN_EVERSION || status == LINATTN_EMISMATCH);
        if (status == LINATTN_OK) {
            for (int i = 0; i < P; i++) ck_assert(isfinite(theta[i]) && isfinite(state[i]) && isfinite(state[P + i]));
            ck_assert_uint_le(into.skips, into.step);
            accepted++;
        } else {
            refused++;
        }
    }
    ck_assert(accepted > 0 && refused > 0);
    const position after = position_of(trainer);
    ck_assert_mem_eq(&before, &after, sizeof before);
    linattn_trainer_destroy(trainer);
    remove_folder();
}
END_TEST

/* One option differs at a time; the message names it, with both values. */
START_TEST(mismatch_names_the_option) {
    make_folder();
    unsigned char bytes[ROOM];
    checkpoint(5, bytes);
    linattn_optimizer_options options;
    linattn_trainer *trainer;
#define DIFFERENT(field, other, parameters, ...)                                                                                   \
    do {                                                                                                                           \
        static const char *const TEXTS[] = {__VA_ARGS__};                                                                          \
        options = usual_options();                                                                                                 \
        options.field = other;                                                                                                     \
        trainer = trainer_of(&options, parameters);                                                                                \
        for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) assert_refused(trainer, LINATTN_EMISMATCH, TEXTS[i]);          \
        linattn_trainer_destroy(trainer);                                                                                          \
    } while (0)
    DIFFERENT(learning_rate, 0.5, P, "optimizer.learning_rate is 0.25 in", "and 0.5 here");
    DIFFERENT(rule, LINATTN_RULE_ADAMW, P, "optimizer.rule is 1 in", "and 2 here");
    DIFFERENT(beta2, 0.5, P, "optimizer.beta2 is 0.999 in", "and 0.5 here");
    DIFFERENT(clip_threshold, 2, P, "optimizer.clip_threshold is 1 in", "and 2 here");
    DIFFERENT(clip, LINATTN_CLIP_NONE, P, "optimizer.clip is 1 in", "and 0 here");
    DIFFERENT(nonfinite, LINATTN_NONFINITE_SKIP, P, "optimizer.nonfinite is 0 in");
    DIFFERENT(warmup_steps, 9, P, "optimizer.warmup_steps is 0 in", "and 9 here");
    DIFFERENT(rule, LINATTN_RULE_ADAM, P + 1, "objective.parameters is 2 in", "and 3 here");
    /* an option that Adam does not read is no difference */
    options = usual_options();
    options.momentum = 0.5;
    trainer = trainer_of(&options, P);
    ck_assert_ok(linattn_trainer_load(trainer, path));
    linattn_trainer_destroy(trainer);
    remove_folder();
}
END_TEST

START_TEST(case_R7_not_a_file_of_ours) {
    make_folder();
    linattn_trainer *trainer = usual_trainer(3);
    assert_refused(trainer, LINATTN_EIO, "checkpoint"); /* not there */
    unsigned char junk[ROOM];
    for (size_t i = 0; i < sizeof junk; i++) junk[i] = (unsigned char)(i * i * 2654435761u >> 7);
    write_file(junk, sizeof junk);
    assert_refused(trainer, LINATTN_EFORMAT, "is not a checkpoint");
    ck_assert_status(linattn_trainer_load(trainer, "/dev/null"), LINATTN_EFORMAT, "/dev/null");
    ck_assert_status(linattn_trainer_load(trainer, "/dev/zero"), LINATTN_EFORMAT, "/dev/zero");
    const int status = linattn_trainer_load(trainer, folder);
    ck_assert(status == LINATTN_EFORMAT || status == LINATTN_EIO);
    ck_assert_status(linattn_trainer_load(trainer, ""), LINATTN_EIO, "");
    ck_assert_status(linattn_trainer_load(trainer, NULL), LINATTN_EINVAL, "path is NULL");
    ck_assert_status(linattn_trainer_load(NULL, path), LINATTN_EINVAL, "trainer is NULL");
    ck_assert_status(linattn_trainer_save(trainer, NULL), LINATTN_EINVAL, "path is NULL");
    ck_assert_status(linattn_trainer_save(NULL, path), LINATTN_EINVAL, "trainer is NULL");
    ck_assert_status(linattn_trainer_save(trainer, "/nowhere/at/all"), LINATTN_EIO, "/nowhere/at/all");
    linattn_trainer_destroy(trainer);
    remove_folder();
}
END_TEST

/* A disk that is full after 100 bytes, by the limit on file sizes of a child. */
START_TEST(case_R7_full_disk) {
    make_folder();
    unsigned char before[ROOM], after[ROOM];
    const size_t size = checkpoint(5, before);
    ck_assert_uint_gt(size, 100);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        linattn_trainer *trainer = usual_trainer(9);
        const struct rlimit limit = {100, 100};
        signal(SIGXFSZ, SIG_IGN);
        const int limited = setrlimit(RLIMIT_FSIZE, &limit) == 0;
        const int status = linattn_trainer_save(trainer, path);
        const int goes_on = linattn_trainer_run(trainer, 1, NULL) == LINATTN_OK && linattn_trainer_step_count(trainer) == 10;
        _exit(limited && status == LINATTN_EIO && goes_on ? 0 : 1);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert_uint_eq(read_file(after), size);
    ck_assert_mem_eq(before, after, size);
    remove(path);
    ck_assert_int_eq(rmdir(folder), 0); /* no temporary file is left */
}
END_TEST

/* Killed at any moment of a loop that saves steps 1, 2, 3, ...: the file always loads, and holds one of them whole. */
START_TEST(case_R7_killed_while_saving) {
    make_folder();
    for (int round = 0; round < 15; round++) {
        linattn_trainer *trainer = usual_trainer(1);
        ck_assert_ok(linattn_trainer_save(trainer, path));
        const pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
            for (;;)
                if (linattn_trainer_run(trainer, 1, NULL) || linattn_trainer_save(trainer, path)) _exit(1);
        }
        const struct timespec pause = {0, 1000000 + round * 700000};
        nanosleep(&pause, NULL);
        kill(child, SIGKILL);
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFSIGNALED(status));
        ck_assert_ok(linattn_trainer_load(trainer, path));
        linattn_trainer *same = usual_trainer(linattn_trainer_step_count(trainer));
        double theta[P], wanted[P];
        ck_assert_ok(linattn_trainer_get_parameters(trainer, theta));
        ck_assert_ok(linattn_trainer_get_parameters(same, wanted));
        ck_assert_mem_eq(theta, wanted, sizeof theta);
        linattn_trainer_destroy(same);
        linattn_trainer_destroy(trainer);
    }
    remove_folder();
}
END_TEST

static Suite *checkpoint_damage_suite(void) {
    Suite *suite = suite_create("checkpoint_damage");
    TCase *tc = tcase_create("files");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, crc32_check_value);
    tcase_add_test(tc, case_R7_truncated_at_every_byte);
    tcase_add_test(tc, case_R7_every_bit_flipped);
    tcase_add_test(tc, sound_files_with_wrong_content);
    tcase_add_test(tc, random_changes_of_sound_files);
    tcase_add_test(tc, mismatch_names_the_option);
    tcase_add_test(tc, case_R7_not_a_file_of_ours);
    tcase_add_test(tc, case_R7_full_disk);
    tcase_add_test(tc, case_R7_killed_while_saving);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(checkpoint_damage_suite)
