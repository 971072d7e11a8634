"""Reads runs of strategylab, and what its export command writes, into pandas."""
import json
import pathlib

import pandas

__all__ = ["plan", "summary", "players", "pairs", "export", "scores", "payoffs"]


def plan(run):
    """What was played, as a dict: seed, legs, draw, field, ..."""
    return json.loads(pathlib.Path(run, "plan.json").read_text(encoding="utf-8"))


def summary(run):
    """What the run shows, as a dict; docs/schemas/summary.schema.json explains its members."""
    return json.loads(pathlib.Path(run, "summary.json").read_text(encoding="utf-8"))


def _table(rows):
    """Rows whose estimates are columns NAME, NAME_low and NAME_high; what is deeper is left out."""
    flat = []
    for row in rows:
        flat.append({})
        for name, value in row.items():
            if isinstance(value, dict) and "estimate" in value:
                flat[-1] |= {name: value["estimate"], f"{name}_low": value["low"], f"{name}_high": value["high"]}
            elif not isinstance(value, (dict, list)):
                flat[-1][name] = value
    return pandas.DataFrame(flat)


def players(run):
    """A row for each player, best first."""
    return _table(summary(run)["players"]).set_index("name")


def pairs(run):
    """A row for each pair of players: how often they differ, their difference in the field, its p-value."""
    return _table(summary(run)["pairs"]).set_index(["a", "b"])


def export(file):
    """The rows of a file that strategylab export wrote: .csv, .json, .ndjson, .jsonl or .parquet."""
    kind = pathlib.Path(file).suffix
    if kind == ".csv":
        return pandas.read_csv(file, keep_default_na=False, na_values={"number": [""]})
    if kind == ".parquet":
        return pandas.read_parquet(file)
    if kind in (".json", ".ndjson", ".jsonl"):
        return pandas.read_json(file, lines=kind != ".json", dtype=False, convert_dates=False)
    raise ValueError(f"{file}: want .csv, .json, .ndjson, .jsonl or .parquet")


def scores(leagues):
    """Adjusted points per match of each player with their standard error, from rows of leagues: the
    league is the unit of replication."""
    each = leagues.adjusted / leagues.matches
    return each.groupby(leagues.player).agg(["mean", "sem", "count"]).sort_values("mean", ascending=False)


def payoffs(pairs):
    """The payoff matrix, from rows of pairs: adjusted points per match of the row against the column."""
    other = {"player_a": "player_b", "player_b": "player_a", "adjusted_a": "adjusted_b", "adjusted_b": "adjusted_a"}
    both = pandas.concat([pairs, pairs.rename(columns=other)])
    sums = both.groupby(["player_a", "player_b"])[["adjusted_a", "matches"]].sum()
    return (sums.adjusted_a / sums.matches).unstack()
