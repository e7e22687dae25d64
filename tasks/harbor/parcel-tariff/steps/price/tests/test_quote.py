"""Runs /app/bin/quote.py on parcels that the agent has not seen."""
import os
import subprocess
import sys
import tempfile
import unittest

HEAD = "id,postcode,grams,length_mm,width_mm,height_mm"


def quoted(table):
    """What the submission prints for a table of parcels, run as nobody in a folder of its own."""
    with tempfile.TemporaryDirectory() as box:
        os.chmod(box, 0o755)
        with open(f"{box}/table.csv", "w", encoding="ascii") as file:
            file.writelines(line + "\n" for line in table)
        run = subprocess.run(
            [sys.executable, "-I", "/app/bin/quote.py", f"{box}/table.csv"],
            user="nobody", group="nogroup", extra_groups=[], cwd=box, env={},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=10, check=True,
        )
    return run.stdout.splitlines()


class Prices(unittest.TestCase):
    def test_lines(self):
        """Criterion 1: one line of identifier and price for each parcel, in the order of the file."""
        table = [HEAD, "z9,10115,300,100,100,100", "a1,20095,300,100,100,100", "m5,40210,300,100,100,100"]
        self.assertEqual(quoted(table), ["z9,480", "a1,550", "m5,650"])

    def test_longest_prefix(self):
        """Criterion 2: the longest prefix decides, wherever it stands in the table."""
        codes = {"31199": 650, "31200": 480, "30999": 550, "70110": 1240, "70129": 550, "71000": 650, "12043": 550}
        table = [HEAD, *(f"p{code},{code},250,50,50,50" for code in codes)]
        self.assertEqual(quoted(table), [f"p{code},{price}" for code, price in codes.items()])

    def test_no_zone(self):
        """Criterion 3: `unknown` for a postcode with which no prefix agrees, one with a leading zero too."""
        table = [HEAD, "a,60311,100,10,10,10", "b,01067,100,10,10,10", "c,80331,9000,900,900,900", "d,10115,1,1,1,1"]
        self.assertEqual(quoted(table), ["a,unknown", "b,unknown", "c,unknown", "d,480"])

    def test_volume_weight(self):
        """Criterion 4: the greater of weight and unrounded volume weight is charged."""
        table = [
            HEAD,
            "even,10115,10,250,100,100",  # 2 500 000 / 5000 = 500 g
            "bit,10115,10,2500001,1,1",  # 0.0002 g more
            "big,10115,10,400,300,250",  # 6000 g
            "heavy,10115,6100,400,300,250",
        ]
        self.assertEqual(quoted(table), ["even,480", "bit,540", f"big,{480 + 11 * 60}", f"heavy,{480 + 12 * 60}"])

    def test_steps(self):
        """Criterion 5: a step for each further 500 grams that are begun."""
        prices = {1: 1240, 500: 1240, 501: 1410, 1000: 1410, 1001: 1580, 30000: 1240 + 59 * 170}
        table = [HEAD, *(f"g{grams},90402,{grams},10,10,10" for grams in prices)]
        self.assertEqual(quoted(table), [f"g{grams},{price}" for grams, price in prices.items()])

    def test_no_parcels(self):
        """Criterion 6: a file without parcels prints nothing."""
        self.assertEqual(quoted([HEAD]), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
