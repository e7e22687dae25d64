"""Compares the bill in /app/out/dues.json with what the harbour's accountants worked out for the same exports."""
import json
import os
import unittest

DUES = {
    "9175978": 78975,
    "9313272": 5712057,
    "9319873": 742664,
    "9337679": 6367608,
    "9416019": 4258644,
    "9469236": 938418,
    "9486751": 6437574,
    "9513536": 3844230,
    "9609486": 3208816,
    "9662137": 82212,
    "9745252": 12908610,
    "9756950": 1578850,
    "9806693": 1158898,
    "9809670": 13385814,
    "9819095": 2908659,
    "9928141": 15338895,
    "9935094": 8863140,
    "9944443": 1124682,
    "9991985": 2782338,
}


def regular(path, flags):
    """How open() opens here: it follows no link, which could lead to this very file, and waits at no pipe."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


class Bill(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open("/app/out/dues.json", encoding="utf-8", opener=regular) as file:
            cls.bill = json.load(file)

    def test_calls(self):
        """Criterion 1: `calls` counts each call once, by its highest revision, without the cancelled ones."""
        self.assertEqual(self.bill["calls"], 85)

    def test_cancelled(self):
        """Criterion 2: `cancelled` counts the calls whose highest revision is cancelled."""
        self.assertEqual(self.bill["cancelled"], 8)

    def test_superseded(self):
        """Criterion 3: `superseded` counts the rows that a higher revision replaces."""
        self.assertEqual(self.bill["superseded"], 51)

    def test_dues(self):
        """Criterion 4: `dues` has what every ship with a charged call owes, in cents, and no other ship."""
        self.assertEqual(self.bill["dues"], DUES)

    def test_keys(self):
        """Criterion 5: these four keys and no others."""
        self.assertEqual(set(self.bill), {"calls", "cancelled", "superseded", "dues"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
