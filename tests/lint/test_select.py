"""Which rules a selection leaves."""

import pytest

from scenlint.config import ConfigError, Settings
from scenlint.lint.engine import Engine


def test_a_selection_that_leaves_no_rule_is_refused(tmp_path):
    settings = Settings(root=tmp_path)
    with pytest.raises(ConfigError, match="what is ignored takes away all that is selected"):
        Engine(settings.override(select=["SL3"], ignore=["SL3"]))


def test_a_configured_selection_of_unknown_rules_is_refused_by_their_names(tmp_path, scenlint, harbor_task):
    (tmp_path / "scenlint.toml").write_text('select = ["no-such"]\n')
    result = scenlint("check", harbor_task)
    assert result.returncode == 2
    assert "no rule is called `no-such`" in result.stderr
