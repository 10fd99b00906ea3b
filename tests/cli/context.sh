# What is written down about a run, and that no secret of the environment is.
SECRET_TOKEN=hush CUDA_MODULE_LOADING=EAGER \
  faultlag bench --device sim --filter '^empty-mask$' --strategies sync \
  --variants healthy --trials 1 --mode free --out run --quiet >/dev/null \
  2>/dev/null
python3 - <<'END'
import json
text = open("run/context.json").read()
assert "hush" not in text
c = json.loads(text)
print(sorted(c))
print(c["device"], c["environment"]["CUDA_MODULE_LOADING"], c["arguments"])
END
ls run
