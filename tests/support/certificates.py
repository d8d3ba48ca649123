"""Servers that speak TLS, and the file that makes their certificates trusted."""

import ssl

import trustme


def certified(folder, *names):
    """Return a server's context for some names, and the path of the authority's certificate."""
    authority = trustme.CA()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert(*names).configure_cert(context)
    path = folder / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return context, str(path)
