"""No secret's value is ever shown: whole, cut off, glued to a name, or as a password in a URL."""

import pytest

from scenlint.report.style import decoded, visible
from scenlint.source.secrets import cut, redact

TOKEN = "ghp_" + "Zx9" * 12
AWS = "AKIA" + "QWERTYUIOPASDFGH"


@pytest.mark.parametrize("text", [TOKEN, f"token_{TOKEN}", AWS, f"tok_{AWS}", f"tok_{AWS}_1", f"`{TOKEN[:30]}…`"])
def test_a_token_is_blanked_out_wherever_it_stands(text):
    shown = redact(text)
    assert "Zx9" not in shown
    assert "QWERTY" not in shown
    assert len(shown) == len(text)


def test_a_password_in_a_url_is_blanked_out_and_its_host_is_not():
    shown = redact("see https://bot:Xk29fjQw83zP@db.corp.net/x and http://a.net")
    assert shown == "see https://bot:************@db.corp.net/x and http://a.net"


def test_text_is_cut_after_its_secrets_are_blanked_out():
    assert cut("short", 10) == "short"
    assert cut("x " + TOKEN, 12) == "x *********…"


def test_whatever_is_printed_is_without_secrets():
    assert "Zx9" not in visible(TOKEN) + decoded(TOKEN)
