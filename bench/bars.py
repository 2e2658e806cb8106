"""Owns the bars: what each workload is compared with and how far ahead fastr has to be. It measures nothing; `table`
takes the rows of each run of bench.py and says ratio, bar and whether it is reached."""

ASYNC = ("falcon-n1", "rage", "itsi-fiber", "thin-em")
ROUTE, PG = ("fastr-route",), ("fastr-pg-callback", "fastr-pg-awaited", "fastr-pg-json")
PLAIN = ("plaintext", "json")
BODIES = ("stream", "stream1000", "static1m", "post1m", "big300k", "big3m")
SERVING = ("fastr-route", "fastr-big", "fastr-rack")

# what, workload, cores, ours, metric, whose (peers, `ruby` = every Ruby peer), bar.
# `rate` is ours / theirs and has to be at least the bar, `cpu` (per request) at most.
BARS = [
    ("hello, route block, of the limit", "plaintext", 1, ROUTE, "rate", ("hyper-1",), 0.70),
    ("hello, route block, of the limit", "plaintext", 2, ROUTE, "rate", ("hyper-1",), 0.62),
    ("hello, route block, best Ruby peer", "plaintext", 1, ROUTE, "rate", "ruby", 1.4),
    ("hello, route block, best Ruby peer", "plaintext", 2, ROUTE, "rate", "ruby", 1.2),
    ("hello, route block, CPU of Iodine", "plaintext", 1, ROUTE, "cpu", ("iodine-t5", "iodine-t1"), 0.75),
    ("hello, controller and filter, of the limit", "plaintext", 1, ("fastr-controller",), "rate", ("hyper-1",), 0.55),
    ("hello, controller and filter, best Ruby peer", "plaintext", 1, ("fastr-controller",), "rate", "ruby", 1.1),
    ("JSON, route block, of the limit", "json", 1, ROUTE, "rate", ("hyper-1",), None),
    ("JSON, route block, CPU of Iodine", "json", 1, ROUTE, "cpu", ("iodine-t5", "iodine-t1"), None),
    ("Rack hello, best Ruby peer", "plaintext", 1, ("fastr-rack",), "rate", "ruby", 1.3),
    ("Sinatra hello, best Ruby peer with Sinatra", "plaintext", 1, ("fastr-sinatra",), "rate", ("sinatra-puma", "sinatra-thin"), 1.2),
    ("5 usernames, callback, best async Ruby peer", "users5rows", 1, ("fastr-pg-callback",), "rate", ASYNC, 1.3),
    ("5 usernames, callback, Rails", "users5rows", 1, ("fastr-pg-callback",), "rate", ("rails-puma",), 15),
    ("5 usernames, JSON of a relation, Rails", "users5rows", 1, ("fastr-pg-json",), "rate", ("rails-puma",), 26),
    ("5 usernames, JSON of a relation, CPU of Iodine", "users5rows", 1, ("fastr-pg-json",), "cpu", ("iodine-t5", "iodine-t1"), 1.0),
    ("5 usernames, JSON of a relation, CPU of the limit", "users5rows", 1, ("fastr-pg-json",), "cpu", ("hyper-1",), 1.5),
    ("5 usernames from SQLite, callback, Rails", "sqlite5", 1, ("fastr-controller",), "rate", ("rails-sqlite",), 15),
    ("5 usernames from SQLite, awaited, Rails", "sqlite5", 1, ROUTE, "rate", ("rails-sqlite",), None),
    ("5 usernames from SQLite, JSON of a relation, Rails", "sqlitejson", 1, ("fastr-relation",), "rate", ("rails-sqlite",), 26),
    ("1 row, CPU of Iodine", "db", 1, PG, "cpu", ("iodine-t5", "iodine-t1"), 1.0),
    *((f"{name}, CPU of the best async Ruby peer", name, 1, PG, "cpu", ASYNC, 0.6) for name in ("db", "queries", "fortunes", "updates")),
    *((f"{name}, best Ruby peer", name, 1, PG, "rate", "ruby", 1.0) for name in ("db", "queries", "fortunes", "updates")),
    *((f"{name}, of the limit", name, 1, PG, "rate", ("hyper-1",), None) for name in ("db", "queries", "fortunes", "updates")),
    *((f"{name}, best Ruby peer", name, 1, SERVING, "rate", "ruby", 1.0) for name in BODIES),
    ("1 MB file, by sendfile, Iodine's own server of files", "static1m", 1, SERVING, "rate", ("iodine-www",), 1.0),
]
# The same peer with other numbers of connections, and rates that arithmetic limits.
SAME = [("hello, 512 connections, of 64", "hello512", ROUTE, "plaintext", 0.9), ("hello, 4096 connections, of 64", "hello4096", ROUTE, "plaintext", 0.9)]
ARITHMETIC = [("slow database, 200 at once, of 2000/s", "slowdb", PG, 2000, 0.97), ("slow API, 200 at once, of 200/s", "slowhttp", PG, 200, 0.97)]
# Findings of the other scripts: what, whose key, at most.
MEMORY = [
    ("`require \"fastr\"`, ms", "require_ms", 60), ("`fastr server` answers, ms", "boot_ms", 600),
    ("idle process, RSS of Puma's", "idle_ratio", 1.0), ("RSS growth over 1,000,000 requests, %", "growth_percent", 2.0),
    ("5,000 idle connections, of bare hyper's memory each", "idle5000_ratio", 1.0),
    ("50,000 messages of another thread, of EventMachine's time in its loop", "channel_ratio", 1.0),
    ("10,000 idle connections, of bare hyper's memory each", "idle10000_ratio", 1.0),
]
NOISE = 0.15  # cores that others used; more makes a row doubtful
METRICS = {"rate": ("rps", max), "cpu": ("cpu1k", min)}


def is_ruby(row):
    return row["kind"].startswith("ruby") or row["kind"] == "framework"


def find(rows, workload, cores, peers, metric):
    """The best of these peers in a workload, none if nobody was measured or answered to the end."""
    key, best = METRICS[metric]
    wanted = lambda row: is_ruby(row) if peers == "ruby" else row["peer"] in peers
    found = [row for row in rows if (row["workload"], row["cpus"]) == (workload, cores) and wanted(row) and row["ok_after"] and row[key] > 0]
    return best(found, key=lambda row: row[key], default=None)


def pair(runs, metric, ours, theirs):
    """Ours and theirs out of one run, in which they took turns; of several runs the one that is worst for us."""
    key, pairs = METRICS[metric][0], []
    for rows in runs:
        found = find(rows, *ours, metric), find(rows, *theirs, metric)
        if all(found):
            pairs.append((found[0][key] / found[1][key], *found))
    worst = min if metric == "rate" else max
    return worst(pairs, key=lambda one: one[0], default=None)


def line(what, ours, ratio, bar, at_most, theirs):
    verdict = "" if bar is None else "reached" if (ratio <= bar if at_most else ratio >= bar) else "**missed**"
    shown = "" if bar is None else f"{'<=' if at_most else '>='} {bar:g}"
    return f"| {what} | {ours} | {theirs} | {ratio:.2f} | {shown} | {verdict} |"


def compared(runs):
    for what, workload, cores, peers, metric, others, bar in BARS:
        what += " (both cores)" if cores == 2 else ""
        found = pair(runs, metric, (workload, cores, peers), (workload, cores, others))
        if not found:
            continue  # not measured
        number = (lambda row: f"{row['rps']:.0f}/s") if metric == "rate" else (lambda row: f"{row['cpu1k']:.3f} s/1000")
        ours, theirs = (f"{row['peer']} {number(row)}{'!' if row['foreign'] > NOISE else ''}" for row in found[1:])
        yield line(what, ours, found[0], bar, metric == "cpu", theirs)


def limited(runs):
    for what, workload, peers, base, bar in SAME:
        found = pair(runs, "rate", (workload, 1, peers), (base, 1, peers))
        if found:
            texts = [f"{row['peer']} {row['rps']:.0f}/s, {row['cpu1k']:.3f} s/1000, p99 {row['p99']:.1f} ms" for row in found[1:]]
            yield line(what, texts[0], found[0], bar, False, texts[1])
    for what, workload, peers, most, bar in ARITHMETIC:
        ours = find([row for rows in runs for row in rows], workload, 1, peers, "rate")
        if ours:
            yield line(what, f"{ours['peer']} {ours['rps']:.0f}/s, {ours['errors']} errors", ours["rps"] / most, bar, False, f"{most}/s")


def remembered(findings):
    for what, key, bar in MEMORY:
        if key in findings:
            value = findings[key]
            yield f"| {what} | {value:.2f} | | | <= {bar:g} | {'reached' if value <= bar else '**missed**'} |"


def ratios(runs):
    """Every variant of ours in every workload: rate / best Ruby peer, rate / limit, CPU per request / Iodine."""
    yield "| workload | cores | ours | req/s | CPU s/1000 | / best Ruby peer | / limit | CPU / Iodine |\n|---|--:|---|--:|--:|--:|--:|--:|"
    iodine = ("iodine-t5", "iodine-t1", "big-iodine-t5")
    for rows in runs:
        for row in rows:
            if not row["kind"].startswith("ours"):
                continue
            place = row["workload"], row["cpus"]
            rivals = (find(rows, *place, "ruby", "rate"), "rps"), (find(rows, *place, ("hyper-1",), "rate"), "rps"), (find(rows, *place, iodine, "cpu"), "cpu1k")
            cells = [f"{row[key] / rival[key]:.2f}" if rival else "-" for rival, key in rivals]
            yield f"| {place[0]} | {place[1]} | {row['peer']} | {row['rps']:.0f} | {row['cpu1k']:.3f} | {' | '.join(cells)} |"


def table(runs, findings):
    """Only what was measured."""
    head = ["| what | ours | theirs | ratio | bar | |", "|---|---|---|--:|--:|---|"]
    return "\n".join([*head, *compared(runs), *limited(runs), *remembered(findings)])
