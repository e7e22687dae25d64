"""Runs /app/decode.py on captures that the agent has not seen.

Captures are put together from numbers and levels, so what must be printed is known without decoding anything.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest


def crc(data):
    """CRC-16 as the brief describes it, bit by bit."""
    value = 0xFFFF
    for byte in data:
        value ^= byte << 8
        for _ in range(8):
            value = (value << 1) ^ (0x1021 if value & 0x8000 else 0)
            value &= 0xFFFF
    return value


def body(number, level):
    """The 7 unstuffed bytes of a reading; `level` in tenths of a millimetre."""
    data = number.to_bytes(2, "big") + level.to_bytes(3, "big", signed=True)
    return data + crc(data).to_bytes(2, "big")


def stuffed(data):
    return b"".join(bytes([0x7D, byte ^ 0x20]) if byte in (0x7D, 0x7E) else bytes([byte]) for byte in data)


def frames(*bodies):
    """Frames that share the 7E between them."""
    return b"\x7e" + b"".join(stuffed(data) + b"\x7e" for data in bodies)


def printed(capture):
    """The lines that the submission prints for a capture, run as nobody in a folder of its own."""
    with tempfile.TemporaryDirectory() as box:
        os.chmod(box, 0o755)
        program = shutil.copyfile("/app/decode.py", f"{box}/decode.py", follow_symlinks=False)
        with open(f"{box}/line.hex", "w", encoding="ascii") as file:
            file.writelines(capture[i : i + 16].hex(" ") + "\n" for i in range(0, len(capture), 16))
        run = subprocess.run(
            [sys.executable, "-I", program, f"{box}/line.hex"],
            user="nobody", group="nogroup", extra_groups=[], cwd=box, env={},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=10, check=True,
        )
    return run.stdout.splitlines()


class Decoder(unittest.TestCase):
    def test_reading(self):
        """Criterion 1: one line for each reading, the level in millimetres with one decimal place."""
        capture = frames(body(417, 12034), body(418, 12040), body(419, 7))
        self.assertEqual(printed(capture), ["417 1203.4", "418 1204.0", "419 0.7", "missing 0"])

    def test_below_zero(self):
        """Criterion 2: levels below zero, between 0 and -1 mm as well, zero, and the two ends of the range."""
        capture = frames(
            body(1, -3), body(2, -10), body(3, -12345), body(4, -(2**23)), body(5, 2**23 - 1), body(6, 0)
        )
        self.assertEqual(
            printed(capture), ["1 -0.3", "2 -1.0", "3 -1234.5", "4 -838860.8", "5 838860.7", "6 0.0", "missing 0"]
        )

    def test_stuffing(self):
        """Criterion 3: 7E, 7D and 5E in number and level are restored, and so is a stuffed checksum."""
        # The third checksum holds a byte that is stuffed.
        capture = frames(body(0x7D7E, 0x7E7D5E), body(0x7D7F, 0x5D7D5E), body(0x7D80, 20))
        self.assertEqual(printed(capture), ["32126 828963.0", "32127 612694.2", "32128 2.0", "missing 0"])

    def test_damaged(self):
        """Criterion 4: no line for a wrong checksum, another length or an end directly after 7D."""
        swapped = bytearray(body(51, 900))
        swapped[5], swapped[6] = swapped[6], swapped[5]
        flipped = bytearray(body(52, 901))
        flipped[4] ^= 0x01
        longer = body(53, 902)[:5] + b"\x00" + body(53, 902)[5:]
        trailing = body(54, 903) + b"\x00"
        shorter = body(55, 904)[1:5]
        capture = (
            stuffed(body(49, 898))
            + frames(
                body(50, 899), bytes(swapped), bytes(flipped),
                longer, trailing, shorter + crc(shorter).to_bytes(2, "big"),
            )
            + stuffed(body(56, 905)) + b"\x7d\x7e\x7e\x7e"
            + stuffed(body(57, 906)) + b"\x7e"
            + stuffed(body(58, 907))
        )
        self.assertEqual(printed(capture), ["50 89.9", "57 90.6", "missing 6"])

    def test_repeats(self):
        """Criterion 5: a reading that arrives several times, not always in a row, is printed once."""
        capture = frames(*(body(n, 10 * n) for n in (7, 7, 8, 9, 8, 10, 7, 10)))
        self.assertEqual(printed(capture), ["7 7.0", "8 8.0", "9 9.0", "10 10.0", "missing 0"])

    def test_order(self):
        """Criterion 6: the gauge's order, over the step from 65535 to 0, also where the first frame is not the oldest."""
        capture = frames(*(body(n, 5) for n in (0, 65534, 2, 65535, 1)))
        self.assertEqual(printed(capture), ["65534 0.5", "65535 0.5", "0 0.5", "1 0.5", "2 0.5", "missing 0"])

    def test_missing(self):
        """Criterion 7: how many readings between the oldest and the newest are not there, over the step to 0 too."""
        capture = frames(body(65530, 1), body(65533, 2), body(3, 4), body(2, 3))
        self.assertEqual(printed(capture), ["65530 0.1", "65533 0.2", "2 0.3", "3 0.4", "missing 6"])

    def test_nothing_valid(self):
        """Criterion 8: `missing 0` alone for captures without a valid frame, the empty one among them."""
        self.assertEqual(printed(b""), ["missing 0"])
        self.assertEqual(printed(b"\x7e" + body(1, 2)[:6] + b"\x7e"), ["missing 0"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
