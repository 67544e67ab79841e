"""What the parsers of several sites need: values, counts, currencies and JSON out of pages. All pure."""
