#!/bin/bash
set -euo pipefail
cat > report.sql <<'SQL'
WITH open_invoices AS (
    SELECT
        invoices.customer_id,
        invoices.due,
        invoices.cents - coalesce((
            SELECT sum(payments.cents)
            FROM payments
            WHERE payments.invoice_id = invoices.id AND payments.received <= report_day.day
        ), 0) AS open_cents
    FROM invoices
    CROSS JOIN report_day
    WHERE invoices.due < report_day.day
)
SELECT
    customers.name AS customer,
    sum(open_invoices.open_cents) AS overdue_cents,
    min(open_invoices.due) AS oldest_due
FROM open_invoices
JOIN customers ON customers.id = open_invoices.customer_id
WHERE open_invoices.open_cents > 0
GROUP BY customers.id
ORDER BY overdue_cents DESC, customers.id;
SQL
