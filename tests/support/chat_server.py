"""A chat server that fails in every way that we know of: the first part of the path says how.

Prints its three ports (plain, TLS with a certificate that nobody signed, one where connecting never
ends), serves until its input ends. `/NAME/v1/chat/completions` runs the function of that name below;
`/log` gives what was asked so far, as JSON. It is a proxy too, which answers itself.
"""
import base64, collections, email.utils, gzip, json, socket, ssl, struct, sys, threading, time

log = []
lock = threading.Lock()
counts = collections.Counter()
CASES = {}


def case(function):
    CASES[function.__name__.replace("_", "-")] = function
    return function


class Request:
    def __init__(self, connection):
        self.connection = connection
        data = b""
        while b"\r\n\r\n" not in data:
            more = connection.recv(65536)
            if not more:
                raise ConnectionError
            data += more
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        self.method, self.path, _ = lines[0].split(" ")
        self.headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in lines[1:])}
        while len(body) < int(self.headers.get("content-length", 0)):
            body += connection.recv(65536)
        self.json = json.loads(body) if body else {}
        self.case = self.path.split("/")[1]
        with lock:
            self.number = counts[self.case]  # of earlier requests
            counts[self.case] += 1
            if self.path != "/log":
                log.append({"method": self.method, "path": self.path, "headers": self.headers, "body": self.json})

    def send(self, data):
        self.connection.sendall(data)

    def answer(self, status, body, kind="application/json", **headers):
        if not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        more = "".join(f"{k.replace('_', '-')}: {v}\r\n" for k, v in headers.items())
        self.send(f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
                  f"Connection: close\r\n{more}\r\n".encode() + body)

    def error(self, status, message, **members):
        headers = members.pop("headers", {})
        self.answer(status, {"error": {"message": message, **members}}, **headers)

    def stream(self, *events):
        self.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        for event in events:
            self.send(event if isinstance(event, bytes) else event_of(event))


def event_of(value):
    return b"data: " + (value if isinstance(value, str) else json.dumps(value)).encode() + b"\n\n"


def delta(text=None, finish=None, **more):
    return {"choices": [{"index": 0, "delta": {"content": text, **more}, "finish_reason": finish}]}


USAGE = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}


def reply(text="hello", finish="stop", usage=USAGE, **message):
    made = {"model": "served", "choices": [{"index": 0, "finish_reason": finish,
                                            "message": {"role": "assistant", "content": text, **message}}]}
    return {**made, "usage": usage} if usage else made


@case
def ok(r):
    if r.method == "GET":
        r.answer(200, {"data": [{"id": "served", "owned_by": "llamacpp"}, {"id": "other"}]})
    elif r.json.get("stream"):
        r.stream(delta(None, role="assistant"), b": ping\n\n", delta("hel"), delta("lo"), delta(None, "stop"),
                 {"choices": [], "usage": USAGE}, "[DONE]")
    else:
        r.answer(200, reply())


def first(failure):
    """Fails the first time, then answers."""
    def run(r):
        failure(r) if r.number == 0 else ok(r)
    return run


def reset(r):
    r.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{\"choices\":")
    time.sleep(0.05)
    r.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def cut(r):
    r.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{\"choices\":")


def silence(r):
    r.connection.recv(1)  # until the client leaves


def stall(r):
    r.stream(delta("hel"))
    silence(r)


@case
def pings(r):
    """Text, then only comments: alive, but silent."""
    r.stream(delta("hel"))
    while True:
        r.send(b": ping\n\n")
        time.sleep(0.02)


@case
def slow_first(r):
    time.sleep(0.4)
    ok(r)


@case
def drip(r):
    r.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{")
    while True:
        r.send(b"1")
        time.sleep(0.02)


def later(**headers):
    return lambda r: r.error(429, "slow down", type="rate_limit_error", headers=headers)


def after_hints(r):
    """An interim reply whose headers are not those of the reply."""
    r.send(b"HTTP/1.1 103 X\r\nRetry-After: 9999\r\nx-should-retry: false\r\nContent-Type: text/event-stream\r\n"
           b"Server: llama.cpp\r\nLocation: http://hinted/\r\n\r\n")


def later_after_hints(r):
    after_hints(r)
    later()(r)


def http_date(seconds):
    return email.utils.formatdate(time.time() + seconds, usegmt=True)


def streamed(*events):
    return lambda r: r.stream(*events)


FIRST = {
    "closed": lambda r: None,
    "reset": reset,
    "cut": cut,
    "stall": stall,
    "408": lambda r: r.error(408, "too slow"),
    "500": lambda r: r.answer(500, "Internal Server Error", "text/plain"),
    "502": lambda r: r.answer(502, "<html><h1>Bad gateway</h1>", "text/html"),
    "503": lambda r: r.error(503, "Loading model", type="unavailable_error", code=503),
    "529": lambda r: r.answer(529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
    "429": later(),
    "429-seconds": later(Retry_After="0.2"),
    "429-date": lambda r: later(Date=http_date(-3600), Retry_After=http_date(-3599))(r),  # its clock is late
    "429-past": lambda r: later(Date=http_date(0), Retry_After=http_date(-100))(r),
    "429-hints": later_after_hints,
    "429-ms": later(retry_after_ms="200", Retry_After="9999"),
    "error-in-200": lambda r: r.answer(200, {"error": {"message": "try later", "code": 503}}),
    "stream-error": streamed(delta("hel"), {"error": {"message": "it broke", "code": 500, "type": "server_error"}}),
    "stream-no-finish": streamed(delta("hel"), "[DONE]"),
    "stream-cut": streamed(delta("hel"), b'data: {"choices":[{"index":0,"del'),
    "stream-nothing": streamed(),
}
for name, failure in FIRST.items():
    CASES["first-" + name] = first(failure)
    CASES["always-" + name] = failure

ANSWERS = {
    "error-words": {"error": "it broke"},
    "broken-json": '{"choices": [{"message": {"content": "hel',
    "not-json": "all is well",
    "number": 17,
    "null": None,
    "choices-number": {"choices": 3},
    "choice-null": {"choices": [None]},
    "message-text": {"choices": [{"message": "hello"}]},
    "content-number": reply(7),
    "empty-choices": {"choices": [], "usage": USAGE},
    "content-null": reply(None),
    "content-empty": reply(""),
    "content-blank": reply(" \n"),
    "all-unseen": reply("", "length"),
    "content-parts": reply([{"type": "text", "text": "hel"}, {"type": "text", "text": "lo"}]),
    "content-tool": reply(None, "tool_calls", tool_calls=[
        {"id": "1", "type": "function", "function": {"name": "lookup", "arguments": "{}"}}]),
    "content-refusal": reply(None, refusal="I would rather not"),
    "filtered": reply("", "content_filter"),
    "length": reply("hel", "length"),
    "reasoning-only": reply("", "length", reasoning_content="let me see"),
    "reasoning": reply("hello", reasoning="let me see"),
    "think": reply("<think>let me see</think>\n\nhello"),
    "think-no-begin": reply("let me see</think>hello"),
    "think-no-end": reply("<think>let me see", "length"),
    "no-usage": reply(usage=None),
    "unseen-no-usage": reply("", "length", usage=None),
    "odd-usage": reply(usage={"prompt_tokens": "many", "completion_tokens": -3}),
    "deep": "[" * 5000 + "]" * 5000,
    "wide": '{"choices":[' + "{}," * 700_000 + "{}]}",
    "half-usage": reply(usage={"prompt_tokens": 5}),
    "empty-choices-costly": {"choices": [], "usage": USAGE},
    "tag-in-comment": reply("Task * GPU;  # no </think> and no <think>\nTask a CPU;\n"),
    "think-twice": reply("<think>let me</think><think> see</think>hello"),
    "tag-beside-reasoning": reply("hello</think> you", reasoning="let me see"),
}
for name, body in ANSWERS.items():
    CASES[name] = lambda r, body=body: r.answer(200, body)

ERRORS = {
    "400-context": (400, {"error": {"code": 400, "message": "the request exceeds the available context size",
                                    "type": "exceed_context_size_error", "n_prompt_tokens": 9000, "n_ctx": 4096}}),
    "400-context-openai": (400, {"error": {"message": "This model's maximum context length is 8192 tokens. However,"
                                           " you requested 9000", "code": "context_length_exceeded"}}),
    "400-context-anthropic": (400, {"type": "error", "error": {
        "type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"}}),
    "400": (400, {"object": "error", "message": "bad request", "type": "BadRequestError", "code": 400}),
    "401": (401, {"detail": "Invalid API key"}),
    "403": (403, {"error": {"message": "not in your region"}}),
    "404": (404, {"error": {"message": "The model `x` does not exist", "code": "model_not_found"}}),
    "quota": (429, {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}),
    "501": (501, {"error": {"message": "not built for this"}}),
    "504": (504, "gateway time-out"),
    "max-range": (400, {"error": {"message": "Invalid max_tokens value, the valid range of max_tokens is [1, 3]",
                                  "type": "invalid_request_error", "code": "invalid_request_error"}}),
    "201": (201, reply()),
    "204": (204, ""),
}
for name, (status, body) in ERRORS.items():
    CASES[name] = lambda r, status=status, body=body: r.answer(status, body)


@case
def by_proxy(r):
    r.answer(200, reply("by the proxy"))


CASES[""] = by_proxy  # the path is a whole address


@case
def no_usage_slow(r):
    time.sleep(0.1)
    r.answer(200, reply(usage=None))


@case
def slow_ok(r):
    time.sleep(0.1)
    ok(r)


@case
def hang_models(r):
    silence(r) if r.method == "GET" else ok(r)


def refuses(field):
    def run(r):
        time.sleep(0.02)
        if r.method == "GET":
            return ok(r)
        if field in r.json:
            return r.error(400, f"Unsupported parameter: '{field}'", param=field)
        r.answer(200, reply(r.json["messages"][0]["content"]))
    return run


for field in ("temperature", "max_tokens"):
    CASES["no-" + field] = refuses(field)


@case
def later_5(r):
    later(Retry_After="5")(r)


def typed_stream(kind):
    data = b"".join(event_of(e) for e in (delta("hel"), delta("lo"), delta(None, "stop"), "[DONE]"))
    return lambda r: r.answer(200, data, kind)


CASES["stream-caps"] = typed_stream("Text/Event-Stream; charset=utf-8")
CASES["stream-plain"] = typed_stream("text/plain")


@case
def html(r):
    r.answer(200, "<!doctype html><h1>Welcome</h1>", "text/html")


@case
def long_wait(r):
    later(Retry_After="3600")(r)


@case
def do_not_retry(r):
    r.error(500, "never", headers={"x_should_retry": "false"})


@case
def reasoning_model(r):
    """As OpenAI's newer models: one limit, by the new name; no temperature, no seed."""
    for field, word in (("max_tokens", "Use 'max_completion_tokens' instead."), ("temperature", "Only 1 is supported.")):
        if field in r.json:
            return r.error(400, f"Unsupported parameter: '{field}'. {word}", param=field, code="unsupported_parameter")
    if "seed" in r.json:
        return r.answer(422, {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]})
    ok(r)


@case
def refuses_limits(r):
    field = "max_tokens" if "max_tokens" in r.json else "max_completion_tokens"
    r.error(400, f"unknown field {field}")


@case
def stream_no_done(r):
    r.stream(delta("hel"), delta("lo"), delta(None, "stop"))


@case
def stream_cut_usage(r):
    """All of the text, with a byte order mark before it; then it breaks off."""
    r.stream(b"\xef\xbb\xbf" + event_of(delta("hel")), delta("lo"), delta(None, "stop"), b'data: {"choices":[],"usa')


@case
def stream_split(r):
    """Every byte alone, with CR LF, and a character that falls apart."""
    data = b"".join(event_of(e) for e in (delta("h\u00e9l"), delta("lo"), delta(None, "stop"), "[DONE]"))
    r.stream()
    for byte in data.replace(b"\n", b"\r\n"):
        r.send(bytes([byte]))


@case
def stream_as_json(r):
    r.answer(200, reply())


@case
def stream_echo(r):
    """The key, letter by letter."""
    key = r.headers["authorization"].split()[1]
    r.stream(*[delta(letter) for letter in "<" + key + ">"], delta(None, "stop"))


@case
def echo_escaped(r):
    key = r.headers["authorization"].split()[1]
    r.answer(401, '{"error":{"message":"not \\u%04x%s"}}' % (ord(key[0]), key[1:].replace("/", "\\/")))


@case
def echo_cut(r):
    """Ends within the key."""
    key = r.headers["authorization"].split()[1]
    r.send(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{"choices":[{"message":'
           b'{"content":"' + key[:-3].encode())


@case
def echo_far(r):
    """The key where a header's bound cuts it."""
    r.answer(307, "", Location="http://h/" + "a" * 976 + r.headers["authorization"].split()[1])


@case
def echo_many(r):
    r.answer(200, reply(r.headers["authorization"].split()[1] * 280_000))


@case
def echo(r):
    key = r.headers["authorization"]
    if r.json["messages"][0]["content"] == "fail":
        r.error(401, f"Incorrect API key provided: {key}", headers={"Server": key})
    else:
        r.answer(200, reply(f"your key is {key}", reasoning=key))


LEAKS = {
    "error": lambda key: {"error": {"message": f"bad key {key}"}},
    "fused": lambda key: {"error": {"message": f"badkey{key}"}},
    "words": lambda key: {"error": {"message": f"{key}: bad, '{key}' ({key}) x={key};\n{key}... {key}XXXX {key}***\u2026"}},
    "plain": lambda key: f"bad key {key}\n",
    "html": lambda key: f"<!doctype html><p>bad key {key}</p>",
    "detail": lambda key: {"detail": [{"msg": f"bad {key}", "loc": ["body", key]}]},
    "nested": lambda key: {"error": {"message": json.dumps({"why": f"no key\n{key}", "key": key})}},
    "name": lambda key: {"error": {key: key, f"the {key}": 1}},
    "list": lambda key: {"error": [f"xyz{key}", {"message": key}], "detail": key},
    "twice": lambda key: '{"error":{"message":"%s","message":"x","type":"%s"}}' % (key, key),
    "escaped": lambda key: '{"error":{"message":"no \\u%04x%s"}}' % (ord(key[0]), key[1:]),
    "percent": lambda key: {"error": {"message": f"http://h/?key%3D%{ord(key[0]):02x}{key[1:]}&x=%20{key}"}},
    "reply": lambda key: reply(f"a {key}\nb", reasoning=f"({key})", refusal="", name=key),
    "content": lambda key: reply(f"a{key}"),
    "refusal": lambda key: reply(None, refusal="x" * 290 + f" {key}"),
    "tool": lambda key: reply(None, tool_calls=[{"function": {"name": key}}]),
    "parts": lambda key: reply([{"text": key[:3]}, {"text": key[3:]}]),
    "model": lambda key: {**reply(), "model": key},
}


def part_of(key, how):
    """The first letters of the key (`12`), its last (`last12`), those from one on (`from3`), or what `how` names."""
    if how.isdigit():
        return key[:int(how)]
    if how.startswith("last"):
        return key[-int(how[4:]):]
    if how.startswith("from"):
        return key[int(how[4:]):][:8]
    base64_of = lambda text: base64.b64encode(text.encode()).decode()
    return {
        "upper": key.upper,
        "lower": key.lower,
        "masked": lambda: key[:6] + "***" + key[-8:],
        "base64": lambda: base64_of(key),
        "bearer": lambda: base64_of("Bearer " + key),
        "basic": lambda: base64_of("me:" + key),
        "url": lambda: base64.urlsafe_b64encode(key.encode()).decode().rstrip("="),
    }[how]()


def leak(r):
    """`/leak-FORM-STATUS-HOW/`: an answer with a part of the key, as a server may repeat it."""
    _, form, status, how = r.case.split("-")
    header = r.headers.get("authorization", r.headers.get("x-api-key"))
    key, status = part_of(header.split()[-1], how), int(status)
    data = lambda *events: b"".join(e if isinstance(e, bytes) else event_of(e) for e in events)
    kind = "text/event-stream"
    if form == "header":
        r.answer(status, "", Location=f"http://h/{key}", Server=f"s/{key}")
    elif form == "pieces":
        letters = [delta(letter) for letter in f"<{key}> and {key} or x{key}"]
        r.answer(status, data(*letters, delta(None, "stop"), "[DONE]"), kind)
    elif form == "event":
        r.answer(status, data(delta("hel"), {"error": {"message": f"bad key {key}"}}), kind)
    elif form == "comment":
        r.answer(status, data(f": {key}\n".encode(), b"id: " + key.encode() + b"\n", delta("hello", "stop"), "[DONE]"), kind)
    elif form == "broken":
        r.answer(status, data(b"data: no json " + key.encode() + b"\n\n", delta("hello", "stop")), kind)
    elif form == "cut":
        r.send(f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n"
               f'{{"error":{{"message":"a{key}'.encode())
    else:
        body = LEAKS[form](key)
        r.answer(status, body, "text/html" if form in ("html", "plain") else "application/json")


@case
def gzipped(r):
    r.answer(200, gzip.compress(json.dumps(reply()).encode()), Content_Encoding="gzip")


@case
def gzip_broken(r):
    r.answer(200, b"\x1f\x8b\x08\x00 this is no gzip at all", Content_Encoding="gzip")


@case
def gzip_bomb(r):
    r.answer(200, gzip.compress(b" " * 50_000_000), Content_Encoding="gzip")


@case
def redirect_after_hints(r):
    after_hints(r)
    r.answer(307, "")


@case
def redirect(r):
    r.answer(307, "", Location=f"http://127.0.0.1:{plain.getsockname()[1]}/ok/v1/chat/completions")


@case
def big(r):
    r.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 50000000\r\n\r\n")
    for _ in range(50):
        r.send(b"x" * 1_000_000)


@case
def bad_utf8(r):
    r.answer(200, json.dumps(reply("he@llo")).encode().replace(b"@", b"\xff\xc3"))


@case
def bad_utf8_stream(r):
    r.stream(event_of(delta("he@llo", "stop")).replace(b"@", b"\xff\xc3"))


@case
def not_http(r):
    r.send(b"220 mail ready\r\n")


@case
def no_models(r):
    ok(r) if r.method == "POST" else r.error(404, "File Not Found")


@case
def schema(r):
    """Keeps a schema of one constant, and a grammar that is one literal; lists itself as vLLM."""
    if r.method == "GET":
        return r.answer(200, {"data": [{"id": "served", "owned_by": "vllm"}]})
    text = "ready"
    if "response_format" in r.json:
        properties = r.json["response_format"]["json_schema"]["schema"]["properties"]
        text = json.dumps({k: v["enum"][0] for k, v in properties.items()})
    if "structured_outputs" in r.json:
        text = r.json["structured_outputs"]["grammar"].split('"')[1]
    r.answer(200, reply(text))


@case
def schema_only(r):
    """Keeps a schema; takes a grammar, but does not look at it."""
    r.json.pop("structured_outputs", None)
    schema(r)


@case
def refuses_structure(r):
    if r.method == "POST" and ("response_format" in r.json or "structured_outputs" in r.json):
        return r.error(400, "no structured output here")
    schema(r)


def owned(name):
    def run(r):
        r.answer(200, {"data": [{"id": "served", "owned_by": name}]}) if r.method == "GET" else tool_or_text(r)
    return run


def tool_or_text(r):
    if "tools" not in r.json:
        return ok(r)
    r.answer(200, reply(None, "tool_calls", tool_calls=[{"type": "custom", "custom": {"name": "reply", "input": "hello"}}]))


for name in ("llamacpp", "me", "vllm", "sglang", "fireworks", "openai", "library", "somebody"):
    CASES["by-" + name] = owned(name)


@case
def anthropic(r):
    usage = {"input_tokens": 5, "cache_read_input_tokens": 3, "output_tokens": 1}
    if r.method == "GET":
        return r.answer(200, {"data": [{"type": "model", "id": "served"}]})
    if "x-api-key" not in r.headers or r.headers.get("anthropic-version") != "2023-06-01":
        return r.answer(401, {"type": "error", "error": {"type": "authentication_error", "message": "no key"}})
    if r.json.get("tools"):
        return r.answer(200, {"content": [{"type": "tool_use", "name": "reply", "input": {"a": 1}}], "model": "served",
                              "stop_reason": "tool_use", "usage": {**usage, "output_tokens": 2}})
    if not r.json["stream"]:
        return r.answer(200, {"model": "served", "stop_reason": "end_turn", "usage": {**usage, "output_tokens": 2},
                              "content": [{"type": "thinking", "thinking": "let me see"}, {"type": "text", "text": "hel"},
                                          {"type": "text", "text": "lo"}]})
    events = ({"type": "message_start", "message": {"model": "served", "content": [], "usage": usage}},
              {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
              {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "let me see"}},
              {"type": "ping"},
              {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
              {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "hello"}},
              {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
              {"type": "message_stop"})
    r.stream(*[b"event: " + e["type"].encode() + b"\n" + event_of(e) for e in events])


@case
def anthropic_cut(r):
    r.stream({"type": "message_start", "message": {"model": "m", "content": [], "usage": {"input_tokens": 5, "output_tokens": 1}}},
             {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hello " * 300}})


@case
def anthropic_no_usage(r):
    r.answer(200, {"content": [{"type": "text", "text": "hello"}], "model": "m", "stop_reason": "end_turn", "usage": {}})


@case
def anthropic_empty(r):
    """The tool without arguments: an empty object."""
    if r.method == "GET":
        return anthropic(r)
    block = {"type": "tool_use", "name": "reply", "input": {}}
    usage = {"input_tokens": 1, "output_tokens": 1}
    if not r.json["stream"]:
        return r.answer(200, {"content": [block], "stop_reason": "tool_use", "usage": usage})
    r.stream({"type": "message_start", "message": {"model": "m", "content": [], "usage": usage}},
             {"type": "content_block_start", "index": 0, "content_block": block},
             {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": usage})


@case
def anthropic_overloaded(r):
    if r.number == 0:
        return r.stream(event_of({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}))
    anthropic(r)


@case
def silent(r):
    silence(r)


def serve(connection, context=None):
    try:
        if context:
            connection = context.wrap_socket(connection, server_side=True)
        request = Request(connection)
        if request.path == "/log":
            request.answer(200, log)
        else:
            if request.case.startswith("leak-"):
                leak(request)
            else:
                CASES[request.case](request)
    except OSError:
        pass  # the client left
    finally:
        connection.close()


def accept(listener, context=None):
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection, context), daemon=True).start()


plain, secure = (socket.create_server(("127.0.0.1", 0), backlog=64) for _ in range(2))
tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(sys.argv[1])
threading.Thread(target=accept, args=(plain,), daemon=True).start()
threading.Thread(target=accept, args=(secure, tls), daemon=True).start()
deaf = socket.create_server(("127.0.0.1", 0), backlog=0)  # its queue is full
waiting = [socket.socket() for _ in range(4)]
for one in waiting:
    one.setblocking(False)
    one.connect_ex(deaf.getsockname())
print(plain.getsockname()[1], secure.getsockname()[1], deaf.getsockname()[1], flush=True)
sys.stdin.read()
