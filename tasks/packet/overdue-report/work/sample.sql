INSERT INTO report_day VALUES ('2031-05-15');
INSERT INTO customers VALUES (1, 'Abel'), (2, 'Baker'), (3, 'Cole');
INSERT INTO invoices VALUES (10, 1, '2031-05-02', 12000), (11, 2, '2031-04-20', 8000), (12, 3, '2031-06-01', 5000);
INSERT INTO payments VALUES (100, 10, '2031-05-01', 12000), (101, 11, '2031-05-06', 3000);
