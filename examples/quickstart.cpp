// quickstart: the library from C++. Trains the smallest transformer with Adam for 2000 steps; prints its loss on a batch it has not
// seen, and the extreme eigenvalues of its Hessian there.
//
// The headers are plain C: what C++ adds is a deleter for each handle and exceptions instead of statuses, and that is all here.
#include <linattn/linattn.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <vector>

// Only around calls of one's own: no exception may cross the library, so a callback catches its own and returns a status.
static void check(int status) {
    if (status < 0) throw std::runtime_error(linattn_last_message());
}

// A handle that destroys itself: handle<linattn_model, linattn_model_destroy>.
template <typename T, void (*destroy)(T *)> struct deleter {
    void operator()(T *object) const { destroy(object); }
};
template <typename T, void (*destroy)(T *)> using handle = std::unique_ptr<T, deleter<T, destroy>>;

using sampler = handle<linattn_sampler, linattn_sampler_destroy>;
using model = handle<linattn_model, linattn_model_destroy>;
using objective = handle<linattn_objective, linattn_objective_destroy>;
using optimizer = handle<linattn_optimizer, linattn_optimizer_destroy>;
using trainer = handle<linattn_trainer, linattn_trainer_destroy>;
using diagnostics = handle<linattn_diagnostics, linattn_diagnostics_destroy>;

// make<model>(linattn_model_create, &options): a create call, whose first argument is where the new handle goes.
template <typename Handle, typename Create, typename... Arguments> Handle make(Create create, Arguments... arguments) {
    typename Handle::pointer out = nullptr;
    check(create(&out, arguments...));
    return Handle(out);
}

static void run() {
    linattn_recipe recipe{};
    recipe.struct_size = sizeof recipe;
    check(linattn_recipe_find("setting1", &recipe));
    linattn_sampler_options data;
    check(linattn_recipe_sampler_options(&recipe, &data, sizeof data));
    linattn_model_options shape;
    check(linattn_recipe_model_options(&recipe, &shape, sizeof shape));
    linattn_optimizer_options rule;
    check(linattn_recipe_optimizer_options(&recipe, LINATTN_RULE_ADAM, &rule, sizeof rule));

    const auto s = make<sampler>(linattn_sampler_create, &data);
    const auto m = make<model>(linattn_model_create, &shape);
    const auto f = make<objective>(linattn_objective_create_sampled, m.get(), s.get(), recipe.prompts, nullptr);
    const auto p = linattn_model_parameter_count(m.get());
    std::vector<double> theta(p);
    check(linattn_model_init_parameters(m.get(), 1, theta.data()));

    const auto o = make<optimizer>(linattn_optimizer_create, &rule, nullptr, std::size_t{0}, p);
    const auto t = make<trainer>(linattn_trainer_create, f.get(), o.get(), theta.data(), nullptr);
    const std::uint64_t steps = 2000;
    check(linattn_trainer_run(t.get(), steps, nullptr));
    check(linattn_trainer_get_parameters(t.get(), theta.data()));

    // Steps 0 to 1999 took draws 0 to 1999, so draw 2000 is new.
    double loss;
    check(linattn_objective_value(f.get(), steps, theta.data(), &loss));
    std::printf("loss after 2000 steps: %.3g\n", loss);

    const auto d = make<diagnostics>(linattn_diagnostics_create, f.get(), nullptr);
    linattn_spectrum spectrum{};
    spectrum.struct_size = sizeof spectrum;
    check(linattn_diagnostics_spectrum(d.get(), steps, theta.data(), nullptr, nullptr, nullptr, &spectrum));
    std::printf("eigenvalues of its Hessian: %.3g to %.3g, %zu of %zu negative\n", spectrum.smallest, spectrum.largest,
                spectrum.negatives, spectrum.count);
}

int main() {
    try {
        run();
        return 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "quickstart: %s\n", error.what());
        return 1;
    }
}
