"""Attacks on a verifier: each probe is a small agent that tries to get the score without the work, one file each."""

from __future__ import annotations

from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import Probe, load_probes, probe
from scenlint.dynamic.probes.ground import Ground
from scenlint.dynamic.probes.maker import plan
from scenlint.dynamic.probes.outcome import Told, judge, without_control

__all__ = ["Attack", "Ground", "Probe", "Told", "judge", "load_probes", "plan", "probe", "without_control"]
