"""serve_llama.py MODEL [KEY]: llama.cpp's own server; prints its address, serves until its input ends."""
import sys, xllamacpp
p = xllamacpp.CommonParams()
p.model.path, p.model_alias, p.port, p.hostnames = sys.argv[1], {"tiny-random"}, 0, ["127.0.0.1"]
p.n_ctx, p.n_parallel, p.cpuparams.n_threads, p.fit_params, p.api_keys = 2048, 2, 1, False, sys.argv[2:3]
server = xllamacpp.Server(p)
print(server.listening_address, flush=True)
sys.stdin.read()
