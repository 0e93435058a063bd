"""Reading web pages at addresses that a model chose: only public ones, however they are written."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import ipaddress
import socket
import threading
import tracemalloc

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.core.addresses import AddressRefused, check_address, check_url
from robotlab_nb.models import guarded_fetch
from robotlab_nb.tools.fetch import fetch_tool, fetch_url
from robotlab_nb.tools.page_text import page_text

# -- addresses -------------------------------------------------------------------------------

INSIDE = [
    "127.0.0.1", "127.255.255.254", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255",
    "192.168.1.1", "169.254.169.254", "169.254.0.1", "100.64.0.1", "100.100.100.200",
    "192.0.0.192", "198.18.0.1", "192.0.2.1", "224.0.0.1", "239.1.1.1", "240.0.0.1",
    "255.255.255.255", "168.63.129.16", "192.88.99.1",
    "::1", "::", "fe80::1", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1",
    "3fff::1", "100::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:0:127.0.0.1", "::127.0.0.1",
    "::8.8.8.8", "2002:7f00:1::", "2002:808:808::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::808:808", "2600::5efe:7f00:1",
    "2600::200:5efe:a00:1",
]  # fmt: skip
OUTSIDE = ["8.8.8.8", "1.1.1.1", "93.184.215.14", "2606:4700:4700::1111", "64:ff9b::808:808"]


def bracketed(address):
    return f"[{address}]" if ":" in address else address


@pytest.mark.parametrize("address", INSIDE)
def test_addresses_inside_are_refused_as_hosts_and_as_what_a_name_means(address):
    with pytest.raises(AddressRefused, match="is refused"):
        check_url(f"http://{bracketed(address)}/")
    with pytest.raises(AddressRefused, match="is refused"):
        check_address(check_url("http://example.com/"), address)


@pytest.mark.parametrize("address", OUTSIDE)
def test_public_addresses_pass(address):
    target = check_url(f"https://{bracketed(address)}:8443/a?b=c#d")
    assert target.url == f"https://{bracketed(address)}:8443/a?b=c"
    check_address(check_url("http://example.com/"), address)


def test_an_address_of_one_link_is_refused():
    with pytest.raises(AddressRefused):
        check_address(check_url("http://example.com/"), "fe80::1%eth0")
    with pytest.raises(AddressRefused):
        check_url("http://[fe80::1%25eth0]/")


@pytest.mark.parametrize(
    "url",
    [
        "http://2130706433/", "http://0x7f000001/", "http://0x7f.0.0.1/", "http://0177.0.0.1/",
        "http://127.1/", "http://127.0.1/", "http://010.0.0.1/", "http://1.2.3.4.5/",
        "http://0/", "http://0x/", "http://①②⑦.⓪.⓪.①/", "http://127。0。0。1/",
        "http://example.com.127.0.0.0x1/", "http://[::ffff:7f00:1]/", "http://256.1.1.1/",
    ],
)  # fmt: skip
def test_odd_spellings_of_addresses_are_refused(url):
    with pytest.raises(AddressRefused):
        check_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd", "ftp://example.com/", "gopher://example.com/", "data:text/plain,x",
        "javascript:alert(1)", "//example.com/", "example.com", "", "http://", "http:///path",
        "http://user@example.com/", "http://user:key@example.com/", "http://example.com@10.0.0.1/",
        "http://example.com\\@10.0.0.1/", "http://exa mple.com/", "http://example.com/\r\nX: y",
        "http://exam\tple.com/", "http://example.com:99999/", "http://example.com:x/",
        "http://[::1/", "http://[example.com]/", "http://exa%6dple.com/", "http://%31%32%37.0.0.1/",
        "http://-/", "http://a..b/", "http://.example.com/", f"http://{'a' * 300}.com/",
        "http://localhost/", "http://LOCALHOST./", "http://api.localhost/", "http://printer.local/",
        "http://metadata.google.internal/", "http://METADATA.google.internal./computeMetadata/",
        "http://intranet/", "http://db.lan/", None, 7,
    ],
)  # fmt: skip
def test_other_schemes_user_names_broken_hosts_and_inside_names_are_refused(url):
    with pytest.raises(AddressRefused, match="is refused"):
        check_url(url)


def test_a_host_that_a_person_allows_passes_and_no_other():
    for url in (
        "http://127.0.0.1:8000/x",
        "http://wiki.corp/",
        "http://[::1]/",
        "http://WIKI.corp./",
    ):
        target = check_url(url, ["127.0.0.1", "wiki.corp", "::1"])
        check_address(target, "10.0.0.1")
    for url in ("http://127.0.0.2/", "http://a.wiki.corp/", "http://127.1/"):
        with pytest.raises(AddressRefused):
            check_url(url, ["127.0.0.1", "wiki.corp", "::1"])


@given(st.ip_addresses())
def test_no_address_passes_that_ipaddress_calls_anything_but_global(address):
    with contextlib.suppress(AddressRefused):
        check_address(check_url("http://example.com/"), str(address))
        assert address.is_global
        assert not address.is_multicast


@given(st.integers(0, 2**32 - 1))
def test_no_spelling_of_a_number_reaches_an_inside_address(number):
    octets = [number >> 24, number >> 16 & 255, number >> 8 & 255, number & 255]
    inside = not ipaddress.IPv4Address(number).is_global
    spellings = [
        str(number), hex(number), oct(number).replace("o", ""),
        ".".join(map(hex, octets)), ".".join(f"0{o:o}" for o in octets if o) or "00",
        ".".join(map(str, octets)), f"{octets[0]}.{number & 0xFFFFFF}",
    ]  # fmt: skip
    for host in spellings:
        try:
            target = check_url(f"http://{host}/")
        except AddressRefused:
            continue
        assert host == ".".join(map(str, octets))
        assert not inside
        assert target.host == host


@given(st.text(max_size=40))
def test_any_text_is_a_target_or_refused(text):
    for url in (text, f"http://{text}", f"http://{text}/", f"http://example.com/{text}"):
        with contextlib.suppress(AddressRefused):
            target = check_url(url)
            assert check_url(target.url).host == target.host


# -- a real server ---------------------------------------------------------------------------


class Site:
    """A web server on the loopback, and the requests that it got."""

    def __init__(self):
        self.requests = []
        self.routes = {}
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        assert self._ready.wait(10)

    def _serve(self):
        self._loop.run_until_complete(self._main())

    async def _main(self):
        async def answer(request):
            self.requests.append(request)
            found = self.routes[request.path]
            return await found(request) if callable(found) else found

        runner = web.ServerRunner(web.Server(answer))
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.port = site._server.sockets[0].getsockname()[1]
        self._stop = asyncio.Event()
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    def url(self, path="/", host="127.0.0.1"):
        return f"http://{host}:{self.port}{path}"

    def serve(self, path, text="", *, status=200, kind="text/plain", headers=None, body=None):
        async def answer(_request):
            more = {"Content-Type": kind, **(headers or {})}
            return web.Response(body=body or text.encode(), status=status, headers=more)

        self.routes[path] = answer

    def close(self):
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)


@pytest.fixture
def site():
    made = Site()
    yield made
    made.close()


def read(url, **options):
    """What a robot's tool call for a page gives: the call."""
    tool = fetch_tool(allow_hosts=["127.0.0.1"], **options)
    bot = rl.build("b", model=rl.SimulatedModel([("fetch_url", {"url": url}), "ok"]), tools=[tool])
    return bot.run("go").tool_calls[0]


def test_a_page_is_read_as_text(site):
    site.serve("/", "<title>T</title><p>Hello &amp; <b>welcome</b></p><script>steal()</script>",
               kind="text/html; charset=utf-8")  # fmt: skip
    call = read(site.url())
    assert call.result == f"{site.url()}\n\nT\nHello & welcome"
    request = site.requests[0]
    assert request.method == "GET"
    assert not {"Cookie", "Authorization", "Referer"} & set(request.headers)


@pytest.mark.parametrize(
    ("kind", "body", "text"),
    [
        ("application/json", b'{"a": 1}', '{"a": 1}'),
        ("text/plain; charset=latin-1", "é".encode("latin-1"), "é"),
        ("text/plain; charset=nonsense", "é".encode(), "é"),
        ("text/plain", b"a\xffb", "a\ufffdb"),
        ("application/atom+xml", b"<a/>", "<a/>"),
        ("application/octet-stream", b"plain enough", "plain enough"),
    ],
)
def test_texts_of_many_kinds_are_read(site, kind, body, text):
    site.serve("/x", kind=kind, body=body)
    assert read(site.url("/x")).result.split("\n\n", 1)[1] == text


@pytest.mark.parametrize(("kind", "body"), [("image/png", b"\x89PNG"), ("application/zip", b"PK"),
                                            ("application/octet-stream", b"a\0b")])  # fmt: skip
def test_what_is_no_text_is_refused(site, kind, body):
    site.serve("/x", kind=kind, body=body)
    call = read(site.url("/x"))
    assert call.status == "failed"
    assert "is no text" in call.content


def test_a_page_that_is_not_there_is_told_with_its_status(site):
    site.serve("/gone", status=404)
    site.serve("/busy", status=503)
    gone, busy = read(site.url("/gone")), read(site.url("/busy"))
    assert "answered 404" in gone.content
    assert (gone.retryable, busy.retryable) == (False, True)


def test_the_loopback_is_refused_unless_a_person_allows_it(site):
    site.serve("/", "secret")
    bot = rl.build("b", model=rl.SimulatedModel([("fetch_url", {"url": site.url()}), "ok"]),
                   tools=[fetch_url])  # fmt: skip
    (call,) = bot.run("go").tool_calls
    assert call.error["type"] == "AddressRefused"
    assert site.requests == []


def test_redirects_are_followed_and_each_is_judged_anew(site):
    site.serve("/a", status=302, headers={"Location": "/b?x=1"})
    site.serve("/b", "there")
    assert read(site.url("/a")).result == f"{site.url('/b?x=1')}\n\nthere"
    for location in (
        f"http://localhost:{site.port}/b", f"http://2130706433:{site.port}/b",
        f"//127.0.0.2:{site.port}/b", "file:///etc/passwd", "http://169.254.169.254/latest/",
        f"http://u:p@127.0.0.1:{site.port}/b", f"http://[::ffff:127.0.0.1]:{site.port}/b",
    ):  # fmt: skip
        site.serve("/a", status=307, headers={"Location": location})
        before = len(site.requests)
        call = read(site.url("/a"))
        assert call.error["type"] == "AddressRefused", location
        assert len(site.requests) == before + 1


def test_a_circle_of_redirects_ends(site):
    site.serve("/a", status=302, headers={"Location": "/a"})
    assert "more than 5 redirects" in read(site.url("/a")).content
    assert len(site.requests) == 6


def test_a_name_that_means_an_inside_address_is_refused(site, monkeypatch):
    site.serve("/", "secret")
    answers = [[public(site.port), inside(site.port)], [inside(site.port)]]
    for found in answers:
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, found=found, **__: found)
        call = read(site.url(host="rebind.example"))
        assert call.error["type"] == "AddressRefused"
    assert site.requests == []


def inside(port):
    return (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))


def public(port):
    return (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.215.14", port))


def test_a_name_is_looked_up_once_and_cannot_change_its_meaning(site, monkeypatch):
    """The second look-up would lead elsewhere: there is none."""
    site.serve("/", "the page that was judged")
    asked = []

    def look_up(host, port, *_, **__):
        asked.append(host)
        return [inside(port)] if len(asked) == 1 else [public(port)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    tool = fetch_tool(allow_hosts=["rebind.example"], timeout=5)
    found = asyncio.run(tool.function(site.url(host="rebind.example")))
    assert found.endswith("the page that was judged")
    assert asked == ["rebind.example"]
    assert site.requests[0].headers["Host"] == f"rebind.example:{site.port}"


def test_a_connection_goes_only_where_it_was_judged_to_go(site, monkeypatch):
    """Even if a URL were read in another way further down."""
    site.serve("/", "secret")
    judged = [(socket.AF_INET, "127.0.0.2")]

    async def look_up(_target):
        return judged

    monkeypatch.setattr(guarded_fetch, "_look_up", look_up)
    assert "no connection" in read(site.url()).content
    assert site.requests == []


def test_a_long_page_is_cut_and_says_so(site):
    site.serve("/", "x" * 300_000)
    call = read(site.url(), most_bytes=100_000, most_chars=1_000)
    text = call.result.split("\n\n", 1)[1]
    assert text == "x" * 1_000 + "\n[cut: there was more]"


def test_a_small_page_cannot_grow_huge(site):
    bomb = gzip.compress(b"\0" * 50_000_000)
    site.serve("/", body=bomb, headers={"Content-Encoding": "gzip"})
    options = {"allow_hosts": ["127.0.0.1"], "most_bytes": 10_000, "seconds": 30}
    asyncio.run(guarded_fetch.fetch(site.url(), **options))
    tracemalloc.start()
    found = asyncio.run(guarded_fetch.fetch(site.url(), **options))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found.body) == 10_000
    assert found.cut
    assert peak < 4_000_000
    site.serve("/", body=gzip.compress(b"hello"), headers={"Content-Encoding": "gzip"})
    assert read(site.url()).result.endswith("hello")
    site.serve("/", body=b"not gzip", headers={"Content-Encoding": "gzip"})
    assert "not compressed" in read(site.url()).content
    site.serve("/", body=b"xx", headers={"Content-Encoding": "br"})
    assert "not known: 'br'" in read(site.url()).content


def test_a_page_that_never_ends_is_given_up_in_time(site):
    async def drip(request):
        response = web.StreamResponse(headers={"Content-Type": "text/plain"})
        await response.prepare(request)
        with contextlib.suppress(ConnectionError):
            for _ in range(100):
                await response.write(b"x")
                await asyncio.sleep(0.1)
        return response

    site.routes["/"] = drip
    call = read(site.url(), timeout=0.5)
    assert "did not answer within 0.5 s" in call.content
    assert call.retryable


def test_no_proxy_of_the_environment_is_used_unless_asked_for(site, monkeypatch):
    site.serve("/", "direct")
    proxied = Site()
    proxied.serve("/", "through the proxy")
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxied.port}")
    monkeypatch.setenv("no_proxy", "")
    try:
        assert read(site.url()).result.endswith("direct")
        assert proxied.requests == []
        assert read(site.url(), use_proxy=True).result.endswith("through the proxy")
    finally:
        proxied.close()


def test_an_unreachable_host_is_told(monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    call = read(f"http://127.0.0.1:{port}/")
    assert "no connection" in call.content
    assert call.retryable

    def nothing(*_, **__):
        raise socket.gaierror(socket.EAI_NONAME, "no such name")

    monkeypatch.setattr(socket, "getaddrinfo", nothing)
    assert "there is no host 'nowhere.example'" in read("http://nowhere.example/").content


def test_the_tool_is_labelled_and_its_options_are_checked():
    assert fetch_url.labels == {"untrusted", "outward"}
    with pytest.raises(rl.ConfigurationError, match="not a list of hosts"):
        fetch_tool(allow_hosts="127.0.0.1")


@given(st.text())
def test_any_text_is_a_page(text):
    assert "<script" not in page_text(f"<p>{text}</p><script>{text}").replace(text, "")
    page_text(text)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>a</p>\n\n<p>b<br>c</p>", "a\nb\nc"),
        ("<table><tr><td>1<td>2</tr><tr><td>3</table>", "1 2\n3"),
        ("one <b>two</b> three", "one two three"),
        ("<style>x{}</style><svg><text>no</text></svg>yes", "yes"),
        ("<script>if (a < b) { '</div>' }</script>after", "after"),
        ("&lt;b&gt;", "<b>"),
    ],
)
def test_html_reads_as_a_reader_sees_it(html, text):
    assert page_text(html) == text
