"""What the parsers of several sites need: values, counts, money, dates and JSON out of pages. All pure."""
