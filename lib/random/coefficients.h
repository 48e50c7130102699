/* coefficients.h: printed by tools/coefficients.py; edit that instead. */
#ifndef LINATTN_RANDOM_COEFFICIENTS_H
#define LINATTN_RANDOM_COEFFICIENTS_H

#define LINATTN__LOG2_HIGH    0x1.62e42ff000000p-1 /* 32 bits: its product with an exponent is exact */
#define LINATTN__LOG2_LOW     -0x1.718432a1b0e26p-35
#define LINATTN__LOG2_INVERSE 0x1.71547652b82fep+0
#define LINATTN__TWO_PI_HIGH  0x1.921fb54442d18p+2
#define LINATTN__TWO_PI_LOW   0x1.1a62633145c07p-52
#define LINATTN__TURN_HIGH    0x1.45f306dc9c883p-3 /* 1/(2 pi), and the two halves of it */
#define LINATTN__TURN_HIGH_1  0x1.45f3070000000p-3
#define LINATTN__TURN_HIGH_2  -0x1.1b1bbe8000000p-30
#define LINATTN__TURN_LOW     -0x1.6b01ec5417056p-57

/* log(m) = f - s (f - z R(z)), f = m - 1, s = f/(2 + f), z = s^2; the polynomial is within 3.1e-16 */
#define LINATTN__LOG_0 0x1.5555555555558p-1
#define LINATTN__LOG_1 0x1.99999999952e2p-2
#define LINATTN__LOG_2 0x1.2492492df148dp-2
#define LINATTN__LOG_3 0x1.c71c62e5800a1p-3
#define LINATTN__LOG_4 0x1.7462b4ab2ef6bp-3
#define LINATTN__LOG_5 0x1.39fe606542ddep-3
#define LINATTN__LOG_6 0x1.2b584aae78a57p-3

/* exp(r) = 1 + (r + r^2 P(r)), |r| <= log(2)/2; the polynomial is within 1.0e-16 */
#define LINATTN__EXP_0 0x1.0000000000001p-1
#define LINATTN__EXP_1 0x1.5555555555556p-3
#define LINATTN__EXP_2 0x1.5555555553d68p-5
#define LINATTN__EXP_3 0x1.11111111109b5p-7
#define LINATTN__EXP_4 0x1.6c16c17889ef1p-10
#define LINATTN__EXP_5 0x1.a01a01a7c2efep-13
#define LINATTN__EXP_6 0x1.a019b9149a41cp-16
#define LINATTN__EXP_7 0x1.71de0db2f6b19p-19
#define LINATTN__EXP_8 0x1.28917c89a43a7p-22
#define LINATTN__EXP_9 0x1.af389ecfc4b9cp-26

/* sin(2 pi f) = f TWO_PI_HIGH + f (TWO_PI_LOW + z S(z)), z = f^2, |f| <= 1/8; the polynomial is within 5.1e-15 */
#define LINATTN__SIN_0 -0x1.4abbce625be52p+5
#define LINATTN__SIN_1 0x1.466bc6775a476p+6
#define LINATTN__SIN_2 -0x1.32d2cce500387p+6
#define LINATTN__SIN_3 0x1.50783208843ebp+5
#define LINATTN__SIN_4 -0x1.e3027dea82bd7p+3
#define LINATTN__SIN_5 0x1.e4a9d9166f052p+1

/* cos(2 pi f) = 1 + z C(z), z = f^2, |f| <= 1/8; the polynomial is within 7.8e-18 */
#define LINATTN__COS_0 -0x1.3bd3cc9be45dep+4
#define LINATTN__COS_1 0x1.03c1f081b5ac0p+6
#define LINATTN__COS_2 -0x1.55d3c7e3cb241p+6
#define LINATTN__COS_3 0x1.e1f5068688d5bp+5
#define LINATTN__COS_4 -0x1.a6d1eef479be1p+4
#define LINATTN__COS_5 0x1.f9ce245cada0bp+2
#define LINATTN__COS_6 -0x1.b2f3eb054afcdp+0

#endif
