"""Certificates, good and bad, as servers show them."""

import datetime
import ssl
from pathlib import Path

import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

YEAR = datetime.timedelta(days=365)


def serving(certificate: trustme.LeafCert) -> ssl.SSLContext:
    """A server's context with this certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    return context


def self_signed(folder: Path) -> ssl.SSLContext:
    """A server's context with a certificate that no authority signed; its file is written to the folder."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "hook.example")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - YEAR)
        .not_valid_after(now + YEAR)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("hook.example")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = folder / "self.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context
