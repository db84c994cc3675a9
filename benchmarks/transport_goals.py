"""What the transports shall reach, and how measurements are written in a table."""

from collections.abc import Iterator
from typing import Any

from goal import Goal

Record = dict[str, Any]

#: Least share of the AES rate at which 2^20 slots of 16 bytes are evaluated.
EVALUATION = {"numpy": 0.2, "aesni": 0.6, "vaes": 0.6}
#: Most CPU of a server and round, as a multiple of the AES that its keys stand for.
ROUND = {"numpy": 8.0, "aesni": 1.6, "vaes": 1.6}
#: Fewest users for that: AES grows with their square, and with few of them envelopes cost more.
USERS = 20_000
#: Least share of the rate of key encapsulation at which a hop opens packets.
HOP = 0.6

EVALUATION_HEAD = (
    f"{'evaluation':8}{'':50}{'ms/key':>9}{'of AES':>9}{'best':>9}{'payload GB/s':>14}"
)
#: The case that has a goal.
ONE_KEY = "2^20 x 16 B, one key"
HOP_HEAD = f"{'hop':24}{'KEM/s':>10}{'64 B/s':>10}{'share':>8}{'1 KiB/s':>10}{'share':>8}"
ROUND_HEAD = (
    f"{'round':34}{'users':>8}{'server s':>10}{'AES s':>8}{'ratio':>7}{'settle':>8}"
    f"{'up B':>8}{'arrived':>9}{'erased':>8}{'wrong':>6}"
)


def evaluation_line(record: Record) -> str:
    """Write one evaluation."""
    return (
        f"{record['kernel']:8}{record['case']:50}{record['ms_per_key']:>9.3f}"
        f"{record['of_aes_rate']:>9.1%}{record['best_of_aes_rate']:>9.1%}"
        f"{record['payload_gb_s']:>14.2f}"
    )


def hop_line(record: Record) -> str:
    """Write one hop."""
    sizes = "".join(
        f"{record['per_second'][size]:>10.0f}{record['share'][size]:>8.3f}"
        for size in ("64", "1024")
    )
    return f"{record['suite']:24}{record['limit']:>10.0f}{sizes}"


def cost(record: Record, operation: str) -> tuple[float, float]:
    """Return a server's CPU seconds of a round, and those of the AES that its keys stand for."""
    one = record[operation]
    return sum(one["server_cpu"].values()), one["aes_bytes"] / record["limits"]["aes_bytes"]


def round_lines(record: Record) -> Iterator[str]:
    """Write both rounds of a transport."""
    asked = record["asked"]
    kernel = f" {record['kernel']}" if "kernel" in record else ""
    for operation in ("post", "deposit"):
        one = record[operation]
        cpu, aes = cost(record, operation)
        ratio = f"{cpu / aes:7.2f}" if aes else f"{'-':>7}"
        suite = asked["suite"].partition("-")[0]
        name = f"{asked['transport']} n={asked['servers']} {suite}{kernel} {operation}"
        yield (
            f"{name:34}{asked['users']:>8}{cpu:>10.2f}{aes:>8.2f}{ratio}"
            f"{one['server_cpu']['settle']:>8.2f}{one['bytes_up']:>8.0f}{one['delivered']:>9}"
            f"{one.get('erased', 0):>8}{one['strange'] + one.get('twice', 0):>6}"
        )


def goals(results: dict[str, Any]) -> list[Goal]:
    """Compare everything that was measured with its goal; of repeated measurements the best."""
    return [*_evaluations(results), *_hops(results), *_rounds(results)]


def _evaluations(results: dict[str, Any]) -> Iterator[Goal]:
    best: dict[str, float] = {}
    for record in results.get("evaluations", ()):
        if record["case"] == ONE_KEY:
            best[record["kernel"]] = max(best.get(record["kernel"], 0.0), record["of_aes_rate"])
    for kernel, share in best.items():
        yield Goal.at_least(f"evaluation, {kernel}: share of AES", share, EVALUATION[kernel])


def _hops(results: dict[str, Any]) -> Iterator[Goal]:
    best: dict[tuple[str, str], float] = {}
    for record in results.get("hops", ()):
        for size, share in record["share"].items():
            key = (record["suite"], size)
            best[key] = max(best.get(key, 0.0), share)
    for (suite, size), share in best.items():
        yield Goal.at_least(f"hop, {suite}, {size} bytes: share of KEM openings", share, HOP)


def _rounds(results: dict[str, Any]) -> Iterator[Goal]:
    for record in results.get("rounds", ()):
        asked = record["asked"]
        users, name = asked["users"], f"{asked['transport']}, {asked['servers']} servers"
        name += f", {asked['suite']}, {asked['users']} users"
        for operation in ("post", "deposit"):
            one = record[operation]
            kept = users if operation == "post" else users - one["erased"]
            lost = kept - one["delivered"] + one["strange"] + one.get("twice", 0)
            yield Goal.at_most(f"{name}, {operation}: records that are wrong", lost, 0)
            cpu, aes = cost(record, operation)
            if aes and asked["servers"] == 2 and users >= USERS:
                kernel = record["kernel"]
                yield Goal.at_most(
                    f"{name}, {kernel}, {operation}: server's CPU over AES",
                    cpu / aes,
                    ROUND[kernel],
                )
