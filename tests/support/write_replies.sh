# The replies in docs/examples/write.jsonl, written by hand: the first one has a mistake, and the second
# one corrects it. The test Write.TheRecordingOfTheDocumentIsCurrent makes the recording with it.
if grep -q 'Your mapping has mistakes'; then
  cat <<'REPLY'
```
Task * GPU, CPU;
Region * rp_shared, rp_ghost GPU ZCMEM;
```
REPLY
else
  cat <<'REPLY'
The ghost regions go to zero-copy memory:

```
Task * GPU, CPU;
Region * rp_shared, rp_ghost GPU ZEROCOPY;
```
REPLY
fi
