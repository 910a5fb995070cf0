#!/usr/bin/env python3
"""A ledger of refunds in ledger.db. A key books once: whoever comes again with it is told what was booked the first time.

    ledger.py paid ORDER     what was paid for an order, and how much of it is refunded
    ledger.py refund         books {"order", "cents", "currency"} from standard input under $TOOLGATE_IDEMPOTENCY_KEY
    ledger.py transfer       the same, and then waits for the word of the bank, which takes a minute
    ledger.py outcome CALL   whether a call has booked: a file for `toolgate continue-tool --outcome-file`
    ledger.py list           everything that is booked

Exit codes: 0 it is so; 3 declined, more than was paid; 65 never, whatever changes; 75 not now: nothing was booked.
"""

import json
import os
import re
import sqlite3
import sys
import time
from decimal import Decimal

DECLINED, NEVER, NOT_NOW = 3, 65, 75
SCHEMA = """
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, paid INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS refunds (key TEXT PRIMARY KEY, call TEXT NOT NULL, wanted TEXT NOT NULL,
  order_id TEXT NOT NULL REFERENCES orders, cents INTEGER NOT NULL CHECK (cents > 0));
INSERT OR IGNORE INTO orders VALUES ('A-17', 4000), ('A-18', 120000), ('A-19', 3900);
PRAGMA user_version = 1;
COMMIT;
"""


def main(verb, *words):
    ledger = sqlite3.connect("ledger.db", isolation_level=None, timeout=20)
    if ledger.execute("PRAGMA user_version").fetchone() == (0,):  # new books
        ledger.executescript(SCHEMA)
    print(json.dumps(VERBS[verb](ledger, *words)))


def paid(ledger, order):
    [(cents,)] = ledger.execute("SELECT coalesce(sum(paid), 0) FROM orders WHERE id = ?", [order])
    [(refunded,)] = ledger.execute("SELECT coalesce(sum(cents), 0) FROM refunds WHERE order_id = ?", [order])
    return {"order": order, "paid": cents, "refunded": refunded}


def refund(ledger):
    key, call, wanted = os.environ["TOOLGATE_IDEMPOTENCY_KEY"], os.environ["TOOLGATE_CALL"], sys.stdin.read()
    with ledger:
        ledger.execute("BEGIN IMMEDIATE")  # who looks here is alone until it is booked
        if before := ledger.execute("SELECT wanted FROM refunds WHERE key = ?", [key]).fetchone():
            return booked(ledger, key) if before == (wanted,) else leave(NEVER, "this key has booked something else")
        asked = json.loads(wanted)
        cents = in_euro(asked["cents"], asked.get("currency", "EUR"))
        order = paid(ledger, asked["order"])
        if order["refunded"] + cents > order["paid"]:
            leave(DECLINED, f"{cents} would be more than the {order['paid'] - order['refunded']} that are left of {order['order']}")
        ledger.execute("INSERT INTO refunds VALUES (?, ?, ?, ?, ?)", [key, call, wanted, order["order"], cents])
    return booked(ledger, key)


def transfer(ledger):
    answer = refund(ledger)
    time.sleep(60)
    return answer


def outcome(ledger, call):
    if not re.fullmatch(r"c[a-z2-7]{13}", call):
        leave(NEVER, f"{call} is not the whole id of a call")  # of half an id nobody may hear that it has not booked
    keys = ledger.execute("SELECT key FROM refunds WHERE call = ?", [call]).fetchone()
    return {"applied": True, "result": booked(ledger, *keys)} if keys else {"applied": False}


def everything(ledger):
    return [booked(ledger, key) for (key,) in ledger.execute("SELECT key FROM refunds ORDER BY rowid")]


def booked(ledger, key):
    [(number, order, cents)] = ledger.execute("SELECT rowid, order_id, cents FROM refunds WHERE key = ?", [key])
    return {"number": number, "order": order, "cents": cents}


def in_euro(cents, currency):
    if currency == "EUR":
        return cents
    try:
        with open("rates.json", encoding="utf-8") as file:
            rate = json.load(file)[currency]
    except (FileNotFoundError, KeyError):
        leave(NOT_NOW, f"rates.json has no rate for {currency}")
    return round(cents * Decimal(rate))


def leave(code, why):
    print(why, file=sys.stderr)
    sys.exit(code)


VERBS = {"paid": paid, "refund": refund, "transfer": transfer, "outcome": outcome, "list": everything}

if __name__ == "__main__":
    if sys.argv[1:2] == [] or sys.argv[1] not in VERBS:
        sys.exit(__doc__)
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    main(*sys.argv[1:])
