import json
app={"name":"phases","parameters":[{"name":"n","value":16000}],
"regions":[{"name":"grid","extents":["n"],"fields":[{"name":"x","bytes":8}]}],
"partitions":[{"name":"tiles","of":"grid","colors":[4]}],
"top_level":"main",
"tasks":[{"name":"main","variants":[{"kind":"CPU","inner":True}],
 "body":[{"repeat":2000,"traced":True,"body":[{"phase":"timed"},{"launch":"sweep","domain":[4]},{"phase":"other"},{"launch":"sweep","domain":[4]}]}]},
 {"name":"sweep","variants":[{"kind":"GPU","leaf":True,"flops":"9000 * points(0)"}],
  "requirements":[{"privilege":"read-write","data":"tiles","fields":["x"]}]}]}
json.dump(app,open("/tmp/rv/phases.json","w"))
