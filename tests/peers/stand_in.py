"""A chat server on loopback whose replies are scripted: each kind of prompt gets a reply in its form.

    python3 stand_in.py KEY [SECONDS]

Prints its address, and serves until its standard input ends. A reply takes SECONDS (0). `/count` gives the
number of questions so far. A request without the key gets status 401.
"""
import http.server
import json
import sys
import threading
import time

# The n-th reply adds the n-th of these lines to a mapping. Two of them are mistakes, one reply is useless.
LINES = [
    "InstanceLimit task_4 4;",
    "Region * * GPU FBMEN;",
    "Layout * * * SOA C_order;",
    "",
    "def same_point(Task task) { m = Machine(GPU); return m[*task.parent.processor(m)]; }\n"
    "SingleTaskMap task_4 same_point;",
    "Task task_4 CPU;",
    "Layout * * * SOA F_order;",
]
FIRST_LINE = "Task * GPU, OMP, CPU;"  # of the mapping with which all searches begin
lock = threading.Lock()
questions = 0


def reply_to(prompt: str, number: int) -> str:
    line = LINES[number % len(LINES)]
    if not line:
        return "I have no idea."
    if "#Variables" in prompt:  # trace
        return json.dumps({"reasoning": "none", "change": "a line", "suggestion": {"other": line}})
    if "<<<<<<< SEARCH" in prompt:  # OpenEvolve, and evolve
        return f"<<<<<<< SEARCH\n{FIRST_LINE}\n=======\n{FIRST_LINE}\n{line}\n>>>>>>> REPLACE\n"
    return f"```\n{FIRST_LINE}\nRegion * * GPU FBMEM;\nRegion * * * SOCKMEM, SYSMEM;\n{line}\n```"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status: int, document) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            pass  # the client left

    def is_allowed(self) -> bool:
        if self.headers.get("Authorization") == f"Bearer {sys.argv[1]}":
            return True
        self.answer(401, {"error": {"message": "wrong key", "type": "authentication_error"}})
        return False

    def do_GET(self) -> None:
        if self.path == "/count":
            self.answer(200, questions)
        elif self.is_allowed():
            self.answer(200, {"object": "list", "data": [{"id": "scripted", "object": "model"}]})

    def do_POST(self) -> None:
        global questions
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.is_allowed():
            return
        with lock:
            number = questions
            questions += 1
        time.sleep(float(sys.argv[2]) if len(sys.argv) > 2 else 0)
        text = reply_to("\n".join(message["content"] for message in request["messages"]), number)
        self.answer(200, {
            "id": str(number), "object": "chat.completion", "created": 0, "model": request["model"],
            "choices": [{"index": 0, "finish_reason": "stop",
                         "message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        })

    def log_message(self, *_) -> None:
        pass


def main() -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
