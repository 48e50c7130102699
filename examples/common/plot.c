#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "plot.h"

#include "complain.h"
#include "output.h"
#include <errno.h>
#include <fcntl.h>
#include <linattn/number.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Text in gnuplot's single quotes, where only the quote itself is special. */
static void quote(FILE *script, const char *text) {
    fputc('\'', script);
    for (; *text != '\0'; text++) {
        if (*text == '\'') fputc('\'', script);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, script);
    }
    fputc('\'', script);
}

static void command(FILE *script, const char *before, const char *text, const char *after) {
    fputs(before, script);
    quote(script, text);
    fputs(after, script);
}

/* gnuplot skips a point that is NaN. */
static void number(FILE *script, double value) {
    char text[LINATTN_NUMBER_SIZE];
    linattn_number_write(value, text);
    fprintf(script, " %s", isfinite(value) ? text : "NaN");
}

static void write_data(FILE *script, const plot *picture) {
    for (size_t c = 0; c < picture->count; c++) {
        const plot_curve *curve = &picture->curves[c];
        fprintf(script, "$curve%zu << END\n", c);
        for (size_t i = 0; i < curve->count; i++) {
            number(script, curve->x[i]);
            number(script, curve->middle[i]);
            if (curve->low != NULL) {
                number(script, curve->low[i]);
                number(script, curve->high[i]);
            }
            fputc('\n', script);
        }
        fputs("END\n", script);
    }
}

/* Bands first, so that no band hides a line. */
static void write_plot_command(FILE *script, const plot *picture) {
    const char *separator = "plot";
    for (size_t c = 0; c < picture->count; c++) {
        const plot_curve *curve = &picture->curves[c];
        if (curve->low == NULL || curve->count == 0) continue;
        fprintf(script,
                "%s $curve%zu using 1:3:4 with filledcurves notitle fillcolor rgb '%s' fillstyle transparent solid 0.25 noborder",
                separator, c, curve->colour);
        separator = ",";
    }
    for (size_t c = 0; c < picture->count; c++) {
        const plot_curve *curve = &picture->curves[c];
        if (curve->count == 0)
            fprintf(script, "%s NaN", separator);
        else
            fprintf(script, "%s $curve%zu using 1:2", separator, c);
        fprintf(script, " with lines linewidth 2.5 dashtype %d linecolor rgb '%s' title ", curve->dashed ? 2 : 1, curve->colour);
        quote(script, curve->label);
        separator = ",";
    }
    fputc('\n', script);
}

static void write_script(FILE *script, const plot *picture, const char *png, const char *svg) {
    fputs("set encoding utf8\n", script);
    write_data(script, picture);
    fputs("set terminal pngcairo size 1000,680 font 'sans,16' background rgb 'white'\n", script);
    command(script, "set output ", png, "\n");
    command(script, "set label 1 ", picture->title, " at screen 0.5,0.95 center font ',19' noenhanced\n");
    command(script, "set label 2 ", picture->caption, " at screen 0.5,0.895 center font ',13' noenhanced\n");
    command(script, "set xlabel ", picture->x_label, " noenhanced\n");
    command(script, "set ylabel ", picture->y_label, " noenhanced\n");
    fputs("set tmargin at screen 0.86\nset rmargin 4\nset border 3\nset tics nomirror out\nset key bmargin center horizontal Left "
          "reverse samplen 2.5 width 1 noenhanced\n"
          "set grid ytics linetype 1 linewidth 0.5 linecolor rgb '#dddddd'\n",
          script);
    if (picture->log_y) fputs("set logscale y\nset format y '10^{%L}'\n", script);
    fputs("set autoscale xfix\n", script);
    write_plot_command(script, picture);
    fputs("set terminal svg size 1000,680 font 'sans,16' background rgb 'white'\n", script);
    command(script, "set output ", svg, "\nreplot\nset output\n");
}

/* Starts gnuplot with `script` (a file, rewound) as its input and `words` as its errors. Returns an errno. */
static int start_gnuplot(FILE *script, FILE *words, pid_t *child) {
    char *arguments[] = {"gnuplot", "-d", NULL}; /* -d: the user's own settings must not change the picture */
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    int error = posix_spawn_file_actions_init(&files);
    if (error != 0) return error;
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        posix_spawn_file_actions_adddup2(&files, fileno(script), STDIN_FILENO);
        posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_adddup2(&files, fileno(words), STDERR_FILENO);
        posix_spawnattr_setsigmask(&attributes, &none); /* an interrupt ends gnuplot even where this program blocks it */
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        error = posix_spawnp(child, arguments[0], &files, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return error;
}

/* gnuplot does not tell of a full disk: a whole picture is known by its end. */
static int ends_with(const char *path, const char *ending, size_t length) {
    char tail[64] = {0};
    FILE *file = fopen(path, "rb");
    if (file == NULL) return 0;
    size_t got = 0;
    if (fseek(file, -(long)sizeof tail, SEEK_END) == 0) got = fread(tail, 1, sizeof tail, file);
    fclose(file);
    for (size_t i = 0; i + length <= got; i++)
        if (memcmp(tail + i, ending, length) == 0) return 1;
    return 0;
}

/* The first line with something in it; reason is left alone when there is none. */
static void first_words(FILE *words, char *reason, size_t size) {
    char line[200];
    rewind(words);
    while (fgets(line, sizeof line, words) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[strspn(line, " \t^")] == '\0') continue;
        snprintf(reason, size, "%s", line);
        return;
    }
}

static int draw(FILE *script, const char *png, const char *svg, const char *folder, const char *name) {
    FILE *words = tmpfile();
    if (words == NULL) return complain(EXIT_FAILED, "cannot make a temporary file: %s", strerror(errno));
    pid_t child;
    int status = 0;
    const int error = start_gnuplot(script, words, &child);
    if (error == ENOENT) {
        fclose(words);
        complain(0, "note: gnuplot is not installed, so there is no picture; the numbers are in %s/%s.csv", folder, name);
        return -1;
    }
    if (error == 0)
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
    char reason[200] = "it wrote no whole picture";
    first_words(words, reason, sizeof reason);
    fclose(words);
    if (error == 0 && status == 0 && ends_with(png, "IEND", 4) && ends_with(svg, "</svg>", 6)) return 0;
    return complain(EXIT_FAILED, "gnuplot failed, so there is no picture: %s", error != 0 ? strerror(error) : reason);
}

int plot_write(const plot *picture, const char *folder, const char *name) {
    char ending[48];
    char *paths[4] = {output_path(folder, name, ".png"), output_path(folder, name, ".svg"), NULL, NULL};
    snprintf(ending, sizeof ending, ".png.%ld.part", (long)getpid());
    paths[2] = output_path(folder, name, ending);
    snprintf(ending, sizeof ending, ".svg.%ld.part", (long)getpid());
    paths[3] = output_path(folder, name, ending);

    int status = paths[0] == NULL || paths[1] == NULL || paths[2] == NULL || paths[3] == NULL ? EXIT_FAILED : 0;
    FILE *script = status == 0 ? tmpfile() : NULL;
    if (status == 0 && script == NULL) status = complain(EXIT_FAILED, "cannot make a temporary file: %s", strerror(errno));
    if (status == 0) {
        write_script(script, picture, paths[2], paths[3]);
        if (fflush(script) != 0 || ferror(script)) status = complain(EXIT_FAILED, "cannot write a temporary file");
        rewind(script);
    }
    if (status == 0) status = draw(script, paths[2], paths[3], folder, name);
    if (status == 0) status = output_adopt(paths[2], paths[0]);
    if (status == 0) status = output_adopt(paths[3], paths[1]);
    for (size_t i = 2; i < 4; i++)
        if (paths[i] != NULL) unlink(paths[i]); /* what was adopted is no longer there */
    if (script != NULL) fclose(script);
    for (size_t i = 0; i < 4; i++) free(paths[i]);
    return status > 0 ? status : 0;
}
