/* checkpoint_read.c: bytes that claim to be a checkpoint. Nothing in them is believed before it is checked; nothing of the trainer
 * changes here. */
#include "common/fail.h"
#include "trainer/checkpoint.h"
#include "trainer/crc.h"
#include <linattn/number.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Bytes that are left to be read. Reading beyond them gives zeros and sets `short_of`. */
typedef struct reader {
    const unsigned char *at;
    size_t left;
    int short_of;
} reader;

static const unsigned char *take(reader *r, size_t size) {
    if (size > r->left) {
        r->short_of = 1;
        r->left = 0;
        return NULL;
    }
    const unsigned char *at = r->at;
    r->at += size;
    r->left -= size;
    return at;
}

static uint64_t take_integer(reader *r, size_t width) {
    const unsigned char *bytes = take(r, width);
    uint64_t value = 0;
    for (size_t i = 0; bytes && i < width; i++) value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

/* A text of fewer than `size` characters, NUL included, none of them NUL. */
static void take_text(reader *r, char *text, size_t size) {
    const size_t length = (size_t)take_integer(r, 2);
    text[0] = '\0';
    if (length >= size) r->short_of = 1;
    const unsigned char *bytes = length < size ? take(r, length) : NULL;
    if (!bytes) return;
    memcpy(text, bytes, length);
    text[length] = '\0';
    if (strlen(text) != length) r->short_of = 1;
}

static int fail_damaged(const char *path, const char *what) {
    return linattn__fail(LINATTN_EFORMAT, "%s is truncated or damaged: %s", path, what);
}

/* The whole of a section's payload has been read, and no more. */
static int check_read(const reader *r, const char *path, const char *section) {
    return r->short_of || r->left != 0 ? fail_damaged(path, section) : LINATTN_OK;
}

enum { FINGERPRINT, TRAINER, PARAMETERS, OPTIMIZER, END, SECTIONS };
static const char TAGS[SECTIONS][5] = {"FING", "TRAI", "PARA", "OPTI", "END."};

/* What stands outside of the sections, and the checksum of everything: after this the file is as it was written. */
static int check_file(const char *path, const unsigned char *bytes, size_t size, uint32_t *sections) {
    reader r = {bytes, size, 0};
    const unsigned char *magic = take(&r, LINATTN__CHECKPOINT_MAGIC);
    if (!magic || memcmp(magic, linattn__checkpoint_magic, LINATTN__CHECKPOINT_MAGIC) != 0)
        return linattn__fail(LINATTN_EFORMAT, "%s is not a checkpoint", path);
    const uint64_t version = take_integer(&r, 4);
    *sections = (uint32_t)take_integer(&r, 4);
    const uint64_t length = take_integer(&r, 8);
    const uint64_t crc = take_integer(&r, 4);
    if (r.short_of || crc != linattn__crc32(0, bytes, LINATTN__CHECKPOINT_HEADER - 4)) return fail_damaged(path, "its header");
    if (version != LINATTN__CHECKPOINT_VERSION)
        return linattn__fail(LINATTN_EVERSION, "%s is a checkpoint of version %llu; this library knows version %d", path,
                             (unsigned long long)version, LINATTN__CHECKPOINT_VERSION);
    if (length != size)
        return linattn__fail(LINATTN_EFORMAT, "%s is truncated or damaged: it has %zu bytes and was written with %llu", path, size,
                             (unsigned long long)length);
    if (r.left < LINATTN__CHECKPOINT_END) return fail_damaged(path, "it has no end");
    const size_t body = size - LINATTN__CHECKPOINT_END;
    reader end = {bytes + body, LINATTN__CHECKPOINT_END, 0};
    const int is_end = memcmp(take(&end, 4), TAGS[END], 4) == 0 && take_integer(&end, 8) == 4;
    if (!is_end || take_integer(&end, 4) != linattn__crc32(0, bytes, body)) return fail_damaged(path, "its checksum differs");
    return LINATTN_OK;
}

static int fail_section(const char *path, const unsigned char *tag, const char *what) {
    return linattn__fail(LINATTN_EFORMAT, "%s is truncated or damaged: section %.4s %s", path, (const char *)tag, what);
}

/* Finds the payload of every section. */
static int find_sections(const char *path, const unsigned char *bytes, size_t size, uint32_t sections, reader found[SECTIONS]) {
    reader r = {bytes + LINATTN__CHECKPOINT_HEADER, size - LINATTN__CHECKPOINT_HEADER, 0};
    memset(found, 0, SECTIONS * sizeof *found);
    for (uint32_t i = 0; i < sections; i++) {
        const unsigned char *tag = take(&r, 4);
        const uint64_t length = take_integer(&r, 8);
        const unsigned char *payload = length <= r.left ? take(&r, (size_t)length) : NULL;
        const uint64_t crc = take_integer(&r, 4);
        if (!tag || !payload || r.short_of) return fail_damaged(path, "a section ends behind the file");
        if (crc != linattn__crc32(0, tag, (size_t)length + 12)) return fail_section(path, tag, "has another checksum");
        int known = 0;
        while (known < SECTIONS && memcmp(tag, TAGS[known], 4) != 0) known++;
        if (known == SECTIONS) {
            if (tag[0] >= 'a' && tag[0] <= 'z') continue;
            return linattn__fail(LINATTN_EVERSION, "%s has a section %.4s, which this library does not know", path,
                                 (const char *)tag);
        }
        if (found[known].at) return fail_section(path, tag, "is there twice");
        found[known] = (reader){payload, (size_t)length, 0};
    }
    for (int known = 0; known < SECTIONS; known++)
        if (!found[known].at) return fail_section(path, (const unsigned char *)TAGS[known], "is missing");
    return r.left == 0 ? LINATTN_OK : fail_damaged(path, "there is more than its sections");
}

/* The value of a field for a message; see common/describe.h for which are reals. */
static void write_value(const char *field, uint64_t value, char text[LINATTN_NUMBER_SIZE]) {
    const size_t length = strlen(field);
    const int any_bits =
        (length >= 4 && strcmp(field + length - 4, "seed") == 0) || (length >= 6 && strcmp(field + length - 6, "digest") == 0);
    if (any_bits || value < UINT64_C(1) << 52)
        snprintf(text, LINATTN_NUMBER_SIZE, "%llu", (unsigned long long)value);
    else
        linattn_number_write(linattn__real_from_bits(value), text);
}

/* Compares field after field with what the trainer is made of. */
typedef struct comparison {
    const char *path;
    reader *file;
    uint64_t left; /* fields */
} comparison;

static int compare_field(const char *field, uint64_t value, void *user) {
    comparison *c = user;
    char name[LINATTN__FIELD], there[LINATTN_NUMBER_SIZE], here[LINATTN_NUMBER_SIZE];
    if (c->left == 0) return linattn__fail(LINATTN_EMISMATCH, "%s has no %s, which this trainer has", c->path, field);
    c->left--;
    take_text(c->file, name, sizeof name);
    const uint64_t saved = take_integer(c->file, 8);
    if (c->file->short_of) return fail_damaged(c->path, "section FING");
    if (strcmp(name, field) != 0)
        return linattn__fail(LINATTN_EMISMATCH, "%s has %s where this trainer has %s", c->path, name, field);
    if (saved == value) return LINATTN_OK;
    write_value(field, saved, there);
    write_value(field, value, here);
    return linattn__fail(LINATTN_EMISMATCH, "%s is %s in %s and %s here", field, there, c->path, here);
}

static int compare_fingerprint(const linattn_trainer *trainer, const char *path, reader *file) {
    comparison c = {path, file, take_integer(file, 4)};
    int status = linattn__objective_describe(trainer->objective, compare_field, &c);
    if (!status) status = linattn__optimizer_describe(trainer->optimizer, compare_field, &c);
    if (status) return status;
    if (c.left != 0) {
        char name[LINATTN__FIELD];
        take_text(file, name, sizeof name);
        return linattn__fail(LINATTN_EMISMATCH, "%s has %s, which this trainer has not", path, name);
    }
    return check_read(file, path, "section FING");
}

/* count finite reals. */
static int take_reals(reader *r, const char *path, const char *section, double *x, size_t count) {
    for (size_t i = 0; i < count; i++) {
        x[i] = linattn__real_from_bits(take_integer(r, 8));
        if (!isfinite(x[i])) return fail_damaged(path, section);
    }
    return check_read(r, path, section);
}

static int read_optimizer(const linattn_optimizer *optimizer, const char *path, reader *r, linattn__checkpoint *into) {
    char name[LINATTN__RULE_NAME];
    take_text(r, name, sizeof name);
    const uint64_t steps = take_integer(r, 8);
    into->skips = take_integer(r, 8);
    const uint64_t state_count = take_integer(r, 8);
    if (r->short_of || steps != into->step || into->skips > steps) return fail_damaged(path, "section OPTI");
    if (strcmp(name, optimizer->name) != 0)
        return linattn__fail(LINATTN_EMISMATCH, "the optimizer's rule is \"%s\" in %s and \"%s\" here", name, path,
                             optimizer->name);
    if (state_count != optimizer->state_count) return fail_damaged(path, "section OPTI");
    return take_reals(r, path, "section OPTI", into->state, optimizer->state_count);
}

int linattn__checkpoint_read(const linattn_trainer *trainer, const char *path, const unsigned char *bytes, size_t size,
                             linattn__checkpoint *into) {
    reader found[SECTIONS];
    uint32_t sections = 0;
    int status = check_file(path, bytes, size, &sections);
    if (!status) status = find_sections(path, bytes, size, sections, found);
    if (!status) status = compare_fingerprint(trainer, path, &found[FINGERPRINT]);
    if (status) return status;
    into->step = take_integer(&found[TRAINER], 8);
    if (take_integer(&found[TRAINER], 8) != trainer->p) return fail_damaged(path, "section TRAI");
    status = check_read(&found[TRAINER], path, "section TRAI");
    if (!status) status = take_reals(&found[PARAMETERS], path, "section PARA", into->theta, trainer->p);
    if (!status) status = read_optimizer(trainer->optimizer, path, &found[OPTIMIZER], into);
    return status;
}
