"""Criterion 1: report.sql is one SELECT statement and changes nothing."""
import os
import sqlite3
import sys

SCHEMA = """
CREATE TABLE report_day (day TEXT NOT NULL);
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE invoices (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL, due TEXT NOT NULL, cents INTEGER NOT NULL);
CREATE TABLE payments (id INTEGER PRIMARY KEY, invoice_id INTEGER NOT NULL, received TEXT NOT NULL, cents INTEGER NOT NULL);
"""
READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}


def regular(path, flags):
    """How open() opens here: it follows no link and waits at no pipe."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def allowed(action, *_):
    return sqlite3.SQLITE_OK if action in READING else sqlite3.SQLITE_DENY


database = sqlite3.connect(":memory:")
database.executescript(SCHEMA)
database.set_authorizer(allowed)
try:
    with open("report.sql", encoding="utf-8", opener=regular) as file:
        # execute() itself refuses a second statement.
        cursor = database.execute("EXPLAIN " + file.read())
except (OSError, ValueError, sqlite3.Error, sqlite3.Warning) as problem:
    sys.exit(f"report.sql is not one SELECT statement: {problem}")
print(f"report.sql compiles to {len(cursor.fetchall())} steps that only read")
