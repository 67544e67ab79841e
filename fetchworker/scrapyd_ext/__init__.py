"""What makes scrapyd a node of ours; see docs/scrapyd.md."""
