#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "plot.h"

#include "complain.h"
#include "output.h"
#include "plot_script.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Starts gnuplot with `script` (a file, rewound) as its input and `words` as its errors. Returns an errno. */
static int start_gnuplot(FILE *script, FILE *words, pid_t *child) {
    char *arguments[] = {"gnuplot", "-d", NULL}; /* -d: the user's own settings must not change the picture */
    posix_spawn_file_actions_t files;
    const int error = posix_spawn_file_actions_init(&files);
    if (error != 0) return error;
    posix_spawn_file_actions_adddup2(&files, fileno(script), STDIN_FILENO);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, fileno(words), STDERR_FILENO);
    const int status = posix_spawnp(child, arguments[0], &files, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    return status;
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
        plot_script(script, picture, paths[2], paths[3]);
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
