"""No secret's value is ever shown: whole, cut off, glued to a name, or as a password in a URL."""

import pytest

from scenlint.report.style import decoded, visible
from scenlint.source.secrets import KINDS, cut, find_secrets, redact

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


# Made up, and put together here so that nobody who scans this repository takes them for real.
B = "aB3" * 30
EXAMPLES = {
    "AWS access key": AWS,
    "GitHub token": TOKEN,
    "OpenAI key": "sk-" + B,
    "Slack token": "xox" + "b-" + B,
    "Google API key": "AIza" + B[:35],
    "Stripe key": "sk_" + "live_" + B,
    "Hugging Face token": "hf_" + B,
    "AWS secret key": "Secret_" + 'Access_Key="' + B[:40],
    "npm token": "npm_" + B[:36],
    "PyPI token": "pypi-" + "AgEI" + B,
    "SendGrid key": "SG." + B[:22] + "." + B[:43],
    "Slack webhook": "hooks.slack" + ".com/services/T12345678/B12345678/" + B,
    "Groq key": "gsk_" + B,
    "DigitalOcean token": "dop_" + "v1_" + "0a" * 32,
    "GitLab token": "glpat-" + B,
    "JSON web token": "eyJ" + B[:20] + ".eyJ" + B[:20] + "." + B,
    "private key": "-----BEGIN RSA " + "PRIVATE KEY-----\nabc\n",
}


def test_every_kind_has_an_example():
    assert EXAMPLES.keys() == KINDS.keys()


@pytest.mark.parametrize("kind", EXAMPLES)
def test_every_kind_is_found_and_blanked_out(kind):
    text = f"x = {EXAMPLES[kind]} and so on"
    assert kind in [found for found, _ in find_secrets(text)]
    assert redact(text) != text
