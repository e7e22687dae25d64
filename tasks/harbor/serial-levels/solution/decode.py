"""Prints the readings of a gauge from a capture of its serial line."""
import binascii
import sys


def unstuffed(frame):
    """The frame's bytes, or None where it ends directly after the escape byte."""
    out, rest = bytearray(), iter(frame)
    for byte in rest:
        if byte == 0x7D:
            byte = next(rest, None)
            if byte is None:
                return None
            byte ^= 0x20
        out.append(byte)
    return bytes(out)


def readings(line):
    """Number -> level for every valid frame."""
    found = {}
    for frame in line.split(b"\x7e")[1:-1]:
        data = unstuffed(frame)
        if data is None or len(data) != 7:
            continue
        # crc_hqx is this CRC: polynomial 0x1021, nothing reflected, the start value as given.
        if binascii.crc_hqx(data[:5], 0xFFFF) == int.from_bytes(data[5:], "big"):
            found.setdefault(int.from_bytes(data[:2], "big"), int.from_bytes(data[2:5], "big", signed=True))
    return found


def main():
    with open(sys.argv[1], encoding="ascii") as capture:
        found = readings(bytes.fromhex(capture.read()))
    if not found:
        print("missing 0")
        return
    first = next(iter(found))
    # Fewer than 1000 readings: the distance to any of them, taken as a signed 16-bit number, tells before from after.
    distance = {(number - first + 0x8000) % 0x10000 - 0x8000: number for number in found}
    for step in sorted(distance):
        level = found[distance[step]]
        print(f"{distance[step]} {'-' if level < 0 else ''}{abs(level) // 10}.{abs(level) % 10}")
    print("missing", max(distance) - min(distance) + 1 - len(found))


main()
