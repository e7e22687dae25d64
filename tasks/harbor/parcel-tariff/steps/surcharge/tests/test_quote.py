"""Runs the changed /app/bin/quote.py on dated and undated parcels that the agent has not seen."""
import os
import subprocess
import sys
import tempfile
import unittest

HEAD = "id,postcode,grams,length_mm,width_mm,height_mm,date"


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


class Surcharge(unittest.TestCase):
    def test_surcharge(self):
        """Criterion 1: 7.5 % from 2031-03-01 on, rounded to a whole cent, half a cent upwards."""
        table = [
            HEAD,
            "first,10115,400,10,10,10,2031-03-01",  # 480 + 36
            "down,20095,900,10,10,10,2031-03-02",  # 625 + 46.875
            "below,20095,1400,10,10,10,2031-03-09",  # 700 + 52.5
            "half,10115,900,10,10,10,2031-06-01",  # 540 + 40.5
            "later,40210,2900,10,10,10,2032-01-01",  # 1100 + 82.5
            "far,31000,10000,10,10,10,2040-12-31",  # 2360 + 177
            "small,20095,1900,10,10,10,2031-04-05",  # 775 + 58.125
        ]
        wanted = ["first,516", "down,672", "below,753", "half,581", "later,1183", "far,2537", "small,833"]
        self.assertEqual(quoted(table), wanted)

    def test_zone_4(self):
        """Criterion 2: no surcharge in zone 4."""
        table = [HEAD, "a,90402,400,10,10,10,2031-03-01", "b,70110,600,10,10,10,2033-01-01"]
        self.assertEqual(quoted(table), ["a,1240", "b,1410"])

    def test_before(self):
        """Criterion 3: the old price for parcels posted before 2031-03-01."""
        table = [HEAD, "a,10115,400,10,10,10,2031-02-28", "b,20095,900,10,10,10,2030-12-31"]
        self.assertEqual(quoted(table), ["a,480", "b,625"])

    def test_no_date(self):
        """Criterion 4: the old price without a column `date` or with an empty one, which may stand anywhere."""
        undated = ["id,postcode,grams,length_mm,width_mm,height_mm", "a,10115,400,10,10,10"]
        self.assertEqual(quoted(undated), ["a,480"])
        first = [
            "date,id,postcode,grams,length_mm,width_mm,height_mm",
            ",b,10115,400,10,10,10",
            "2031-05-01,c,10115,400,10,10,10",
        ]
        self.assertEqual(quoted(first), ["b,480", "c,516"])

    def test_as_before(self):
        """Criterion 5: order of the file, longest prefix, unrounded volume weight and `unknown` are as they were."""
        table = [
            HEAD,
            "z,70129,10,2500001,1,1,2031-02-01",
            "y,60311,10,10,10,10,2031-07-01",
            "x,31200,1000,10,10,10,2031-07-01",
            "w,10115,10,2500001,1,1,2031-07-01",
        ]
        self.assertEqual(quoted(table), ["z,625", "y,unknown", "x,581", "w,581"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
