"""Environments for learners: Gymnasium's checker, equal bytes of equal seeds, vectors and single ones, errors."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import textwrap
import time
import warnings

import gymnasium
import lasthop as lh
import lasthop.gym
import numpy as np
import pytest
from conftest import ROOT
from gymnasium.utils.env_checker import check_env
from lasthop.gym.environments import VALUES

IDS = [f"lasthop/{name}-v0" for name in ("Handover", "Geo", "Leo", "Hsdpa", "Random")]
ACTIONS = ["rate-multiplier", "window-steps", "window-and-rate"]


def path(rate="10 Mbit/s", **flow) -> lh.Scenario:
    """A link with a round trip of 30 ms."""
    link = lh.Link(name="l", between=["a", "b"], rate=rate, delay="15 ms", loss={"bernoulli": {"p": 0.001}})
    return lh.load(duration="60 s", link=[link], flow=[lh.Flow(name="f", from_="a", to="b", **flow)])


def led(environment, steps, seed=7, actions=0):
    """What random actions give, step by step, over several episodes."""
    environment.action_space.seed(actions)
    observation, info = environment.reset(seed=seed)
    found = [(observation, info)]
    for _ in range(steps):
        observation, reward, terminated, truncated, info = environment.step(environment.action_space.sample())
        found.append((observation, reward, terminated, truncated, info))
        if terminated or truncated:
            found.append(environment.reset())
    return found


def written(value) -> bytes:
    """A result, bit by bit."""
    if isinstance(value, np.ndarray):
        return value.tobytes()
    if isinstance(value, (list, tuple)):
        return b"".join(map(written, value))
    if isinstance(value, dict):
        return b"".join(key.encode() + written(one) for key, one in value.items())
    return repr(value).encode()


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("name", IDS)
def test_gymnasiums_checker_finds_nothing(name, action):
    environment = gymnasium.make(name, action=action, episode="5 s")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # The features have no common bounds.
        warnings.filterwarnings("ignore", message=".*infinity. This is probably too (low|high).*")
        check_env(environment.unwrapped)


@pytest.mark.parametrize("name", IDS)
def test_equal_seeds_and_actions_give_equal_bytes(name):
    made = [led(gymnasium.make(name, episode="3 s").unwrapped, 150) for _ in range(2)]
    assert written(made[0]) == written(made[1])
    other = led(gymnasium.make(name, episode="3 s").unwrapped, 150, actions=1)
    assert written(made[0]) != written(other)


def test_the_seed_is_that_of_the_run():
    environments = [lasthop.gym.Env(path(), "f") for _ in range(2)]
    one, other = (written(led(env, 300, seed=seed)) for env, seed in zip(environments, (1, 2), strict=True))
    assert one != other
    # Without a seed each episode is another one; with a seed they are the same sequence again.
    environment = environments[0]
    environment.reset(seed=3)
    first = [written(led(environment, 300, seed=None)) for _ in range(2)]
    environment.reset(seed=3)
    assert [written(led(environment, 300, seed=None)) for _ in range(2)] == first and first[0] != first[1]


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("action", ACTIONS)
def test_a_vector_does_what_single_environments_do(name, action):
    count, steps, arguments = 3, 120, {"episode": "2 s", "action": action, "history": 4}
    make = {"vectorization_mode": "vector_entry_point", "num_envs": count}
    vectors = [gymnasium.make_vec(name, **make, **arguments, threads=threads) for threads in (1, 2, 5)]
    assert isinstance(vectors[0], lasthop.gym.VectorEnv)
    # Gymnasium's own vector of single environments follows its rule of the next step.
    vectors.append(gymnasium.make_vec(name, num_envs=count, vectorization_mode="sync", **arguments))
    space = vectors[0].action_space
    assert all(vector.action_space == space for vector in vectors)
    assert all(vector.observation_space == vectors[0].observation_space for vector in vectors)
    space.seed(1)
    actions = [space.sample() for _ in range(steps)]
    found = []
    for vector in vectors:
        seen = [vector.reset(seed=11)[0]]
        for one in actions:
            *step, infos = vector.step(one)
            seen += step
            assert np.array_equal(infos["time"].astype(float), infos["time"])
        found.append(written(seen))
        assert found[-1] == found[0]
    # Several episodes have ended.
    assert sum(ended.sum() for ended in seen[4::4]) > count
    assert not any(ended.any() for ended in seen[3::4])


def test_observations_are_copies_and_the_newest_step_stands_last():
    environment = lasthop.gym.Env(path(), "f", history=3)
    first, _ = environment.reset(seed=1)
    assert first.shape == (3, 12) and first.dtype == np.float32 and not first[:2].any() and first[2].any()
    second, *_ = environment.step(np.array([1.0], np.float32))
    third, *_ = environment.step(np.array([1.0], np.float32))
    assert not first[:2].any()
    assert np.array_equal(third[:2], second[1:]) and np.array_equal(second[1], first[2])
    some = lasthop.gym.Env(path(), "f", history=1, observation=("loss", "latency_ratio"))
    observation, _ = some.reset(seed=1)
    assert observation.shape == (1, 2)
    names = list(lasthop.gym.DEFAULT)
    assert observation[0].tolist() == [first[2][names.index("loss")], first[2][names.index("latency_ratio")]]


def test_rewards_are_their_formulas_and_may_be_the_callers_own():
    def aurora(info):
        latency = info["rtt"] if info["rtt"] is not None else info["srtt"]
        loss = info["lost"] / (info["lost"] + info["delivered"]) if info["lost"] + info["delivered"] else 0.0
        return 10 * info["delivered"] / info["segment"] / info["duration"] - 1000 * latency - 2000 * loss

    def power(info):
        latency = info["rtt"] if info["rtt"] is not None else info["srtt"]
        return np.log(max(1.0, info["delivered"] / info["segment"] / info["duration"])) - 0.5 * np.log(latency)

    for name, own in {"aurora": aurora, "power": power}.items():
        rewards = [
            [one[1] for one in led(lasthop.gym.Env(path("1 Mbit/s"), "f", reward=reward), 400)[1:] if len(one) == 5]
            for reward in (name, own)
        ]
        assert np.allclose(*rewards, rtol=1e-12, atol=1e-9)
        vector = lasthop.gym.VectorEnv(2, scenario=path("1 Mbit/s"), flow="f", reward=own, episode="1 s")
        known = lasthop.gym.VectorEnv(2, scenario=path("1 Mbit/s"), flow="f", reward=name, episode="1 s")
        vector.reset(seed=1), known.reset(seed=1)
        for _ in range(100):
            action = np.ones((2, 1), np.float32)
            assert np.allclose(vector.step(action)[1], known.step(action)[1], rtol=1e-12, atol=1e-9)


def test_info_has_values_and_none_where_nothing_is_known():
    environment = lasthop.gym.Env(path(), "f")
    _, info = environment.reset(seed=1)
    assert tuple(info) == VALUES and info["since_loss"] is None and info["segment"] == 1460
    # An empty link: 30 ms, 1.2 ms for a packet, 32 µs for its acknowledgement and 32 µs for that of the handshake.
    assert info["rtt"] == pytest.approx(0.031264) == info["min_rtt"]
    vector = lasthop.gym.VectorEnv(2, scenario=path(), flow="f")
    _, infos = vector.reset(seed=1)
    assert tuple(infos) == VALUES and np.isnan(infos["since_loss"]).all() and infos["rtt"].tolist() == [info["rtt"]] * 2


def test_options_change_the_scenario_for_one_episode():
    environment = lasthop.gym.Env(path("10 Mbit/s"), "f", action="window-steps", history=1)

    def fastest(options):
        environment.reset(seed=1, options=options)
        for action in [4, 4, 4, *[2] * 100]:
            *_, info = environment.step(action)
        return info["max_delivery_rate"] * 1500 / 1460

    assert fastest({"rate": "5 Mbit/s"}) == pytest.approx(5e6, rel=0.01)
    assert fastest(None) == pytest.approx(10e6, rel=0.01)
    assert fastest({"link.0.rate": "2 Mbit/s"}) == pytest.approx(2e6, rel=0.01)
    assert fastest({"link.l.rate": "3 Mbit/s", "link.l.delay": "1 ms"}) == pytest.approx(3e6, rel=0.01)
    with pytest.raises(lh.ScenarioError, match="unknown field"):
        environment.reset(options={"speed": "5 Mbit/s"})
    with pytest.raises(gymnasium.error.ResetNeeded):
        environment.step(0)
    two = lh.load(
        link=[
            lh.Link(name="x", between=["a", "r"], rate="1 Mbit/s", delay="1 ms"),
            lh.Link(name="y", between=["r", "b"], rate="1 Mbit/s", delay="1 ms"),
        ],
        flow=[lh.Flow(name="f", from_="a", to="b")],
    )
    with pytest.raises(lh.ScenarioError, match=r"rate of which link\? Write link.NAME.rate; known: x, y"):
        lasthop.gym.Env(two, "f").reset(options={"rate": "2 Mbit/s"})


def test_a_short_option_names_a_link_with_a_dot():
    dotted = lh.load(path().to_dict() | {"link": [path().to_dict()["link"][0] | {"name": "radio.down"}]})
    environment = lasthop.gym.Env(dotted, "f")
    _, info = environment.reset(seed=1, options={"delay": "50 ms"})
    assert info["rtt"] > 0.1


def test_a_field_of_which_link_where_there_is_none():
    environment = gymnasium.make("lasthop/Leo-v0")
    with pytest.raises(lh.ScenarioError, match="rate of which link"):
        environment.reset(seed=1, options={"rate": "1 Mbit/s"})


def test_random_paths_differ_from_episode_to_episode():
    environment = gymnasium.make("lasthop/Random-v0").unwrapped
    delays = {environment.reset(seed=seed)[1]["min_rtt"] for seed in (1, 2, 1)}
    assert len(delays) == 2 and all(0.1 < delay < 1.2 for delay in delays)


def test_a_transfer_terminates_and_time_truncates():
    file = lasthop.gym.Env(path(source={"file": {"size": "200 kB"}}), "f", action="window-steps")
    file.reset(seed=1)
    while True:
        *_, terminated, truncated, info = file.step(2)
        if terminated or truncated:
            break
    assert terminated and not truncated and info["time"] < 2
    with pytest.raises(gymnasium.error.ResetNeeded):
        file.step(2)
    greedy = lasthop.gym.Env(path(), "f", action="window-steps", episode="1 s")
    greedy.reset(seed=1)
    while not greedy.step(2)[3]:
        pass
    assert greedy.reset()[1]["time"] < 0.1


@pytest.mark.parametrize(
    ("action", "wrong", "message"),
    [
        ("rate-multiplier", [1.5], r"action\[0\] is 1.5: it must be a number from -1 to 1"),
        ("rate-multiplier", [np.nan], r"action\[0\] is NaN: it must be a number from -1 to 1"),
        ("rate-multiplier", 0.5, r"an action of shape \(\): it must be \(1,\)"),
        ("rate-multiplier", ["fast"], "could not convert string"),
        ("window-steps", 5, r"action\[0\] is 5: it must be a whole number from 0 to 4"),
        ("window-steps", None, r"action\[0\] is NaN: it must be a whole number from 0 to 4"),
        ("window-and-rate", [0.5, -0.1], r"action\[1\] is -0.1: it must be a number from 0 to 1"),
    ],
)
def test_wrong_actions_are_named_and_take_no_step(action, wrong, message):
    environment = lasthop.gym.Env(path(), "f", action=action)
    environment.reset(seed=1)
    right = {"rate-multiplier": [0.0], "window-steps": 2, "window-and-rate": [0.5, 0.5]}[action]
    *_, before = environment.step(right)
    with pytest.raises(lh.ControllerError, match=message) as caught:
        environment.step(wrong)
    assert (caught.value.flow, caught.value.hook) == ("f", "action")
    assert caught.value.time_s == pytest.approx(before["time"]) and caught.value.__cause__ is not None
    # Nothing has happened: the next step is that of an environment that never saw it.
    *_, after = environment.step(right)
    other = lasthop.gym.Env(path(), "f", action=action)
    other.reset(seed=1), other.step(right)
    assert other.step(right)[-1] == after
    vector = lasthop.gym.VectorEnv(2, scenario=path(), flow="f", action=action)
    vector.reset(seed=1)
    with pytest.raises(lh.ControllerError):
        vector.step([right, wrong])


def test_a_wrong_action_leaves_the_vector_as_it_was_though_an_episode_has_ended():
    """The next step still begins the episode that follows the ended one."""

    def drawn(rng):
        return path().with_({"link.l.delay": f"{rng.uniform(10, 40):.6f} ms"})

    found = []
    for wrong in (False, True):
        vector = lasthop.gym.VectorEnv(2, scenario=drawn, flow="f", episode="1 s", action="window-steps")
        vector.reset(seed=1)
        ended = np.zeros(2, bool)
        while not ended.any():
            *_, ended, _ = vector.step([2, 2])
        assert not ended.all()
        if wrong:
            with pytest.raises(lh.ControllerError, match=r"action\[0\] is 9"):
                vector.step(np.where(ended, 2, 9))
        found.append(written(vector.step([2, 2])))
    assert found[0] == found[1]


def test_a_step_that_failed_asks_for_a_reset():
    """The scenario of the next episode cannot be drawn."""
    made = iter(range(4))

    def drawn(_):
        if next(made) == 3:
            raise LookupError("no more paths")
        return path()

    vector = lasthop.gym.VectorEnv(2, scenario=drawn, flow="f", episode="1 s", step="100 ms", action="window-steps")
    vector.reset(seed=1)
    with pytest.raises(LookupError):
        while True:
            vector.step([2, 2])
    with pytest.raises(gymnasium.error.ResetNeeded):
        vector.step([2, 2])


def test_a_reward_that_fails_does_not_hide_the_end_of_the_episode():
    def fails(info):
        raise LookupError(f"no reward for {info}")

    environment = lasthop.gym.Env(path(), "f", reward=fails, episode="1 s", step="2 s")
    environment.reset(seed=1)
    with pytest.raises(LookupError):
        environment.step(np.zeros(1, np.float32))
    with pytest.raises(gymnasium.error.ResetNeeded):
        environment.step(np.zeros(1, np.float32))


@pytest.mark.parametrize("reward", ["aurora", "power"])
def test_rewards_are_finite_where_nothing_comes_back_before_the_end(reward):
    """The round trip is longer than the episode: `reset` goes on to its end, and the only step has no length."""
    scenario = path().with_({"link.l.delay": "600 ms"})
    environment = lasthop.gym.Env(scenario, "f", reward=reward, episode="1 s")
    _, info = environment.reset(seed=1)
    assert info["time"] == 1 and info["rtt"] is None
    _, worth, terminated, truncated, info = environment.step(np.zeros(1, np.float32))
    assert truncated and not terminated and info["duration"] == 0
    # Nothing was delivered, and a sender takes 1 s for a round trip (RFC 6298 §2.1).
    assert worth == {"aurora": -1000.0, "power": 0.0}[reward]


def test_beside_a_learner_no_controller_is_in_python():
    class Media(lh.MediaController):
        pass

    class Window(lh.Controller):
        pass

    for transport in ({"media": {"congestion": Media}}, {"tcp": {"congestion": Window}}):
        other = lh.Flow(name="g", from_="a", to="b", transport=transport, source="encoder")
        link = lh.Link(name="l", between=["a", "b"], rate="1 Mbit/s", delay="5 ms")
        both = lh.load(duration="5 s", link=[link], flow=[lh.Flow(name="f", from_="a", to="b"), other])
        with pytest.raises(lh.ScenarioError, match='flow "g" has a controller in Python'):
            lasthop.gym.Env(both, "f")


def test_whole_numbers_of_numpy_are_whole_numbers():
    vector = lasthop.gym.VectorEnv(np.int64(2), scenario=path(), flow="f", history=np.int32(3), threads=np.uint8(2))
    assert vector.reset(seed=1)[0].shape == (2, 3, 12) and vector.num_envs == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_threads_that_a_fork_has_not_are_not_waited_for():
    script = """
    import os
    import numpy as np, lasthop as lh, lasthop.gym

    link = lh.Link(name="l", between=["a", "b"], rate="1 Mbit/s", delay="15 ms")
    path = lh.load(duration="60 s", link=[link], flow=[lh.Flow(name="f", from_="a", to="b")])
    for threads in (2, 1):
        vector = lasthop.gym.VectorEnv(2, scenario=path, flow="f", threads=threads)
        vector.reset(seed=1)
        if os.fork() == 0:
            try:
                vector.step(np.zeros((2, 1), np.float32))
                print("a step", flush=True)
            except RuntimeError as error:
                print(error, flush=True)
            os._exit(0)
        os.wait()
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60)
    first, second = done.stdout.splitlines()
    assert "made in another process" in first and second == "a step"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_may_drop_the_environments_that_it_inherits():
    script = """
    import gc, os, signal
    import numpy as np, lasthop as lh, lasthop.gym

    link = lh.Link(name="l", between=["a", "b"], rate="1 Mbit/s", delay="15 ms")
    path = lh.load(duration="60 s", link=[link], flow=[lh.Flow(name="f", from_="a", to="b")])

    def made():
        vector = lasthop.gym.VectorEnv(3, scenario=path, flow="f", threads=3)
        vector.reset(seed=1)
        vector.step(np.zeros((3, 1), np.float32))
        return vector

    vector = made()
    if (child := os.fork()) == 0:
        signal.alarm(20)
        del vector
        gc.collect()
        vector = made()
        del vector
        gc.collect()
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    vector.step(np.zeros((3, 1), np.float32))
    print(status)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60)
    assert done.stdout == "0\n", done.stderr


def test_a_thousand_environments_begin_their_episodes_in_time():
    """Each beginning writes its own results, and not those of all."""
    taken = []
    for count in (250, 1000):
        vector = lasthop.gym.VectorEnv(count, scenario=path(), flow="f")
        vector.reset(seed=1)
        began = time.process_time()
        vector.reset(seed=1)
        taken.append(time.process_time() - began)
    # Four times as many take four times as long; they took sixteen times.
    assert taken[1] < 9 * taken[0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"step": "soon"}, 'step = "soon": write'),
        ({"action": "jump"}, "action = 'jump': choose rate-multiplier, window-steps, window-and-rate"),
        ({"observation": ("loss", "mood")}, 'observation = "mood": choose send_ratio'),
        ({"observation": ()}, "observation is empty: choose some of lasthop.gym.DEFAULT"),
        ({"reward": "praise"}, 'reward = "praise": choose aurora, power'),
        ({"history": 0}, "history is 0: it must be a whole number, at least 1"),
        ({"episode": "0 s"}, "episode is '0 s': it must be a time"),
        ({"episode": "soon"}, "episode is 'soon': it must be a time"),
        ({"episode": None}, "episode is None: it must be a time"),
        ({"step": 0.01}, "step is 0.01: it must be text such as 'rtt/2'"),
        ({"flow": "g"}, 'there is no flow "g"'),
        ({"scenario": path(transport={"udp": {}}, source={"cbr": {}})}, 'flow "f" has no congestion window'),
    ],
)
def test_wrong_parameters_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        lasthop.gym.Env(**{"scenario": path(), "flow": "f", **changes})


def test_a_missing_gymnasium_is_named():
    code = "import sys; sys.modules['gymnasium'] = None; import lasthop.gym"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert "lasthop.gym needs gymnasium, which is not installed: python -m pip install 'lasthop[rl]'" in done.stderr


def test_a_learner_of_sixty_lines_beats_random_and_one_that_wants_the_opposite_does_not_learn_it():
    file = ROOT / "examples" / "gym" / "learner.py"
    spec = importlib.util.spec_from_file_location("learner", file)
    learner = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(learner)
    for seed in (1, 2, 3):
        rng = np.random.default_rng(seed)
        random = learner.score(lambda x: rng.uniform(-1, 1, len(x)), seed=1000 + seed)  # noqa: B023
        scores = {}
        for sign in (1.0, -1.0):
            weights = learner.learn(seed=seed, sign=sign)
            scores[sign] = learner.score(lambda x: np.clip(x @ weights, -1, 1), seed=1000 + seed)  # noqa: B023
        assert scores[1.0] > random > scores[-1.0]
