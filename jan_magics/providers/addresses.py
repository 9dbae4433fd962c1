"""Which addresses are of the public network; everything else belongs to somebody's own one."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final

_TRANSLATED: Final = IPv6Network("64:ff9b::/96")
"""IPv4 addresses as networks without IPv4 write them: the last 32 bits."""


def is_public(address: str) -> bool:
    """Tell whether an address may be asked for a document that somebody linked to.

    Not: loopback, private and link-local networks, shared ones of carriers, multicast, reserved
    ones, and each of these written inside of an IPv6 address.
    """
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return all(map(_is_public, (parsed, *_inside(parsed))))


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    if address.is_multicast or address.is_unspecified or not address.is_global:
        return False
    # What is_global says of these two depends on the version of Python.
    old = isinstance(address, IPv6Address) and (address.ipv4_mapped or address.is_site_local)
    return not old


def _inside(address: IPv4Address | IPv6Address) -> tuple[IPv4Address, ...]:
    if isinstance(address, IPv4Address):
        return ()
    inside = [address.sixtofour, *(address.teredo or ())]
    if address in _TRANSLATED or int(address) >> 32 == 0:
        inside.append(IPv4Address(int(address) & 0xFFFFFFFF))
    return tuple(each for each in inside if each is not None)
