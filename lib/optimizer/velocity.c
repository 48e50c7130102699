/* velocity.c: momentum as PyTorch has it. The learning rate is outside the velocity and the gradient has weight 1, so that with
 * momentum 0.9 and g = 1, 1 the velocities are 1, 1.9. */
#include "optimizer/rules.h"

void linattn__velocity(const linattn_optimizer_options *options, const linattn_update *update, double weight_decay) {
    const double momentum = options->momentum;
    /* By the update's number, so that a skipped first step does not use up the undampened one. */
    const double weight = update->step == 1 || momentum == 0 ? 1 : 1 - options->dampening;
    for (size_t i = 0; i < update->p; i++) {
        const double g = update->gradient[i] + weight_decay * update->theta[i];
        update->state[i] = momentum * update->state[i] + weight * g;
    }
}
