"""serve_llama.py MODEL KEY [TOKENS]: llama.cpp's own server; prints its address, serves until its input
ends. Two at once share a window of so many tokens."""
import sys, xllamacpp
p = xllamacpp.CommonParams()
p.model.path, p.model_alias, p.port, p.hostnames = sys.argv[1], {"tiny-random"}, 0, ["127.0.0.1"]
p.n_parallel, p.cpuparams.n_threads, p.fit_params, p.api_keys = 2, 1, False, sys.argv[2:3]
p.n_ctx = int(sys.argv[3]) if len(sys.argv) > 3 else 2048
server = xllamacpp.Server(p)
print(server.listening_address, flush=True)
sys.stdin.read()
