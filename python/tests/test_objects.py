"""Samplers, batches, models, recipes and what the library tells about itself."""
import dataclasses
import gc
import math
import unittest

import numpy
from support import Setting, linattn

LAYOUT = [f"layer{i}.head0.{kind}" for i in range(3) for kind in "PQ"]


class Samplers(unittest.TestCase):

    def test_batch(self):
        s = Setting()
        self.assertEqual((s.sampler.dim, s.sampler.context), (5, 20))
        self.assertEqual((s.batch.prompts, s.batch.context, s.batch.dim), (100, 20, 5))
        tokens, targets = s.batch.arrays()
        self.assertEqual((tokens.shape, targets.shape), ((100, 21, 6), (100, )))
        self.assertTrue((tokens[:, -1, -1] == 0).all())
        # noiseless linear responses: the query's target follows from 20 context tokens in 5 dimensions
        weights = numpy.linalg.lstsq(tokens[0, :-1, :-1], tokens[0, :-1, -1], rcond=None)[0]
        self.assertAlmostEqual(tokens[0, -1, :-1] @ weights, targets[0], places=12)
        self.assertEqual(s.batch.targets().tobytes(), targets.tobytes())
        moments, queries = s.batch.moments()
        context = tokens[:, :-1]
        numpy.testing.assert_allclose(moments, numpy.einsum("bni,bnj->bij", context, context), rtol=1e-13, atol=1e-13)
        self.assertEqual(queries.tobytes(), tokens[:, -1].tobytes())

    def test_draws(self):
        s = Setting()
        self.assertEqual(s.sampler.batch(100).arrays()[0].tobytes(), s.batch.arrays()[0].tobytes())
        self.assertNotEqual(s.sampler.batch(100, draw=1).arrays()[0].tobytes(), s.batch.arrays()[0].tobytes())
        self.assertEqual(s.sampler.batch(7).arrays()[0].tobytes(), s.batch.arrays()[0][:7].tobytes())

    def test_options(self):
        sphere = linattn.Sampler(3, 4, covariates=linattn.Covariates.SPHERE, seed=9)
        lengths = numpy.linalg.norm(sphere.batch(5).arrays()[0][:, :, :3], axis=2)
        numpy.testing.assert_allclose(lengths, 1, rtol=1e-14)
        by_name, by_number = (linattn.Sampler(3, 4, covariates=kind, seed=9).batch(2).targets() for kind in ("Sphere", 1))
        self.assertEqual(by_name.tobytes(), by_number.tobytes())
        factor = numpy.diag([0.0, 1.0, 2.0])
        rotated = linattn.Sampler(3, 4, covariates="rotated", covariate_factor=factor).batch(3).arrays()[0]
        self.assertTrue((rotated[:, :, 0] == 0).all() and (rotated[:, :, 1] != 0).all())

    def test_table(self):
        """Covariates are rows of the table, all of them in the end; standardised as numpy standardises."""
        table = numpy.random.default_rng(2).normal(3, 5, size=(11, 3))
        scaled = (table - table.mean(0)) / table.std(0)
        options = linattn.recipe("setting1").sampler_options(covariates="table", covariate_table=table[:], dim=3, seed=4)
        for standardise, wanted in ((0, table), (1, scaled)):
            x = linattn.Sampler(**dict(options, standardise=standardise)).batch(50).arrays()[0][:, :, :3].reshape(-1, 3)
            distances = abs(x[:, None] - wanted[None]).max(axis=2)
            self.assertLess(distances.min(axis=1).max(), 1e-14)
            self.assertEqual(set(distances.argmin(axis=1)), set(range(11)))
        transposed = linattn.Sampler(**dict(options, covariate_table=numpy.asfortranarray(table), table_rows=11))
        self.assertEqual(transposed.batch(9).targets().tobytes(), linattn.Sampler(**options).batch(9).targets().tobytes())

    def test_refused(self):
        table = numpy.arange(12.0).reshape(4, 3)
        constant, spoilt = table.copy(), table.copy()
        constant[:, 2], spoilt[1, 0] = 7, numpy.nan

        def sampler(array, **options):
            return linattn.Sampler(3, 4, covariates="table", covariate_table=array, **options)

        cases = [
            (lambda: sampler(None), linattn.InvalidArgument, "covariate_table"),
            (lambda: sampler(table[:, :2]), ValueError, r"covariate_table has shape \(4, 2\); wanted: \(table_rows, 3\)"),
            (lambda: sampler(table[0]), ValueError, r"covariate_table has shape \(3,\)"),
            (lambda: sampler(table[:0]), linattn.InvalidArgument, "table_rows is 0"),
            (lambda: sampler(table, table_rows=5), ValueError, "table_rows is 5, and covariate_table has 4"),
            (lambda: sampler(table.astype("float32")), TypeError, "covariate_table has dtype"),
            (lambda: sampler(spoilt), linattn.NonFinite, r"covariate_table\[3\] is nan"),
            (lambda: sampler(constant, standardise=1), linattn.Degenerate, "column 2 of covariate_table .* is 7"),
            (lambda: sampler(table[:1], standardise=1), linattn.Degenerate, "column 0 of covariate_table"),
            (lambda: sampler(table, standardise=2), linattn.InvalidArgument, "standardise is 2"),
            (lambda: linattn.Sampler(0, 4), linattn.InvalidArgument, "dim"),
            (lambda: linattn.Sampler(3, 4, covariates="cube"), ValueError, 'covariates is "cube"; allowed: normal, sphere'),
            (lambda: linattn.Sampler(3, 4, covariates=99), linattn.InvalidArgument, "covariates"),
            (lambda: linattn.Sampler(3, 4, covariates=1.5), TypeError, "covariates"),
            (lambda: linattn.Sampler(3, 4, sead=1), TypeError, 'no option "sead"; there are: dim, context, seed'),
            (lambda: linattn.Sampler(3, 4, reserved=1), TypeError, "reserved"),
            (lambda: linattn.Sampler(3, 4, covariates="rotated"), linattn.InvalidArgument, "covariate_factor"),
            (lambda: linattn.Sampler(3, 4, covariate_factor=numpy.eye(2)), ValueError, r"covariate_factor has shape \(2, 2\)"),
            (lambda: linattn.Sampler(3, 4, covariates="sphere", kind="moments"), linattn.Unsupported, ""),
            (lambda: linattn.Sampler(3, 4, task_factor=numpy.full((3, 3), numpy.inf)), linattn.NonFinite, "task_factor"),
            (lambda: linattn.Sampler(3, 4).batch(0), linattn.InvalidArgument, "prompts"),
            (lambda: linattn.Sampler(1000, 2**22).batch(2**32 - 1), linattn.SizeOverflow, ""),
            (lambda: linattn.Sampler(3, 4, kind="moments").batch(2).arrays(), linattn.Unsupported, ""),
            (lambda: linattn.Batch.from_arrays(numpy.full((1, 2, 2), numpy.nan), numpy.zeros(1)), linattn.NonFinite, "tokens"),
            (lambda: linattn.Batch.from_arrays(numpy.zeros((1, 0, 2)), numpy.zeros(1)), ValueError, "tokens"),
        ]
        for call, kind, words in cases:
            with self.subTest(words), self.assertRaisesRegex(kind, words):
                call()


class CustomSamplers(unittest.TestCase):
    """Prompts of a Python function."""

    def setUp(self):
        self.s = Setting()
        self.calls = []

    def fill(self, draw, first, prompts):
        self.calls.append((draw, first, prompts))
        tokens, targets = self.s.sampler.batch(first + prompts, draw).arrays()
        return tokens[first:], targets[first:]

    def test_prompts(self):
        """A function that answers with another sampler's prompts is as good as that one, also when only the objective is left."""
        s, sampler = self.s, linattn.Sampler.custom(5, 20, self.fill)
        self.assertEqual((sampler.dim, sampler.context), (5, 20))
        self.assertEqual(sampler.batch(100).arrays()[0].tobytes(), s.batch.arrays()[0].tobytes())
        objective = linattn.Objective.sampled(s.model, sampler, 3000)
        del sampler
        gc.collect()
        wanted = linattn.Objective.sampled(s.model, s.sampler, 3000)
        self.calls.clear()
        self.assertEqual(objective.gradient(s.theta, 2)[1].tobytes(), wanted.gradient(s.theta, 2)[1].tobytes())
        self.assertEqual(sum(prompts for draw, first, prompts in self.calls if draw == 2), 3000)
        trainer = linattn.Trainer(objective.clone(), s.optimizer(), s.theta)
        del objective
        gc.collect()
        trainer.run(3)
        other = linattn.Trainer(wanted, s.optimizer(), s.theta)
        other.run(3)
        self.assertEqual(trainer.parameters().tobytes(), other.parameters().tobytes())

    def test_misbehaviour(self):
        good = self.fill
        error = RuntimeError("mine")

        def broken(*arguments):
            raise error

        def spoilt(draw, first, prompts):
            tokens, targets = good(draw, first, prompts)
            tokens[4, 2, 1] = numpy.inf
            return tokens, targets

        cases = [
            (broken, RuntimeError, "mine"),
            (lambda *a: None, linattn.NonFinite, "token of prompt 0, row 0, entry 0, is nan"),
            (spoilt, linattn.NonFinite, "token of prompt 4, row 2, entry 1, is inf"),
            (lambda *a: 5, TypeError, r"wanted: \(tokens, targets\)"),
            (lambda *a: (good(*a)[0][:3], good(*a)[1]), ValueError, r"tokens .* has shape \(3, 21, 6\); wanted: \(9, 21, 6\)"),
            (lambda *a: (good(*a)[0], good(*a)[1][:, None]), ValueError, r"targets .* has shape \(9, 1\)"),
            (lambda *a: (good(*a)[0].astype("float32"), good(*a)[1]), TypeError, "dtype"),
        ]
        for function, kind, words in cases:
            sampler = linattn.Sampler.custom(5, 20, function)
            objective = linattn.Objective.sampled(self.s.model, sampler, 9)
            for call in (lambda: sampler.batch(9), lambda: objective.value(self.s.theta)):
                with self.subTest(words), self.assertRaisesRegex(kind, words):
                    call()
        self.assertRaisesRegex(TypeError, "fill", linattn.Sampler.custom, 5, 20, None)
        self.assertRaisesRegex(linattn.InvalidArgument, "dim is 0", linattn.Sampler.custom, 0, 20, good)
        self.assertRaisesRegex(linattn.InvalidArgument, "context", linattn.Sampler.custom, 5, 0, good)


class Models(unittest.TestCase):

    def test_tensors_and_views(self):
        s = Setting()
        self.assertEqual(s.p, 150)
        self.assertEqual([t.name for t in s.model.tensors], LAYOUT)
        self.assertEqual([t.offset for t in s.model.tensors], [25 * i for i in range(6)])
        self.assertEqual(s.model.tensors[3].kind, linattn.TensorKind.Q)
        theta = numpy.arange(150.0)
        views = s.model.views(theta)
        self.assertEqual(views["layer1.head0.P"].tolist(), theta[50:75].reshape(5, 5).tolist())
        views["layer1.head0.P"][0, 1] = -1
        self.assertEqual(theta[51], -1)
        with self.assertRaisesRegex(ValueError, "not C-contiguous"):
            s.model.views(numpy.zeros(300)[::2])
        with self.assertRaises(TypeError):
            s.model.views(list(theta))

    def test_attention(self):
        """Against the formula, in numpy, and concentration against its own."""
        s = Setting()
        model = linattn.Model(5, 1, attention="softmax_context", init_std=0.3)
        theta = model.init_parameters(seed=2)
        z = s.batch.arrays()[0]
        scores = z[:, :, :5] @ model.views(theta)["layer0.head0.Q"] @ z[:, :-1, :5].transpose(0, 2, 1)
        wanted = numpy.exp(scores) / numpy.exp(scores).sum(axis=2, keepdims=True)
        weights = model.attention(s.batch, theta)
        numpy.testing.assert_allclose(weights[:, :, :-1], wanted, rtol=1e-12)
        self.assertTrue((weights[:, :, -1] == 0).all())
        rows = wanted[:, -1]
        c = linattn.attention_concentration(weights[:, -1, :-1], top=3)
        self.assertEqual((c.rows, c.empty), (100, 0))
        self.assertAlmostEqual(c.entropy, -(rows * numpy.log(rows)).sum(axis=1).mean(), places=12)
        self.assertAlmostEqual(c.largest, rows.max(axis=1).mean(), places=13)
        self.assertAlmostEqual(c.top_share, numpy.sort(rows)[:, -3:].sum(axis=1).mean(), places=13)
        self.assertAlmostEqual(c.ratio_smallest, (rows.min(axis=1) / rows.max(axis=1)).min(), places=13)
        with self.assertRaisesRegex(linattn.InvalidArgument, "top is 21"):
            linattn.attention_concentration(weights[:, -1, :-1], top=21)
        with self.assertRaisesRegex(linattn.Unsupported, "moments"):
            model.attention(linattn.Sampler(5, 20, kind="moments").batch(2), theta)

    def test_predict(self):
        """Against the formula, in numpy: Z <- Z + (1/n) M (Z Q Z^T) Z P^T, then the feed-forward block."""
        for ff_hidden in (0, 7):
            with self.subTest(ff_hidden=ff_hidden):
                self.predict(Setting(ff_hidden=ff_hidden))

    def predict(self, s):
        tokens, targets = s.batch.arrays()
        views = s.model.views(s.theta)
        z = tokens
        for layer in range(3):
            p, q = numpy.zeros((6, 6)), numpy.zeros((6, 6))
            p[:5, :5], p[5, 5], q[:5, :5] = views[f"layer{layer}.head0.P"], 1, views[f"layer{layer}.head0.Q"]
            scores = z @ q @ z.transpose(0, 2, 1)
            scores[:, :, -1] = 0
            z = z + scores @ z @ p.T / 20
            if s.model.parameter_count > 150:
                w1, b1, w2, b2 = (views[f"layer{layer}.ff.{part}"] for part in ("W1", "b1", "W2", "b2"))
                self.assertEqual((w1.shape, b1.shape, w2.shape, b2.shape), ((7, 6), (7, 1), (6, 7), (6, 1)))
                z = z + numpy.maximum(z @ w1.T + b1.ravel(), 0) @ w2.T + b2.ravel()
        predicted = s.model.predict(s.batch, s.theta)
        numpy.testing.assert_allclose(predicted, -z[:, -1, -1], rtol=1e-10, atol=1e-12)
        self.assertAlmostEqual(s.fixed.value(s.theta), numpy.mean((predicted - targets)**2), places=12)
        out = numpy.zeros(100)
        self.assertIs(s.model.predict(s.batch, s.theta, out=out), out)

    def test_refused(self):
        s = Setting()
        self.assertRaisesRegex(linattn.InvalidArgument, "layers", linattn.Model, 5, 0)
        self.assertRaisesRegex(ValueError, "form", linattn.Model, 5, 1, form="round")
        self.assertRaises(linattn.Mismatch, s.model.predict, linattn.Sampler(4, 4).batch(1), s.theta)
        self.assertRaises(linattn.NonFinite, s.model.predict, s.batch, numpy.full(150, numpy.nan))


class Recipes(unittest.TestCase):

    def test_table(self):
        names = [r.name for r in linattn.recipes()]
        self.assertEqual(names[:4], ["setting1", "setting2", "setting3", "sphere"])
        r = linattn.recipe("setting3")
        self.assertEqual((r.covariates, r.gamma_shape, r.prompts), (linattn.Covariates.GAMMA, 0.1, 1000))
        self.assertEqual(r.optimizer_options("sgd")["momentum"], 0.9)
        self.assertEqual(r.sampler_options(seed=4)["seed"], 4)
        self.assertIn("2310.01082", r.source("sgd_learning_rate"))
        with self.assertRaisesRegex(ValueError, "no_field"):
            r.source("no_field")
        with self.assertRaisesRegex(linattn.InvalidArgument, "setting1"):
            linattn.recipe("setting9")
        changed = dataclasses.replace(r, layers=2)
        self.assertEqual(linattn.Model(**changed.model_options()).parameter_count, 100)
        untuned = dataclasses.replace(r, sgd_learning_rate=math.nan)
        self.assertRaises(linattn.InvalidArgument, linattn.Optimizer, 3, **untuned.optimizer_options("sgd"))


class About(unittest.TestCase):

    def test_facts(self):
        self.assertEqual(linattn.version(), linattn.__version__)
        self.assertIn(linattn.version(), linattn.build_info())
        self.assertIn("BLAS", linattn.blas_info())
        self.assertTrue(linattn.kernel_available("auto") and linattn.kernel_available(linattn.Kernel.BASELINE))
        self.assertFalse(linattn.kernel_available(77))
        self.assertEqual(linattn.status_name(-4), "LINATTN_ENONFINITE")
        self.assertEqual(linattn.Status.ENONFINITE, -4)

    def test_rest_of_the_interface(self):
        """What Python has itself, and the package leaves out."""
        lib, ffi = linattn._library.lib, linattn._library.ffi
        self.assertEqual(ffi.string(lib.linattn_kernel_name(1)), b"baseline")
        line, number = ffi.new("char[]", lib.LINATTN_NUMBER_SIZE), ffi.new("double *")
        for x in (0.1, 1e-300, 5e-324, 1.7976931348623157e308, -2.5, 1 / 3):
            self.assertEqual(lib.linattn_number_write(x, line), 0)
            self.assertEqual(float(ffi.string(line)), x)
            self.assertEqual(lib.linattn_number_read(repr(x).encode(), number, ffi.NULL), 0)
            self.assertEqual(number[0], x)

    def test_errors(self):
        for kind, base in ((linattn.InvalidArgument, ValueError), (linattn.OutOfMemory, MemoryError), (linattn.FileError, OSError),
                           (linattn.SizeOverflow, OverflowError), (linattn.NonFinite, ArithmeticError)):
            self.assertTrue(issubclass(kind, base) and issubclass(kind, linattn.LinattnError))
        # every failure that the library knows has a class of its own
        statuses = {member.value for member in linattn.Status} - {0}
        self.assertEqual({kind.status for kind in linattn.LinattnError.__subclasses__()}, statuses)
        with self.assertRaises(linattn.InvalidArgument) as caught:
            linattn.Model(0, 1)
        self.assertEqual((caught.exception.status, str(caught.exception)), (-1, linattn.last_message()))
