# Stands where the checkout's own benchmark is; the tests run it once without a GPU, where it ends as the real one does.
raise SystemExit("Benchmarks can only be run on GPU.")
