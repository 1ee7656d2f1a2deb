"""What `benches/sort.rs` measures, in PyTorch under a CUDA graph: the same names, one line of JSON each.

    python bench/peers/sort.py
"""

import json
import statistics

import torch

ROUNDS = 11
LAUNCHES = 20


def report(name, step):
    """Captures `step` after a warm-up, and prints the device time of one replay in microseconds."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    times = []
    for _ in range(ROUNDS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        graph.replay()
        begin.record()
        for _ in range(LAUNCHES):
            graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / LAUNCHES)
    line = {
        "name": name,
        "device": torch.cuda.get_device_name(),
        "us": round(statistics.median(times), 2),
        "low_us": round(min(times), 2),
        "high_us": round(max(times), 2),
    }
    print(json.dumps(line))


def main():
    torch.manual_seed(0)
    for size, n in [("1m", 1 << 20), ("16m", 16 << 20)]:
        x = torch.randint(-(2**31), 2**31, (n,), dtype=torch.int32, device="cuda")
        report(f"argsort_{size}_i32", lambda: torch.argsort(x, stable=True))
        report(f"sort_{size}_i32", lambda: torch.sort(x, stable=True))

    rows, count, width = 50_257, 2048, 768
    ids = torch.randint(0, rows, (count,), device="cuda")
    updates = torch.rand(count, width, device="cuda")
    name = f"embedding_backward_{count}x{width}_into_{rows}"
    report(name, lambda: torch.zeros(rows, width, device="cuda").index_add_(0, ids, updates))
    # The operator behind the gradient of `torch.nn.functional.embedding`.
    backward = torch.ops.aten.embedding_dense_backward
    report(name + "_dense", lambda: backward(updates, ids, rows, -1, False))

    x = torch.ones(16 << 20, device="cuda")
    report("cumsum_16m_f32", lambda: torch.cumsum(x, 0))


if __name__ == "__main__":
    main()
