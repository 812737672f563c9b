# Stands for a model that writes mappings for the sentences of the paper. It repeats the statements that it
# is given and adds one that does what the second sentence says. In its first round it misspells a memory.
question=$(cat)
case $question in
  *"Your mapping has mistakes"*) memory=ZCMEM ;;
  *) memory=ZEROCOPY ;;
esac
cat <<REPLY
Task * GPU,CPU;
Region * * GPU FBMEM;
Region * * CPU SYSMEM;
Layout * * * SOA C_order;
Region * rp_shared,rp_ghost GPU $memory;
REPLY
