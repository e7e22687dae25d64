"""What a verifier demands of the agent's work: paths, keys, names, wordings and thresholds, each once, with its place.

The rules about unstated and contradicted demands read these; what the agent can see is asked of `Demand.visible`.
"""

from scenlint.task.demands.base import Demand
from scenlint.task.demands.keys import keys
from scenlint.task.demands.names import names
from scenlint.task.demands.paths import paths
from scenlint.task.demands.thresholds import thresholds
from scenlint.task.demands.wordings import wordings

__all__ = ["Demand", "keys", "names", "paths", "thresholds", "wordings"]
