-- Days are text, YYYY-MM-DD. Amounts are whole numbers of cents.
CREATE TABLE report_day (day TEXT NOT NULL);
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE invoices (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (id),
    due TEXT NOT NULL,
    cents INTEGER NOT NULL
);
-- An invoice can be paid in parts. A payment taken back by the bank is a second payment with a negative amount.
CREATE TABLE payments (
    id INTEGER PRIMARY KEY,
    invoice_id INTEGER NOT NULL REFERENCES invoices (id),
    received TEXT NOT NULL,
    cents INTEGER NOT NULL
);
