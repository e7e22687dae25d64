"""Runs report.sql on databases that the agent has not seen, each made for one criterion."""
import os
import sqlite3
import unittest

SCHEMA = """
CREATE TABLE report_day (day TEXT NOT NULL);
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE invoices (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL, due TEXT NOT NULL, cents INTEGER NOT NULL);
CREATE TABLE payments (id INTEGER PRIMARY KEY, invoice_id INTEGER NOT NULL, received TEXT NOT NULL, cents INTEGER NOT NULL);
INSERT INTO report_day VALUES ('2032-02-10');
"""
READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
STEPS = 5_000_000  # far beyond what these few rows need; a query without an end stops there


def regular(path, flags):
    """How open() opens here: it follows no link and waits at no pipe."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def report(customers, invoices, payments):
    """Column names and rows of the report: customers id -> name, invoices id -> (customer, due, cents), payments."""
    database = sqlite3.connect(":memory:")
    database.executescript(SCHEMA)
    database.executemany("INSERT INTO customers VALUES (?, ?)", customers.items())
    database.executemany("INSERT INTO invoices VALUES (?, ?, ?, ?)", [(n, *rest) for n, rest in invoices.items()])
    database.executemany("INSERT INTO payments (invoice_id, received, cents) VALUES (?, ?, ?)", payments)
    database.commit()
    database.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in READING else sqlite3.SQLITE_DENY)
    database.set_progress_handler(lambda: 1, STEPS)
    with open("report.sql", encoding="utf-8", opener=regular) as file:
        cursor = database.execute(file.read())
    return [column[0] for column in cursor.description], cursor.fetchall()


class Report(unittest.TestCase):
    def test_columns(self):
        """Criterion 2: the three columns, in this order."""
        columns, _ = report({1: "Moor"}, {1: (1, "2032-01-01", 100)}, [])
        self.assertEqual(columns, ["customer", "overdue_cents", "oldest_due"])

    def test_who(self):
        """Criterion 3: customers with an overdue invoice and nobody else; namesakes are two rows."""
        customers = {1: "Moor", 2: "Due today", 3: "Paid", 4: "Nothing", 5: "Moor", 6: "Paid late", 7: "Taken back"}
        invoices = {
            1: (1, "2032-02-09", 500),
            2: (2, "2032-02-10", 500),
            3: (3, "2032-01-10", 500),
            5: (5, "2032-01-10", 300),
            6: (6, "2032-01-10", 200),
            7: (7, "2032-01-10", 100),
        }
        payments = [
            (3, "2032-02-10", 500),
            (6, "2032-02-11", 200),
            (7, "2032-01-05", 100),
            (7, "2032-01-20", -100),
        ]
        _, rows = report(customers, invoices, payments)
        wanted = [("Moor", 500), ("Moor", 300), ("Paid late", 200), ("Taken back", 100)]
        self.assertEqual([(name, cents) for name, cents, _ in rows], wanted)

    def test_amount(self):
        """Criterion 4: several invoices, several payments on one, none on another, too much on a third."""
        invoices = {
            1: (1, "2032-01-01", 10000),
            2: (1, "2032-01-15", 7000),
            3: (1, "2032-01-20", 4000),
            4: (1, "2032-03-01", 90000),
        }
        payments = [
            (1, "2032-01-03", 2500),
            (1, "2032-01-09", 2500),
            (1, "2032-02-10", 1),
            (1, "2032-02-12", 999),
            (3, "2032-01-21", 5500),
            (4, "2032-02-01", 600),
        ]
        _, rows = report({1: "Moor"}, invoices, payments)
        self.assertEqual([cents for _, cents, _ in rows], [4999 + 7000])

    def test_oldest(self):
        """Criterion 5: the earliest due day among the overdue invoices, paid ones left aside."""
        invoices = {1: (1, "2031-11-30", 100), 2: (1, "2032-01-08", 100), 3: (1, "2031-12-31", 100)}
        _, rows = report({1: "Moor"}, invoices, [(1, "2032-01-02", 100)])
        self.assertEqual([day for _, _, day in rows], ["2031-12-31"])

    def test_order(self):
        """Criterion 6: largest amount first, as a number; equal amounts by id, not by name."""
        customers = {3: "Aal", 2: "Zander", 7: "Hecht", 1: "Barsch"}
        invoices = {
            1: (3, "2032-01-01", 900),
            2: (2, "2032-01-02", 900),
            3: (7, "2032-01-03", 10000),
            4: (1, "2032-01-04", 80),
        }
        _, rows = report(customers, invoices, [])
        wanted = [
            ("Hecht", 10000, "2032-01-03"),
            ("Zander", 900, "2032-01-02"),
            ("Aal", 900, "2032-01-01"),
            ("Barsch", 80, "2032-01-04"),
        ]
        self.assertEqual(rows, wanted)


if __name__ == "__main__":
    unittest.main(verbosity=2)
