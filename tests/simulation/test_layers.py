"""Kernels and rollouts as layers: in torch and in JAX, beside the same in their own operations."""

import numpy as np
import pytest

import cayley as cy
from cayley.errors import ConventionError, SignatureError, UnsupportedError
from cayley.systems import System
from systems.plants import rods

RUN = {"step": 0.02, "steps": 10, "every": 5}


@cy.kernel("(n),()->(n),()", outputs=("bent", "sum"))
def bend(q, k):
    return k * np.sin(q), k * k * q @ q


@pytest.fixture(scope="module")
def roll():
    return rods([0.5], [1.0]).rollout(changing=["tau"])


@pytest.fixture
def given():
    rng = np.random.default_rng(3)
    return {"q": rng.normal(size=(4, 1)), "qd": np.array([0.3]), "tau": rng.normal(size=(4, 10, 1))}


class TestJax:
    @pytest.fixture(autouse=True)
    def double(self):
        jax = pytest.importorskip("jax")
        with jax.enable_x64(True):
            yield

    def test_a_kernel_inside_jit_grad_and_vmap(self):
        import jax
        f = bend.for_jax()

        def loss(q, k):
            bent, square = f(q, k)
            return (bent**3).sum() + (square**2).sum()

        @jax.jit
        def found(q, k):
            by_q, by_k = jax.grad(loss, (0, 1))(q, k)
            twice = jax.grad(lambda k: jax.grad(loss)(q, k).sum())(k)
            return by_q, by_k, twice, jax.vmap(loss, in_axes=(0, None))(q, k)
        q = np.random.default_rng(0).normal(size=(5, 3))
        k = 0.7
        s, c, square = np.sin(q), np.cos(q), (q * q).sum(-1, keepdims=True)
        right = (3 * k**3 * s**2 * c + 4 * k**4 * square * q, 3 * k**2 * (s**3).sum() + 4 * k**3 * (square**2).sum(),
                 (9 * k**2 * s**2 * c + 16 * k**3 * square * q).sum(), (k**3 * s**3).sum(-1) + k**4 * square[:, 0] ** 2)
        for array, expected in zip(found(q, k), right, strict=True):
            np.testing.assert_allclose(array, expected, rtol=1e-12)

    def test_a_rollout_inside_jit(self, roll, given):
        import jax
        layer = roll.for_jax(**RUN)

        def loss(q, qd, tau):
            at, speed = layer(q, qd, tau=tau)
            return (at**2).sum() + (speed[..., -1, :] ** 4).sum()
        value, found = jax.jit(jax.value_and_grad(loss, argnums=(0, 1, 2)))(*given.values())
        trajectory = roll(**given, **RUN)
        assert value == pytest.approx((trajectory.q**2).sum() + (trajectory.qd[:, -1] ** 4).sum(), rel=1e-13)
        weights = {"q": 2 * trajectory.q, "qd": np.zeros((4, 3, 1))}
        weights["qd"][:, -1] = 4 * trajectory.qd[:, -1] ** 3
        for array, right in zip(found, roll.vjp(**given, weights=weights, **RUN).values(), strict=True):
            np.testing.assert_allclose(array, right, rtol=1e-12)

    def test_what_a_rollout_is_not(self, roll, given, cupy):
        import jax
        layer = roll.for_jax(**RUN)

        def slope(q):
            return jax.grad(lambda q: layer(q, given["qd"], given["tau"])[0].sum())(q).sum()
        for twice in (jax.grad(slope), jax.jit(jax.grad(slope)), jax.jacrev(slope)):
            with pytest.raises(UnsupportedError, match="the rollout of rods is differentiated once"):
                twice(given["q"])
        with pytest.raises(UnsupportedError, match=r"take the layer of the rollout itself, not of the one on cuda"):
            roll.on("cuda").for_jax(**RUN)
        with pytest.raises(ConventionError, match="must be a multiple"):
            roll.for_jax(step=0.02, steps=10, every=3)

    def test_single_precision_and_words(self, roll):
        import jax.numpy as jnp
        f = bend.for_jax()
        assert f(jnp.ones(2, jnp.float32), jnp.float32(2.0))[0].dtype == jnp.float32
        with pytest.raises(SignatureError, match="'q' of bend is bfloat16"):
            f(jnp.ones(2, jnp.bfloat16), 2.0)
        with pytest.raises(SignatureError, match="bend takes no 'p'; it takes q, k"):
            f(jnp.ones(2), p=2.0)
        with pytest.raises(SignatureError, match=r"do not go together: q \(2,\), k \(3,\)"):
            f(jnp.ones((2, 1)), jnp.ones(3))
        with pytest.raises(SignatureError, match="rollout of rods takes q, qd, tau: qd is missing"):
            roll.for_jax(**RUN)(jnp.ones(1))
        with pytest.raises(SignatureError, match=r"'tau' of the rollout of rods has the shape \(..., 10, 1\)"):
            roll.for_jax(**RUN)(jnp.ones(1), jnp.ones(1), jnp.ones((9, 1)))


class TestTorch:
    @pytest.fixture(autouse=True)
    def torch(self):
        return pytest.importorskip("torch")

    def test_a_kernel_by_torchs_own_check(self, torch):
        q = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
        k = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
        f = bend.for_torch()
        assert torch.autograd.gradcheck(f, (q, k))
        bent, square = f(q, k=k)
        np.testing.assert_allclose(bent.detach(), (k * torch.sin(q)).detach(), rtol=1e-14)
        np.testing.assert_allclose(square.detach(), (k * k * (q * q).sum(-1)).detach(), rtol=1e-14)

    def test_a_rollout_as_a_layer_that_learns(self, torch, roll, given):
        layer = roll.for_torch(**RUN)
        tensors = {n: torch.tensor(a, requires_grad=True) for n, a in given.items()}
        assert torch.autograd.gradcheck(layer, tuple(tensors.values()), atol=1e-6)
        q, qd = layer(**tensors)
        loss = (q**2).sum() + (qd[..., -1, :] ** 4).sum()
        loss.backward()
        weights = {"q": 2 * q.detach().numpy(), "qd": np.zeros((4, 3, 1))}
        weights["qd"][:, -1] = 4 * qd.detach().numpy()[:, -1] ** 3
        right = roll.vjp(**given, weights=weights, **RUN)
        for n, tensor in tensors.items():
            np.testing.assert_allclose(tensor.grad, right[n], rtol=1e-12)

    def test_a_network_in_front(self, torch, roll, given):
        torch.manual_seed(0)
        network = torch.nn.Linear(2, 10).double()
        layer = roll.for_torch(**RUN)
        q, qd = torch.tensor(given["q"]), torch.tensor(given["qd"]).expand(4, 1)
        optimiser = torch.optim.Adam(network.parameters(), lr=0.3)
        losses = []
        for _ in range(30):
            tau = network(torch.cat([q, qd], -1))[..., None]
            loss = ((layer(q, qd, tau)[0][:, -1] - 0.5) ** 2).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
        assert losses[-1] < 0.1 * losses[0]

    def test_what_is_written_over_is_seen(self, torch):
        q = torch.ones(3, dtype=torch.float64)
        k = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
        total = bend.for_torch()(q, k)[1]
        q += 1.0
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            total.backward()

    def test_words(self, torch):
        f = bend.for_torch()
        assert f(torch.ones(2), torch.tensor(2.0))[0].dtype == torch.float32
        with pytest.raises(SignatureError, match=r"'q' of bend is torch.float16"):
            f(torch.ones(2, dtype=torch.float16), 2.0)

    def test_second_derivatives_of_kernels_and_none_of_rollouts(self, torch, roll, given):
        q = torch.randn(2, dtype=torch.float64, requires_grad=True)
        k = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradgradcheck(bend.for_torch(), (q, k))
        tau = torch.tensor(given["tau"], requires_grad=True)
        end = roll.for_torch(**RUN)(torch.tensor(given["q"]), torch.tensor(given["qd"]), tau)[0].sum()
        with pytest.raises(UnsupportedError, match="rollout of rods is differentiated once"):
            torch.autograd.grad(end, tau, create_graph=True)

    def test_compiled_functions_break_around_it(self, torch):
        f = bend.for_torch()

        def total(q):
            return f(q + 1.0, 2.0)[1].sum()
        q = torch.ones(3, dtype=torch.float64)
        with pytest.raises(Exception, match="a kernel of Cayley is compiled already"):
            torch.compile(total, fullgraph=True, backend="eager")(q)
        assert torch.compile(total, backend="eager")(q) == total(q)


def test_a_system_with_one_block():
    jax = pytest.importorskip("jax")
    decay = System("decay", state={"x": ""}, parameters={"k": 2.0}, derivative=lambda t, x, u, p: -p.k * x.x)
    layer = decay.rollout(parameters=["k"]).for_jax(step=0.01, steps=100, every=100)
    with jax.enable_x64(True):
        slope = jax.grad(lambda k: layer(x=1.0, k=k)[-1])(0.5)
        assert slope == pytest.approx(-np.exp(-0.5), rel=1e-9)
