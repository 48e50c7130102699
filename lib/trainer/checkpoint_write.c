/* checkpoint_write.c: a trainer as bytes. The same code counts and writes: bytes are put only where there is a place for them. */
#include "trainer/checkpoint.h"
#include "trainer/crc.h"
#include <linattn/status.h>
#include <string.h>

typedef struct writer {
    unsigned char *bytes; /* NULL: count only */
    size_t size;          /* written so far */
    size_t section;       /* where the open section begins */
    uint32_t sections;    /* closed so far */
} writer;

const unsigned char linattn__checkpoint_magic[LINATTN__CHECKPOINT_MAGIC] = {'L', 'I', 'N', 'A', 'T', 'T', 'N', 1};

static void put_bytes(writer *w, const void *bytes, size_t size) {
    if (w->bytes) memcpy(w->bytes + w->size, bytes, size);
    w->size += size;
}

/* The low `width` bytes of value, the lowest first. */
static void put_integer(writer *w, uint64_t value, size_t width) {
    unsigned char bytes[8];
    for (size_t i = 0; i < width; i++) bytes[i] = (unsigned char)(value >> 8 * i);
    put_bytes(w, bytes, width);
}

static void put_reals(writer *w, const double *x, size_t count) {
    for (size_t i = 0; i < count; i++) put_integer(w, linattn__real_bits(x[i]), 8);
}

static void put_text(writer *w, const char *text) {
    const size_t length = strlen(text);
    put_integer(w, length, 2);
    put_bytes(w, text, length);
}

/* Goes back to fill in what was not known before. */
static void set_integer(writer *w, size_t place, uint64_t value, size_t width) {
    writer there = {.bytes = w->bytes, .size = place};
    put_integer(&there, value, width);
}

static uint32_t checksum(const writer *w, size_t from) { return w->bytes ? linattn__crc32(0, w->bytes + from, w->size - from) : 0; }

static void open_section(writer *w, const char *tag) {
    w->section = w->size;
    put_bytes(w, tag, 4);
    put_integer(w, 0, 8);
}

static void close_section(writer *w) {
    set_integer(w, w->section + 4, w->size - w->section - 12, 8);
    put_integer(w, checksum(w, w->section), 4);
    w->sections++;
}

typedef struct fingerprint {
    writer *w;
    uint32_t fields;
} fingerprint;

static int put_field(const char *field, uint64_t value, void *user) {
    fingerprint *print = user;
    put_text(print->w, field);
    put_integer(print->w, value, 8);
    print->fields++;
    return LINATTN_OK;
}

static void put_fingerprint(writer *w, const linattn_trainer *trainer) {
    fingerprint print = {w, 0};
    open_section(w, "FING");
    const size_t count = w->size;
    put_integer(w, 0, 4);
    (void)linattn__objective_describe(trainer->objective, put_field, &print); /* ends early only when put_field says so */
    (void)linattn__optimizer_describe(trainer->optimizer, put_field, &print);
    set_integer(w, count, print.fields, 4);
    close_section(w);
}

static void put_optimizer(writer *w, const linattn_optimizer *optimizer) {
    open_section(w, "OPTI");
    put_text(w, optimizer->name);
    put_integer(w, optimizer->steps, 8);
    put_integer(w, optimizer->skips, 8);
    put_integer(w, optimizer->state_count, 8);
    put_reals(w, optimizer->state, optimizer->state_count);
    close_section(w);
}

size_t linattn__checkpoint_write(const linattn_trainer *trainer, unsigned char *bytes) {
    writer w = {.bytes = bytes};
    put_bytes(&w, linattn__checkpoint_magic, LINATTN__CHECKPOINT_MAGIC);
    put_integer(&w, LINATTN__CHECKPOINT_VERSION, 4);
    const size_t totals = w.size;
    w.size = LINATTN__CHECKPOINT_HEADER; /* the rest of the header comes last */

    put_fingerprint(&w, trainer);
    open_section(&w, "TRAI");
    put_integer(&w, trainer->step, 8);
    put_integer(&w, trainer->p, 8);
    close_section(&w);
    open_section(&w, "PARA");
    put_reals(&w, trainer->theta, trainer->p);
    close_section(&w);
    put_optimizer(&w, trainer->optimizer);

    set_integer(&w, totals, w.sections + 1, 4);
    set_integer(&w, totals + 4, w.size + LINATTN__CHECKPOINT_END, 8);
    if (bytes) set_integer(&w, LINATTN__CHECKPOINT_HEADER - 4, linattn__crc32(0, bytes, LINATTN__CHECKPOINT_HEADER - 4), 4);
    const uint32_t whole = checksum(&w, 0);
    open_section(&w, "END.");
    put_integer(&w, whole, 4);
    close_section(&w);
    return w.size;
}
