"""Invoices and receipts: bytes in, fields with confidences and places out; no network, nothing heavy imported here."""
