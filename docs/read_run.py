#!/usr/bin/env python3
"""read_run.py RUN prints the digest of a run and the points of every player, computed from
plan.json and leagues.bin by host/results/FORMAT.md, and fails if summary.json has others."""
import hashlib, json, pathlib, struct, sys

def uvarint(n):
    return bytes([n & 127 | 128]) + uvarint(n >> 7) if n > 127 else bytes([n])

def schedule(p, legs):
    c = p - 1 + p % 2
    for leg in range(legs):
        for r in range(c):
            pairs = [] if p % 2 else [(p - 1, r) if r % 2 else (r, p - 1)]
            pairs += [((r + k) % c, (r - k) % c) for k in range(1, (c - 1) // 2 + 1)]
            yield from ((b, a) if leg % 2 else (a, b) for a, b in pairs)

def numbers(draw):
    kind, rest = (draw or "uniform:1-10").split(":")
    if kind == "weights": return sorted(int(part.split("=")[0]) for part in rest.split(","))
    return range(int(rest.split("-")[0]), int(rest.split("-")[1]) + 1)

def match(data, at, drawn):
    """The choices (1 even, 2 odd, 0 none), the faults, the number or None, and the bytes used."""
    if data[at] == 255:
        return [x & 3 for x in data[at + 1:at + 3]], [x >> 2 for x in data[at + 1:at + 3]], None, 3  # technical loss
    c, i, used = (data[at] & 3, data[at] >> 2, 1) if len(drawn) <= 63 else (data[at], data[at + 1], 2)
    return [1 + (c >> 1), 1 + (c & 1)], [0, 0], drawn[i], used

def score(choices, faults, number):
    if any(faults): return [0 if fault else 3 for fault in faults]
    return [1, 1] if choices[0] == choices[1] else [3 if choice % 2 != number % 2 else 0 for choice in choices]

def read(run):
    plan, data = json.loads(pathlib.Path(run, "plan.json").read_bytes()), pathlib.Path(run, "leagues.bin").read_bytes()
    names, drawn = [player["name"] for player in plan["field"]], numbers(plan["draw"])
    points, leagues, digest = [0] * len(names), 0, hashlib.sha256()
    pairs, seating = list(schedule(len(names), plan["legs"])), f"<{len(names)}{'H' if len(names) > 256 else 'B'}"
    at = 20 + struct.unpack_from("<I", data, 12)[0]  # behind the header
    while at + 4 <= len(data) and (end := at + 8 + struct.unpack_from("<I", data, at)[0]) <= len(data):
        at += 4 + len(uvarint(leagues))  # the length of the record and the index of the league
        seats, at = struct.unpack_from(seating, data, at), at + struct.calcsize(seating)
        text = bytearray(b"strategylab/league/v1\0" + b"".join(map(uvarint, (leagues, len(names), *seats, len(pairs)))))
        for pair in pairs:
            choices, faults, number, used = match(data, at, drawn)
            text.append(choices[0] + 4 * (faults[0] > 0) + 16 * (choices[1] + 4 * (faults[1] > 0)))
            text += uvarint(0 if number is None else number + 1)
            at += used
            for player, won in zip(pair, score(choices, faults, number)):
                points[seats[player]] += won
        digest.update(hashlib.sha256(text).digest())
        leagues, at = leagues + 1, end
    return digest.hexdigest(), dict(zip(names, points)), leagues * len(pairs) * 2 // len(names)

digest, points, matches = read(sys.argv[1])  # points by name; each player has as many matches
summary = json.loads(pathlib.Path(sys.argv[1], "summary.json").read_bytes())
for player in summary["players"]:
    print(f"{player['name']}: {points[player['name']]} points in {matches} matches")
    if matches != player["matches"] or abs(points[player["name"]] / matches - player["points"]["estimate"]) > 1e-9:
        sys.exit(f"summary.json differs: {player['points']['estimate']} points a match, {player['matches']} matches")
sys.exit(print("digest", digest) if digest == summary["digest"] else "summary.json differs: digest " + summary["digest"])
