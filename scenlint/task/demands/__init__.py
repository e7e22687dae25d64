"""What a verifier demands of the agent's work: paths, keys, names, wordings and thresholds, each once, with its place.

The rules about unstated and contradicted demands read these; what the agent can see is asked of `Demand.visible`.
"""

from scenlint.task.demands.base import Demand
from scenlint.task.demands.bounds import thresholds
from scenlint.task.demands.code import names
from scenlint.task.demands.fields import keys
from scenlint.task.demands.files import paths
from scenlint.task.demands.texts import wordings

__all__ = ["Demand", "keys", "names", "paths", "thresholds", "wordings"]
