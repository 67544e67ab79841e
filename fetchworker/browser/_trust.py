"""Makes a certificate database for Chromium: ``python -IS _trust.py FOLDER FILE.pem``.

Chromium on Linux trusts, beside its own roots, what NSS's database in its HOME holds. The library comes with Chromium,
so no further package is needed; it keeps a state for the whole process, so this is a script of its own. Functions:
https://firefox-source-docs.mozilla.org/security/nss/ (seen 2026-11).
"""

import ctypes
import re
import ssl
import sys
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_uint, c_ulong, c_void_p
from pathlib import Path

_PEM = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
_TRUSTED = 1 << 3 | 1 << 4  # CERTDB_VALID_CA, CERTDB_TRUSTED_CA (certt.h)


class _Trust(Structure):
    _fields_ = (("ssl", c_uint), ("mail", c_uint), ("objects", c_uint))


def main() -> None:
    folder, file = sys.argv[1:]
    found = _PEM.findall(Path(file).read_text("ascii", "replace"))
    if not found:
        sys.exit("it holds no certificate")
    nss = _library()
    _done(nss.NSS_InitReadWrite(f"sql:{folder}".encode()), "open the database")
    slot = nss.PK11_GetInternalKeySlot()
    _done(nss.PK11_InitPin(slot, None, b""), "set it up")
    for number, text in enumerate(found):
        der = ssl.PEM_cert_to_DER_cert(text)
        certificate = nss.CERT_DecodeCertFromPackage(der, len(der))
        if not certificate:
            sys.exit(f"certificate {number + 1} cannot be read")
        _done(nss.PK11_ImportCert(slot, certificate, 0, f"fetchworker {number}".encode(), 0), "keep a certificate")
        trust = _Trust(_TRUSTED, 0, 0)
        _done(nss.CERT_ChangeCertTrust(nss.CERT_GetDefaultCertDB(), certificate, byref(trust)), "trust it")
        nss.CERT_DestroyCertificate(certificate)
    nss.PK11_FreeSlot(slot)
    _done(nss.NSS_Shutdown(), "close the database")


def _library() -> ctypes.CDLL:
    nss = ctypes.CDLL("libnss3.so")
    nss.CERT_DecodeCertFromPackage = ctypes.CDLL("libsmime3.so").CERT_DecodeCertFromPackage  # type: ignore[attr-defined]
    kinds = {
        "NSS_InitReadWrite": (c_int, [c_char_p]),
        "PK11_GetInternalKeySlot": (c_void_p, []),
        "PK11_InitPin": (c_int, [c_void_p, c_char_p, c_char_p]),
        "CERT_DecodeCertFromPackage": (c_void_p, [c_char_p, c_int]),
        "PK11_ImportCert": (c_int, [c_void_p, c_void_p, c_ulong, c_char_p, c_int]),
        "CERT_GetDefaultCertDB": (c_void_p, []),
        "CERT_ChangeCertTrust": (c_int, [c_void_p, c_void_p, POINTER(_Trust)]),
        "CERT_DestroyCertificate": (None, [c_void_p]),
        "PK11_FreeSlot": (None, [c_void_p]),
        "NSS_Shutdown": (c_int, []),
    }
    for name, (result, arguments) in kinds.items():
        function = getattr(nss, name)
        function.restype, function.argtypes = result, arguments
    return nss


def _done(status: int, what: str) -> None:
    if status != 0:
        sys.exit(f"NSS could not {what}")


main()
