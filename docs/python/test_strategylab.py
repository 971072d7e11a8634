"""python3 test_strategylab.py FOLDER: FOLDER has a run and what export made of it."""
import pathlib
import sys

import pandas
import strategylab as lab

folder = pathlib.Path(sys.argv[1])
run = folder / "run"
players, pairs = lab.players(run), lab.pairs(run)
assert int(lab.plan(run)["seed"]) == lab.summary(run)["plan"]["seed"]
assert (players.adjusted_low <= players.adjusted).all() and (players.adjusted <= players.adjusted_high).all()
assert (pairs.p <= 1).all() and len(pairs) == len(players) * (len(players) - 1) // 2

for rows in ("leagues", "pairs", "matches"):
    text = lab.export(folder / f"{rows}.csv")
    for kind in ("json", "ndjson"):
        pandas.testing.assert_frame_equal(text, lab.export(folder / f"{rows}.{kind}"), check_dtype=False)

scores = lab.scores(lab.export(folder / "leagues.csv"))
pandas.testing.assert_series_equal(scores["mean"].sort_index(), players.adjusted.sort_index(), check_names=False)

payoffs = lab.payoffs(lab.export(folder / "pairs.csv"))  # everybody meets everybody equally often
pandas.testing.assert_series_equal(payoffs.mean(axis=1).sort_index(), players.adjusted.sort_index(), check_names=False)

try:
    lab.export(folder / "leagues.xlsx")
    sys.exit("a file of an unknown kind is read")
except ValueError as problem:
    assert "want .csv" in str(problem)
print(len(players), "players agree")
