"""`scenlint init`."""

import tomllib

import jsonschema

from scenlint import config
from scenlint.cli.init import template


def uncommented():
    """The file with all of its settings switched on: comment lines have a space after `#`, settings have none."""
    lines = template().splitlines()
    return "\n".join(line[1:] if line.startswith("#") and not line.startswith("# ") else line for line in lines)


def test_file_as_written_changes_nothing(tmp_path, scenlint):
    assert scenlint("init").stdout == "wrote scenlint.toml\n"
    assert tomllib.loads((tmp_path / "scenlint.toml").read_text("utf-8")) == {}
    settings = config.read(tmp_path / "scenlint.toml")
    assert settings == config.Settings(root=tmp_path, file=tmp_path / "scenlint.toml")


def test_every_key_of_the_schema_is_there_and_valid(tmp_path):
    values = tomllib.loads(uncommented())
    assert set(values) == set(config.KEYS)
    jsonschema.Draft202012Validator(config.schema()).validate(values)
    (tmp_path / "scenlint.toml").write_text(uncommented(), "utf-8")
    (tmp_path / "requirements.lock").write_text("requests==2.32.3\n")
    settings = config.read(tmp_path / "scenlint.toml")
    assert settings.fail_on == config.Settings(root=tmp_path).fail_on
    assert settings.policy.profile == config.Policy().profile
    assert settings.suppressions[0].path == "tasks/crm/create-lead/meta.json"


def test_every_key_is_explained_on_the_line_above(tmp_path):
    text = template()
    for _, _, words in config.KEYS.values():
        assert f"\n# {words}" in text


def test_existing_file_is_kept_without_force(tmp_path, scenlint):
    target = tmp_path / "scenlint.toml"
    target.write_text('profile = "harbor"\n', "utf-8")
    done = scenlint("init")
    assert done.returncode == 2
    assert done.stderr == "scenlint: scenlint.toml exists; `--force` overwrites it\n"
    assert target.read_text("utf-8") == 'profile = "harbor"\n'
    assert scenlint("init", "--force").returncode == 0
    assert target.read_text("utf-8") == template()


def test_folder_that_is_not_there(scenlint):
    done = scenlint("init", "no/such")
    assert done.returncode == 2
    assert done.stderr == "scenlint: no/such/scenlint.toml: No such file or directory\n"
