/* plot.h: pictures as PNG and SVG, drawn by gnuplot: panels of curves with bands, dots and bars. */
#ifndef EXAMPLES_PLOT_H
#define EXAMPLES_PLOT_H

#include <stddef.h>

enum plot_kind {
    PLOT_CURVE, /* a line through the points; low and high are a band */
    PLOT_DOTS,  /* a dot at each point; low and high are an error bar */
    PLOT_BARS   /* a histogram: bar i goes from x_i to x_(i+1) and is y_i high; x has count + 1 numbers */
};

/* A number that is not finite is left out of the picture. */
typedef struct plot_series {
    enum plot_kind kind;
    const char *label;   /* NULL: not in the key */
    const char *colour;  /* such as "#d62728" */
    int dashed;          /* of curves */
    double size;         /* of dots, 1 being plain to see; 0 stands for 1 */
    size_t count;        /* 0: only the label is shown */
    const double *x;     /* (count), bars: (count + 1) */
    const double *y;     /* (count) */
    const double *low;   /* (count), or NULL */
    const double *high;  /* (count), or NULL */
    const double *shade; /* (count), colours of dots, as numbers on the panel's colour bar; NULL */
} plot_series;

/* A thin line across the panel. */
typedef struct plot_guide {
    int vertical;
    double at;
} plot_guide;

typedef struct plot_panel {
    const char *x_label;
    const char *y_label;
    const plot_series *series; /* later ones are drawn over earlier ones; bands below everything */
    size_t count;
    const plot_guide *guides;
    size_t guide_count;
    const char *const *categories; /* names of x = 0, 1, ...; NULL: x is a number */
    size_t category_count;
    const char *shade_label; /* of the colour bar; NULL: none */
    int log_x;
    int log_y;
    int signed_y; /* 1: asinh(10 y), near enough a logarithmic axis both ways, so that negative numbers are seen */
    double y_low; /* the range of y; both 0: what there is */
    double y_high;
} plot_panel;

/* Texts are plain UTF-8. */
typedef struct plot {
    const char *title;
    const char *caption;      /* a second, smaller line */
    const plot_panel *panels; /* side by side */
    size_t count;
    const plot_panel *inset; /* in the upper right corner of the last panel; NULL */
} plot;

/* Writes <folder>/<name>.png and .svg, whole or not at all. Returns 0 when that is done; 0 also after a note that gnuplot is not
 * installed; EXIT_FAILED after a complaint. */
int plot_write(const plot *picture, const char *folder, const char *name);

#endif
