"""Reads trials.csv for the tests: prints the named columns of each row, sorted,
one row a line. Usage: table.py FILE COLUMN... ; '-' is standard input."""
import csv
import sys

source = sys.stdin if sys.argv[1] == "-" else open(sys.argv[1], newline="")
rows = csv.DictReader(line for line in source if not line.startswith("#"))
for line in sorted(" ".join(row[c] or "-" for c in sys.argv[2:])
                   for row in rows):
    print(line)
