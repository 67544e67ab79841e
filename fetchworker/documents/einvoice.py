"""Electronic invoices: Factur-X and ZUGFeRD, XRechnung and UBL 2.1, as readings (pure).

Paths are of local names: versions differ by namespace and hardly by anything else. Sources: UN/CEFACT Cross Industry
Invoice D16B (and ZUGFeRD 1.0's draft of it), OASIS UBL 2.1, EN 16931-1 for what the parts mean.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from fetchworker.documents.model import Field, Reading
from fetchworker.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: how sure a value is that its issuer wrote for machines
_SURE = 0.99
_LARGEST_TEXT = 2_000
_DATE = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)")
#: UNTDID 1001: codes of credit notes
_CREDITS = frozenset({"81", "83", "261", "262", "296", "308", "381", "396", "420", "458", "532"})
#: amounts beyond this many digits are damage
_DIGITS = 20


@dataclass(frozen=True, slots=True)
class _Form:
    """Where one kind of XML has what; of several paths the first that is there counts."""

    name: str
    values: Mapping[str, Sequence[str]]
    type_code: Sequence[str]
    row: str
    cells: Mapping[str, Sequence[str]]


_CII = _Form(
    "cii",
    {
        "seller": ("SellerTradeParty/Name",),
        "buyer": ("BuyerTradeParty/Name",),
        "invoice_number": ("ExchangedDocument/ID", "HeaderExchangedDocument/ID"),
        "invoice_date": (
            "ExchangedDocument/IssueDateTime/DateTimeString", "HeaderExchangedDocument/IssueDateTime/DateTimeString",
        ),
        "due_date": ("SpecifiedTradePaymentTerms/DueDateDateTime/DateTimeString",),
        "currency": ("InvoiceCurrencyCode",),
        "subtotal": ("TaxBasisTotalAmount",),
        "tax": ("TaxTotalAmount",),
        "total": ("GrandTotalAmount", "DuePayableAmount"),
    },
    ("ExchangedDocument/TypeCode", "HeaderExchangedDocument/TypeCode"),
    "IncludedSupplyChainTradeLineItem",
    {
        "description": ("SpecifiedTradeProduct/Name", "SpecifiedTradeProduct/Description", "IncludedNote/Content"),
        "quantity": ("BilledQuantity",),
        "unit_price": ("NetPriceProductTradePrice/ChargeAmount", "GrossPriceProductTradePrice/ChargeAmount"),
        "amount": ("LineTotalAmount",),
        "tax_rate": ("ApplicableTradeTax/RateApplicablePercent", "ApplicableTradeTax/ApplicablePercent"),
    },
)  # fmt: skip
_UBL = _Form(
    "ubl",
    {
        "seller": (
            "AccountingSupplierParty/Party/PartyLegalEntity/RegistrationName",
            "AccountingSupplierParty/Party/PartyName/Name",
        ),
        "buyer": (
            "AccountingCustomerParty/Party/PartyLegalEntity/RegistrationName",
            "AccountingCustomerParty/Party/PartyName/Name",
        ),
        "invoice_number": ("./ID",),
        "invoice_date": ("./IssueDate",),
        "due_date": ("./DueDate", "PaymentMeans/PaymentDueDate"),
        "currency": ("./DocumentCurrencyCode",),
        "subtotal": ("LegalMonetaryTotal/TaxExclusiveAmount",),
        "tax": ("./TaxTotal/TaxAmount",),
        "total": ("LegalMonetaryTotal/TaxInclusiveAmount", "LegalMonetaryTotal/PayableAmount"),
    },
    ("./InvoiceTypeCode", "./CreditNoteTypeCode"),
    "*Line",
    {
        "description": ("Item/Name", "Item/Description"),
        "quantity": ("InvoicedQuantity", "CreditedQuantity"),
        "unit_price": ("Price/PriceAmount",),
        "amount": ("./LineExtensionAmount",),
        "tax_rate": ("Item/ClassifiedTaxCategory/Percent",),
    },
)
_FORMS = {
    "CrossIndustryInvoice": _CII,
    "CrossIndustryDocument": _CII,
    "Invoice": _UBL,
    "CreditNote": _UBL,
}
_DATES = frozenset({"invoice_date", "due_date"})
_MONEY = frozenset({"subtotal", "tax", "total", "unit_price", "amount"})
_NUMBERS = frozenset({"quantity", "tax_rate"})
#: what a credit note has below zero
_SIGNED = frozenset({"quantity", "subtotal", "tax", "total", "amount"})


def xml_kind(xml: bytes) -> str | None:
    """``cii`` or ``ubl``; None for XML that is no invoice, or no XML."""
    try:
        return _form(_parsed(xml)).name
    except DocumentError:
        return None


def read_xml(xml: bytes) -> Reading:
    """What an electronic invoice says.

    Raises:
        DocumentError: it is damaged, or no invoice.
    """
    root = _parsed(xml)
    form = _form(root)
    credit = _local(root) == "CreditNote" or _first(root, form.type_code) in _CREDITS
    fields = {name: _field(name, root, paths, credit=credit) for name, paths in form.values.items()}
    fields["tax"] = _tax(root, form, fields, credit=credit)
    rows = [node for node in root.iter() if _is_row(node, form.row)]
    items = [{name: _field(name, row, paths, credit=credit) for name, paths in form.cells.items()} for row in rows]
    return Reading("invoice", _SURE, fields, items, engine=f"xml-{form.name}")


def _parsed(xml: bytes) -> Any:
    from lxml import etree  # noqa: PLC0415  # few files need it

    # nothing outside the file is asked, no entity is resolved, no tree grows without end
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(xml, parser)
    except (etree.XMLSyntaxError, ValueError) as exc:
        raise DocumentError("truncated", "the XML is damaged or cut") from exc
    if root is None or root.getroottree().docinfo.doctype:
        raise DocumentError("not_a_document", "the XML brings a document type of its own, as no invoice does")
    return root


def _form(root: Any) -> _Form:
    try:
        return _FORMS[_local(root)]
    except KeyError:
        raise DocumentError("not_a_document", "the XML is no invoice in CII or UBL") from None


def _local(node: Any) -> str:
    return str(node.tag).rpartition("}")[2] if isinstance(node.tag, str) else ""


def _is_row(node: Any, name: str) -> bool:
    if name == "*Line":
        return _local(node) in ("InvoiceLine", "CreditNoteLine")
    return _local(node) == name


def _nodes(root: Any, path: str) -> list[Any]:
    """The nodes at a path of local names, anywhere below the root unless it begins with ``./``; in their order."""
    direct = path.startswith("./")
    steps = [f"*[local-name()='{name}']" for name in path.removeprefix("./").split("/")]
    found: list[Any] = root.xpath(("./" if direct else ".//") + "/".join(steps))
    return found


def _first(root: Any, paths: Sequence[str]) -> str | None:
    for path in paths:
        for node in _nodes(root, path):
            text = " ".join("".join(node.itertext()).split())[:_LARGEST_TEXT]
            if text:
                return text
    return None


def _field(name: str, root: Any, paths: Sequence[str], *, credit: bool) -> Field:
    return _sure(_value(name, _first(root, paths), credit=credit))


def _sure(value: str | None) -> Field:
    return Field(value, _SURE if value is not None else 0.0)


def _value(name: str, text: str | None, *, credit: bool) -> str | None:
    if text is None:
        return None
    if name in _DATES:
        return _iso(text)
    if name in _MONEY or name in _NUMBERS:
        return _decimal(text, places=2 if name in _MONEY else 0, negative=credit and name in _SIGNED)
    if name == "currency":
        return text if re.fullmatch("[A-Z]{3}", text) else None
    return text


def _iso(text: str) -> str | None:
    found = _DATE.match(text)
    try:
        return date(*map(int, found.groups())).isoformat() if found else None
    except ValueError:
        return None


def _decimal(text: str, *, places: int, negative: bool) -> str | None:
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", text, re.ASCII) or len(text) > _DIGITS:
        return None
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    whole, _, part = f"{abs(value):f}".partition(".")
    part = part.rstrip("0").ljust(places, "0")
    below = value != 0 and (value < 0 or negative)
    return ("-" if below else "") + whole + (f".{part}" if part else "")


def _tax(root: Any, form: _Form, fields: Mapping[str, Field], *, credit: bool) -> Field:
    """The tax in the invoice's currency: it may be told in the tax office's as well."""
    currency = fields["currency"].value
    for path in form.values["tax"]:
        for node in _nodes(root, path):
            if node.get("currencyID") in (None, currency):
                return _sure(_value("tax", (node.text or "").strip(), credit=credit))
    return fields["tax"]
