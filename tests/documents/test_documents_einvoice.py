"""Electronic invoices of both families, alone and in a PDF; damaged ones end in typed errors."""

from __future__ import annotations

import io

import pypdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.documents.caps import Caps
from fetchworker.documents.einvoice import read_xml, xml_kind
from fetchworker.documents.pages import Opener
from fetchworker.errors import DocumentError

CII = """<?xml version="1.0" encoding="UTF-8"?>
<rsm:CrossIndustryInvoice xmlns:rsm="urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100"
 xmlns:ram="urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100"
 xmlns:udt="urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100">
 <rsm:ExchangedDocument><ram:ID>FX-77</ram:ID><ram:TypeCode>{code}</ram:TypeCode>
  <ram:IssueDateTime><udt:DateTimeString format="102">20250314</udt:DateTimeString></ram:IssueDateTime>
 </rsm:ExchangedDocument>
 <rsm:SupplyChainTradeTransaction>
  <ram:IncludedSupplyChainTradeLineItem>
   <ram:AssociatedDocumentLineDocument><ram:LineID>1</ram:LineID></ram:AssociatedDocumentLineDocument>
   <ram:SpecifiedTradeProduct><ram:Name>Messinglampe</ram:Name></ram:SpecifiedTradeProduct>
   <ram:SpecifiedLineTradeAgreement><ram:NetPriceProductTradePrice><ram:ChargeAmount>45.5000</ram:ChargeAmount>
   </ram:NetPriceProductTradePrice></ram:SpecifiedLineTradeAgreement>
   <ram:SpecifiedLineTradeDelivery><ram:BilledQuantity unitCode="C62">2.0000</ram:BilledQuantity>
   </ram:SpecifiedLineTradeDelivery>
   <ram:SpecifiedLineTradeSettlement>
    <ram:ApplicableTradeTax><ram:RateApplicablePercent>19.00</ram:RateApplicablePercent></ram:ApplicableTradeTax>
    <ram:SpecifiedTradeSettlementLineMonetarySummation><ram:LineTotalAmount>91</ram:LineTotalAmount>
    </ram:SpecifiedTradeSettlementLineMonetarySummation></ram:SpecifiedLineTradeSettlement>
  </ram:IncludedSupplyChainTradeLineItem>
  <ram:ApplicableHeaderTradeAgreement>
   <ram:SellerTradeParty><ram:Name>Kiefernholz Lampen GmbH</ram:Name></ram:SellerTradeParty>
   <ram:BuyerTradeParty><ram:Name>Wiesen Bücher KG</ram:Name></ram:BuyerTradeParty>
  </ram:ApplicableHeaderTradeAgreement>
  <ram:ApplicableHeaderTradeSettlement><ram:InvoiceCurrencyCode>EUR</ram:InvoiceCurrencyCode>
   <ram:SpecifiedTradePaymentTerms><ram:DueDateDateTime>
    <udt:DateTimeString format="102">20250413</udt:DateTimeString></ram:DueDateDateTime>
   </ram:SpecifiedTradePaymentTerms>
   <ram:SpecifiedTradeSettlementHeaderMonetarySummation>
    <ram:TaxBasisTotalAmount>91.00</ram:TaxBasisTotalAmount>
    <ram:TaxTotalAmount currencyID="CZK">430.00</ram:TaxTotalAmount>
    <ram:TaxTotalAmount currencyID="EUR">17.29</ram:TaxTotalAmount>
    <ram:GrandTotalAmount>108.29</ram:GrandTotalAmount><ram:DuePayableAmount>100.00</ram:DuePayableAmount>
   </ram:SpecifiedTradeSettlementHeaderMonetarySummation></ram:ApplicableHeaderTradeSettlement>
 </rsm:SupplyChainTradeTransaction>
</rsm:CrossIndustryInvoice>"""
UBL = """<{root} xmlns="urn:oasis:names:specification:ubl:schema:xsd:{root}-2"
 xmlns:cac="urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2"
 xmlns:cbc="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2">
 <cbc:ID>U-9</cbc:ID><cbc:IssueDate>2025-03-14</cbc:IssueDate><cbc:DueDate>2025-04-13</cbc:DueDate>
 <cbc:DocumentCurrencyCode>EUR</cbc:DocumentCurrencyCode>
 <cac:AdditionalDocumentReference><cbc:ID>other</cbc:ID></cac:AdditionalDocumentReference>
 <cac:AccountingSupplierParty><cac:Party><cac:PartyName><cbc:Name>Lampen</cbc:Name></cac:PartyName>
  <cac:PartyLegalEntity><cbc:RegistrationName>Kiefernholz Lampen GmbH</cbc:RegistrationName></cac:PartyLegalEntity>
 </cac:Party></cac:AccountingSupplierParty>
 <cac:AccountingCustomerParty><cac:Party><cac:PartyName><cbc:Name>Wiesen Bücher KG</cbc:Name></cac:PartyName>
 </cac:Party></cac:AccountingCustomerParty>
 <cac:TaxTotal><cbc:TaxAmount currencyID="EUR">17.29</cbc:TaxAmount><cac:TaxSubtotal>
  <cbc:TaxAmount currencyID="EUR">17.29</cbc:TaxAmount></cac:TaxSubtotal></cac:TaxTotal>
 <cac:LegalMonetaryTotal><cbc:TaxExclusiveAmount currencyID="EUR">91.00</cbc:TaxExclusiveAmount>
  <cbc:TaxInclusiveAmount currencyID="EUR">108.29</cbc:TaxInclusiveAmount></cac:LegalMonetaryTotal>
 <cac:{line}Line><cbc:ID>1</cbc:ID><cbc:{quantity}Quantity unitCode="C62">2</cbc:{quantity}Quantity>
  <cbc:LineExtensionAmount currencyID="EUR">91.00</cbc:LineExtensionAmount>
  <cac:Item><cbc:Name>Messinglampe</cbc:Name>
   <cac:ClassifiedTaxCategory><cbc:Percent>19</cbc:Percent></cac:ClassifiedTaxCategory></cac:Item>
  <cac:Price><cbc:PriceAmount currencyID="EUR">45.5</cbc:PriceAmount></cac:Price></cac:{line}Line>
</{root}>"""
INVOICE = CII.format(code=380).encode()
UBL_INVOICE = UBL.format(root="Invoice", line="Invoice", quantity="Invoiced").encode()
UBL_CREDIT = UBL.format(root="CreditNote", line="CreditNote", quantity="Credited").encode()


def values(reading):
    return {name: found.value for name, found in reading.fields.items()}


def expected(number, sign=""):
    return {
        "seller": "Kiefernholz Lampen GmbH", "buyer": "Wiesen Bücher KG", "invoice_number": number,
        "invoice_date": "2025-03-14", "due_date": "2025-04-13", "currency": "EUR", "subtotal": f"{sign}91.00",
        "tax": f"{sign}17.29", "total": f"{sign}108.29",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("xml", "number", "sign", "engine"),
    [
        (INVOICE, "FX-77", "", "xml-cii"),
        (CII.format(code=381).encode(), "FX-77", "-", "xml-cii"),
        (UBL_INVOICE, "U-9", "", "xml-ubl"),
        (UBL_CREDIT, "U-9", "-", "xml-ubl"),
        (INVOICE.decode().replace("UTF-8", "UTF-16").encode("utf-16"), "FX-77", "", "xml-cii"),
    ],
    ids=["cii", "cii credit", "ubl", "ubl credit", "utf-16"],
)
def test_what_an_invoice_says_is_read(xml, number, sign, engine):
    reading = read_xml(xml)
    assert values(reading) == expected(number, sign)
    (row,) = reading.line_items
    assert {name: cell.value for name, cell in row.items()} == {
        "description": "Messinglampe", "quantity": f"{sign}2", "unit_price": "45.50", "amount": f"{sign}91.00",
        "tax_rate": "19",
    }  # fmt: skip
    assert (reading.kind, reading.engine) == ("invoice", engine)
    assert min(found.confidence for found in reading.fields.values()) > 0.9


def test_what_is_missing_is_null_and_sure_of_nothing():
    bare = b"<Invoice xmlns='urn:x'><ID>7</ID><IssueDate>2025-02-30</IssueDate></Invoice>"
    reading = read_xml(bare)
    assert {name: value for name, value in values(reading).items() if value} == {"invoice_number": "7"}
    assert reading.fields["invoice_date"].confidence == 0


def test_the_xml_in_a_pdf_is_preferred_to_its_page(pdf_of, invoice_rows):
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf_of(invoice_rows)))
    writer.add_attachment("notes.xml", b"<notes/>")
    writer.add_attachment("factur-x.xml", INVOICE)
    made = io.BytesIO()
    writer.write(made)
    (document,) = Opener(Caps(), lambda: pytest.fail("no OCR")).open(made.getvalue())
    assert (document.xml_kind, document.engine, document.pages, document.pages_total) == ("cii", "xml-cii", (), 1)
    assert read_xml(document.xml).fields["total"].value == "108.29"


def test_xml_alone_is_a_document():
    (document,) = Opener(Caps(), lambda: pytest.fail("no OCR")).open(UBL_INVOICE)
    assert (document.media_type, document.xml_kind) == ("application/xml", "ubl")


def test_nothing_outside_of_the_file_is_asked(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("not for strangers")
    head = f'<!DOCTYPE Invoice [<!ENTITY x SYSTEM "{secret.as_uri()}">]>'
    for xml in (
        f"{head}<Invoice><ID>&x;</ID></Invoice>",
        '<!DOCTYPE Invoice SYSTEM "http://127.0.0.1:9/x.dtd"><Invoice><ID>1</ID></Invoice>',
        '<!DOCTYPE Invoice [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><Invoice><ID>&b;</ID></Invoice>',
    ):
        with pytest.raises(DocumentError) as caught:
            read_xml(xml.encode())
        assert caught.value.reason == "not_a_document"


@pytest.mark.parametrize("xml", [b"<Invoice>", b"<rss/>", b"", INVOICE[:900], "<Invoice/>".encode("utf-16")[:-3]])
def test_what_is_no_whole_invoice_is_none(xml):
    assert xml_kind(xml) is None


@given(
    st.sampled_from([INVOICE, UBL_INVOICE, UBL_CREDIT]),
    st.lists(st.tuples(st.integers(0, 10_000), st.binary(max_size=4), st.integers(0, 40)), max_size=5),
)
def test_damage_is_a_reading_or_a_typed_error(xml, damage):
    for place, written, dropped in damage:
        at = place % (len(xml) or 1)
        xml = xml[:at] + written + xml[at + dropped :]
    reading, reason = None, "truncated"
    try:
        reading = read_xml(xml)
    except DocumentError as exc:
        reason = exc.reason
    assert reason in {"truncated", "not_a_document"}
    assert reading is None or all(found.confidence == 0 for found in reading.fields.values() if found.value is None)
