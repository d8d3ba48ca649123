"""Certificates of TLS servers, signed by a certificate authority of the tests."""

import ssl

import trustme


def certified(folder, *names):
    """Return an SSL context for host names, and the path of the authority's certificate."""
    authority = trustme.CA()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert(*names).configure_cert(context)
    path = folder / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return context, str(path)
