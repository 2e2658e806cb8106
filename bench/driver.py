"""Owns what our scripts add to the side-by-side benchmark `bench.py`: where it is, our peers and our workloads, and the
files that the peers read. It measures nothing."""
import os, resource, shutil, sqlite3, sys

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.abspath(os.environ.get("FASTR_BENCH", os.path.join(HERE, "../../shared/bench")))
KB, MB = 1 << 10, 1 << 20
USERS = [(i, f"user{i:04d}", f"user{i:04d}@example.test") for i in range(1, 1001)]
FIVE = [name for _, name, _ in USERS[:5]]
OBJECTS = [{"username": name} for name in FIVE]


def is_there():
    return os.path.exists(os.path.join(BENCH, "bench.py"))


def load():
    """bench.py as a module, with our peers and workloads."""
    if not is_there():
        print(f"no bench.py in {BENCH}: nothing to compare with (set FASTR_BENCH)")
        sys.exit(0 if "--check" in sys.argv else 1)
    os.environ["EXTRA_PEERS"] = os.path.join(HERE, "peers")
    os.environ["OURS"] = HERE
    # Thousands of connections, by the load generator and by the servers.
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    sys.dont_write_bytecode = True
    sys.path.insert(0, BENCH)
    import bench
    add_workloads(bench)
    prepare(bench.TMP)
    return bench


def add_workloads(bench):
    hello, json = bench.W["plaintext"], bench.W["json"]
    filled = lambda size: dict(path=f"/filled/{size}", c=16, ok=lambda _, body: body == b"x" * size)
    bench.W.update({
        "sqlite5": bench.W["users5"],
        "sqlitejson": dict(path="/users.json", c=100, ok=bench.is_json(lambda json: json == OBJECTS)),
        "usersjson": dict(path="/users.json", c=100, ok=bench.is_json(lambda json: json == OBJECTS)),
        # The same five rows in the form each server likes best, so that they can be measured in turns.
        "users5rows": dict(path="/users5", c=100, ok=bench.is_json(lambda json: json in (FIVE, OBJECTS))),
        "hello1": {**hello, "c": 1}, "hello512": {**hello, "c": 512}, "hello4096": {**hello, "c": 4096},
        "json1": {**json, "c": 1}, "json512": {**json, "c": 512},
        "big300k": filled(300 * KB), "big3m": filled(3 * MB),
        "stream1000": dict(path="/chunks", c=16, ok=lambda _, body: body == b"x" * MB),
    })
    peers = bench.peers

    def with_more():
        """Who does a workload of bench.py does ours that ask the same of it."""
        found = peers()
        for peer in found.values():
            if "idle" in peer["workloads"]:
                peer["workloads"] += ["hello4096"]
            if {"plaintext", "json"} <= set(peer["workloads"]):
                peer["workloads"] += ["hello1", "hello512", "json1", "json512"]
            if "users5" in peer["workloads"]:
                peer["workloads"] += ["users5rows"]
        return found
    bench.peers = with_more


def prepare(tmp):
    """The static file, the SQLite database and the Rack application with big answers that the peers read. They lie in
    the folder that peers in a chroot see, too."""
    static = os.path.join(tmp, "public", "static")
    os.makedirs(static, exist_ok=True)
    if not os.path.exists(f"{static}/1m.bin"):
        with open(f"{static}/1m.bin", "wb") as file:
            file.write(os.urandom(MB))
    os.environ["BENCH_SQLITE"] = path = os.path.join(tmp, "users.sqlite3")
    if not os.path.exists(path):
        with sqlite3.connect(f"{path}.new") as db:
            db.execute("CREATE TABLE users (id integer PRIMARY KEY, username varchar(64) NOT NULL, email varchar(128) NOT NULL)")
            db.executemany("INSERT INTO users VALUES (?, ?, ?)", USERS)
        os.rename(f"{path}.new", path)
    os.environ["BIG_APPS"] = apps = os.path.join(tmp, "apps")
    for folder in ("rack", "itsi", "stub"):
        os.makedirs(f"{apps}/{folder}", exist_ok=True)
        for name in os.listdir(f"{BENCH}/apps/{folder}"):
            shutil.copyfile(f"{BENCH}/apps/{folder}/{name}", f"{apps}/{folder}/{name}")
    shutil.copyfile(f"{HERE}/apps/big/config.ru", f"{apps}/rack/config.ru")


def names(bench, words):
    """`ours` and `ours_pg` stand for all our variants of that kind."""
    all_peers = bench.peers()
    lists = [[name for name, peer in all_peers.items() if peer["kind"] == word] if word in ("ours", "ours_pg") else [word]
             for word in words.split(",")]
    return ",".join(name for group in lists for name in group)
