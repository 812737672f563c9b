"""tiny_model.py OUT.gguf: a llama-shaped model with random weights and one token per byte."""
import sys, gguf, numpy as np
E, H, F, L, T = 64, 4, 128, 2, gguf.TokenType                      # width, heads, feed-forward, layers
tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)] + ["\u2581"]     # last: the space
kinds = [T.UNKNOWN, T.CONTROL, T.CONTROL] + [T.BYTE] * 256 + [T.NORMAL]
V, rng, ones = len(tokens), np.random.default_rng(1), np.ones(E, np.float32)
rand = lambda *shape, scale=0.1: (rng.standard_normal(shape) * scale).astype(np.float32)
w = gguf.GGUFWriter(sys.argv[1], "llama")
w.add_context_length(65536); w.add_embedding_length(E); w.add_block_count(L); w.add_feed_forward_length(F)
w.add_head_count(H); w.add_head_count_kv(H); w.add_rope_dimension_count(E // H); w.add_vocab_size(V)
w.add_layer_norm_rms_eps(1e-5); w.add_file_type(gguf.LlamaFileType.ALL_F32)
w.add_tokenizer_model("llama"); w.add_token_list([t.encode() for t in tokens])
w.add_token_scores([0.0] * V); w.add_token_types(kinds); w.add_add_space_prefix(False)
w.add_bos_token_id(1); w.add_eos_token_id(2); w.add_unk_token_id(0)
w.add_chat_template("{% for m in messages %}{{ m['role'] + ': ' + m['content'] + '\n' }}{% endfor %}"
                    "{% if add_generation_prompt %}assistant: {% endif %}")
embd, head = rand(V, E, scale=1.0), rand(V, E, scale=0.12)
embd[:, 0], head[:, 0] = 8.0, -8.0                # dimension 0 is a bias: it silences every token ...
head[[13, *range(36, 130), V - 1], 0] = 0.0       # ... but newline, printable ASCII and the space,
head[2, 0] = 0.1                                  # and makes the end of the text a little likelier
tensors = {"token_embd": embd, "output": head, "output_norm": ones}
for i in range(L):
    for n in ("attn_norm", "ffn_norm"): tensors[f"blk.{i}.{n}"] = ones
    for n, shape in (("attn_q", (E, E)), ("attn_k", (E, E)), ("attn_v", (E, E)), ("attn_output", (E, E)),
                     ("ffn_gate", (F, E)), ("ffn_up", (F, E)), ("ffn_down", (E, F))):
        tensors[f"blk.{i}.{n}"] = rand(*shape)
for name, t in tensors.items(): w.add_tensor(name + ".weight", t)
w.write_header_to_file(); w.write_kv_data_to_file(); w.write_tensors_to_file(); w.close()
