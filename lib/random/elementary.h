/* elementary.h: log, exp, sin and cos without branches, tables or libm: the same bits wherever IEEE 754 doubles are.
 *
 * Within 2 units in the last place (seen: log 0.9, exp 1.1, cos and sin of 2 pi u 1.7); sin x 2.3
 * for |x| <= 64, and 2e-16 in all up to 2^46. Polynomials are summed by pairs (Estrin): the shape
 * of a sum is part of the definition. Compile with -ffp-contract=off. */
#ifndef LINATTN_RANDOM_ELEMENTARY_H
#define LINATTN_RANDOM_ELEMENTARY_H

#include "common/vector.h"
#include "random/coefficients.h"

/* Adding and subtracting this rounds |x| < 2^51 to an integer, whose low bits are then the low bits of the sum. */
#define LINATTN__ROUNDER 0x1.8p52

/* log x for normal, finite x > 0: x = 2^e m, m in [sqrt 1/2, sqrt 2); f = m - 1 is exact, s = f/(2 + f);
 * log m = 2 s + s^3 R(s^2) = f - s (f - s^2 R). */
LINATTN__INLINE vreal vreal_log(vreal x) {
    const uint64_t sqrt_half = 0x3fe6a09e667f3bcdu, one = 0x3ff0000000000000u, top = 0xfff0000000000000u;
    const vword shifted = (vword)x - sqrt_half + one;                                      /* exponent field 1023 + e */
    const vreal e = (vreal)((shifted >> 52) | 0x4330000000000000u) - 0x1.00000000003ffp52; /* 2^52 + field - (2^52 + 1023) */
    const vreal m = (vreal)((vword)x - (shifted & top) + one);
    const vreal f = m - 1.0;
    const vreal s = f / (f + 2.0), z = s * s, z2 = z * z, z4 = z2 * z2;
    const vreal r01 = LINATTN__LOG_0 + LINATTN__LOG_1 * z, r23 = LINATTN__LOG_2 + LINATTN__LOG_3 * z;
    const vreal r45 = LINATTN__LOG_4 + LINATTN__LOG_5 * z;
    const vreal r = (r01 + r23 * z2) + (r45 + LINATTN__LOG_6 * z2) * z4;
    return e * LINATTN__LOG2_HIGH - ((s * (f - z * r) - e * LINATTN__LOG2_LOW) - f);
}

/* exp x for x <= 0, -inf included; 0 below -708, where the result would near the subnormal numbers. x = e log 2 + r,
 * |r| <= log(2)/2; exp r = 1 + (r + r^2 P(r)). */
LINATTN__INLINE vreal vreal_exp(vreal x) {
    const vmask tiny = x < -708.0;
    x = vreal_select(tiny, vreal_all(0.0), x);
    const vreal shifted = x * LINATTN__LOG2_INVERSE + LINATTN__ROUNDER, e = shifted - LINATTN__ROUNDER;
    const vreal r = (x - e * LINATTN__LOG2_HIGH) - e * LINATTN__LOG2_LOW;
    const vreal r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
    const vreal p01 = LINATTN__EXP_0 + LINATTN__EXP_1 * r, p23 = LINATTN__EXP_2 + LINATTN__EXP_3 * r;
    const vreal p45 = LINATTN__EXP_4 + LINATTN__EXP_5 * r, p67 = LINATTN__EXP_6 + LINATTN__EXP_7 * r;
    const vreal p89 = LINATTN__EXP_8 + LINATTN__EXP_9 * r;
    const vreal p = ((p01 + p23 * r2) + (p45 + p67 * r2) * r4) + p89 * r8;
    const vreal one = 1.0 + (r + r2 * p);
    return vreal_select(tiny, vreal_all(0.0), (vreal)((vword)one + ((vword)shifted << 52)));
}

/* Adding and subtracting this rounds to a multiple of 1/4 of a turn, whose number is then in the low bits of the sum. */
#define LINATTN__QUARTER_ROUNDER (LINATTN__ROUNDER / 4)

/* cos and sin of 2 pi (q/4 + f), |f| <= 1/8: sin 2 pi f = f (2 pi + z S(z)), cos 2 pi f = 1 + z C(z), z = f^2; odd q exchanges the
 * two. */
LINATTN__INLINE void vreal_quadrant(vword q, vreal f, vreal *cosine, vreal *sine) {
    const vreal z = f * f, z2 = z * z, z4 = z2 * z2;
    const vreal s01 = LINATTN__SIN_0 + LINATTN__SIN_1 * z, s23 = LINATTN__SIN_2 + LINATTN__SIN_3 * z;
    const vreal s45 = LINATTN__SIN_4 + LINATTN__SIN_5 * z;
    const vreal c01 = LINATTN__COS_0 + LINATTN__COS_1 * z, c23 = LINATTN__COS_2 + LINATTN__COS_3 * z;
    const vreal c45 = LINATTN__COS_4 + LINATTN__COS_5 * z;
    const vreal s = f * LINATTN__TWO_PI_HIGH + f * (LINATTN__TWO_PI_LOW + z * ((s01 + s23 * z2) + s45 * z4));
    const vreal c = 1.0 + z * ((c01 + c23 * z2) + (c45 + LINATTN__COS_6 * z2) * z4);
    const vmask odd = (vmask)(0 - (q & 1)); /* q odd: the two change places */
    /* Signs: cos is negative for q = 1, 2 and sin for q = 2, 3 (mod 4). */
    *cosine = (vreal)((vword)vreal_select(odd, s, c) ^ (((q + 1) & 2) << 62));
    *sine = (vreal)((vword)vreal_select(odd, c, s) ^ ((q & 2) << 62));
}

/* cos and sin of 2 pi u, 0 <= u <= 1: q = 4u rounded is the quadrant and f = u - q/4, both exact for the uniforms below. */
LINATTN__INLINE void vreal_cos_sin(vreal u, vreal *cosine, vreal *sine) {
    const vreal shifted = u + LINATTN__QUARTER_ROUNDER;
    vreal_quadrant((vword)shifted, u - (shifted - LINATTN__QUARTER_ROUNDER), cosine, sine);
}

/* sin x: t + error = x / (2 pi) to twice the precision (Dekker 1971: the products of halves are exact); whole turns and then quarters
 * are taken off t, exactly. 0 beyond 2^51 turns, where neighbouring x are more than a radian apart; NaN for what is not finite. */
LINATTN__INLINE vreal vreal_sin(vreal x) {
    const vreal t = x * LINATTN__TURN_HIGH, split = x * 0x1.0000002p27;
    const vreal high = split - (split - x), low = x - high;
    const vreal product =
        ((high * LINATTN__TURN_HIGH_1 - t) + high * LINATTN__TURN_HIGH_2 + low * LINATTN__TURN_HIGH_1) + low * LINATTN__TURN_HIGH_2;
    const vmask near = (t < 0x1p51) & (t > -0x1p51);
    const vreal u = t - vreal_select(near, (t + LINATTN__ROUNDER) - LINATTN__ROUNDER, t);
    const vreal error = vreal_select(near, product + x * LINATTN__TURN_LOW, vreal_all(0.0));
    const vreal shifted = u + LINATTN__QUARTER_ROUNDER;
    vreal cosine, sine;
    vreal_quadrant((vword)shifted, (u - (shifted - LINATTN__QUARTER_ROUNDER)) + error, &cosine, &sine);
    return sine;
}

#endif
