/* plot.h: curves with bands as a PNG and an SVG, drawn by gnuplot. */
#ifndef EXAMPLES_PLOT_H
#define EXAMPLES_PLOT_H

#include <stddef.h>

typedef struct plot_curve {
    const char *label;
    const char *colour; /* such as "#d62728" */
    int dashed;
    size_t count;         /* 0: only the label is shown */
    const double *x;      /* (count) */
    const double *middle; /* (count) */
    const double *low;    /* (count), the band's lower edge; NULL: no band */
    const double *high;   /* (count) */
} plot_curve;

/* Texts are plain UTF-8. */
typedef struct plot {
    const char *title;
    const char *caption; /* a second, smaller line */
    const char *x_label;
    const char *y_label;
    const plot_curve *curves;
    size_t count;
    int log_y;
} plot;

/* Writes <folder>/<name>.png and .svg, whole or not at all. Returns 0 when that is done; 0 also after a note that gnuplot is not
 * installed; EXIT_FAILED after a complaint. */
int plot_write(const plot *picture, const char *folder, const char *name);

#endif
