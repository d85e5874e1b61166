"""Training steps of a ResNet in PyTorch, eager and compiled, as lesson 7 trains it: stride in the 3x3 convolutions, batch
norms with running statistics, SGD with momentum and weight decay.

Keys: resnet_training/DEPTH/PRECISION/BATCHxIMAGE, for example resnet_training/50/bf16/64x224; without, the options make one.
Weights and velocities are f32; bf16 is autocast. Images are bytes, normalised by the model; on the device already, or fed from
pinned memory of the host, each batch while the step before it computes.
"""

import argparse
import resource

import torch
from torch import nn

import baseline
from torch_common import need_gpus, set_precision, wait_for_all

DEPTHS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3)}  # blocks of each stage
PROGRAMS = {"PyTorch": None, "PyTorch compiled": "default", "PyTorch compiled, CUDA graphs": "reduce-overhead"}


def convolution(channels, to, size, stride=1):
    """And its batch norm."""
    conv = nn.Conv2d(channels, to, size, stride, size // 2, bias=False)
    nn.init.kaiming_normal_(conv.weight, nonlinearity="relu")
    return nn.Sequential(conv, nn.BatchNorm2d(to))


class Block(nn.Module):
    """relu(f(x) + x): two 3x3 convolutions, or a bottleneck of a 1x1, a 3x3 and a 1x1 one."""

    def __init__(self, channels, width, stride, bottleneck):
        super().__init__()
        to = 4 * width if bottleneck else width
        shapes = ((width, 1, 1), (width, 3, stride), (to, 1, 1)) if bottleneck else ((width, 3, stride), (to, 3, 1))
        layers = []
        for out, size, step in shapes:
            layers += [convolution(layers[-2][0].out_channels if layers else channels, out, size, step), nn.ReLU(inplace=True)]
        self.residual = nn.Sequential(*layers[:-1])
        changes = stride > 1 or channels != to
        self.shortcut = convolution(channels, to, 1, stride) if changes else nn.Identity()

    def forward(self, x):
        return torch.relu(self.residual(x) + self.shortcut(x))


class Resnet(nn.Module):
    def __init__(self, depth, width, image, channels, classes):
        super().__init__()
        small = image < 64
        stem = [convolution(channels, width, 3 if small else 7, 1 if small else 2), nn.ReLU(inplace=True)]
        self.stem = nn.Sequential(*stem, nn.Identity() if small else nn.MaxPool2d(3, 2, 1))
        blocks, now, bottleneck = [], width, depth >= 50
        for stage, count in enumerate(DEPTHS[depth]):
            for i in range(count):
                blocks.append(Block(now, width << stage, 2 if stage > 0 and i == 0 else 1, bottleneck))
                now = (width << stage) * (4 if bottleneck else 1)
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(now, classes)
        nn.init.normal_(self.head.weight, std=0.01)
        nn.init.zeros_(self.head.bias)

    def logits(self, images):
        x = self.blocks(self.stem((images.float() - 72.9) / 90))
        return self.head(x.mean((2, 3)))

    def forward(self, images, labels):
        return nn.functional.cross_entropy(self.logits(images), labels)


class HostFeed:
    """Two pinned batches in turn; the next is copied on a stream of its own while the present one is computed with."""

    def __init__(self, batches):
        self.batches = [[part.cpu().pin_memory() for part in batch] for batch in batches]
        self.stream, self.turn = torch.cuda.Stream(), 0
        self.copy()

    def copy(self):
        with torch.cuda.stream(self.stream):
            self.ready = [part.to("cuda", non_blocking=True) for part in self.batches[self.turn]]
        self.turn = 1 - self.turn

    def next(self):
        torch.cuda.current_stream().wait_stream(self.stream)
        now = self.ready
        for part in now:
            part.record_stream(torch.cuda.current_stream())
        self.copy()
        return now


def feed_of(options):
    """A function that gives images u8[batch, channels, image, image] and labels on the device."""
    shape = (options.batch, options.channels, options.image, options.image)
    layout = torch.channels_last if options.layout == "channels_last" else torch.contiguous_format

    def batch():
        images = torch.randint(256, shape, dtype=torch.uint8, device=options.device).contiguous(memory_format=layout)
        return images, torch.randint(options.classes, (options.batch,), device=options.device)

    if options.device == "cuda" and options.feed == "host":
        return HostFeed([batch(), batch()]).next
    one = batch()
    return lambda: one


def step_of(options, mode):
    layout = torch.channels_last if options.layout == "channels_last" else torch.contiguous_format
    net = Resnet(options.depth, options.width, options.image, options.channels, options.classes)
    net = net.to(options.device).to(memory_format=layout).train()
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9, weight_decay=1e-4, fused=True)
    feed = feed_of(options)

    def forward(images, labels):
        with torch.autocast(options.device, torch.bfloat16, enabled=options.precision == "bf16"):
            return net(images, labels)

    forward = torch.compile(forward, mode=mode) if mode else forward

    def step():
        forward(*feed()).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def measure(options, mode):
    torch.manual_seed(0)
    if options.device == "cpu":
        result = baseline.timed(step_of(options, mode), lambda: None, options.quick, steps=3, samples=5)
        return {**result, "bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}  # of all programs so far
    need_gpus(1)
    set_precision(options.precision)
    torch.backends.cudnn.allow_tf32 = options.precision == "tf32"
    torch.backends.cudnn.benchmark = True
    torch.cuda.reset_peak_memory_stats()
    result = baseline.timed(step_of(options, mode), wait_for_all, options.quick, steps=10, samples=5)
    return {**result, "bytes": torch.cuda.max_memory_allocated()}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--keys", default="", help="rows to measure, with commas between; each in place of four options")
    parser.add_argument("--depth", type=int, choices=DEPTHS, default=50, help="layers with weights")
    parser.add_argument("--width", type=int, default=64, help="channels of the first stage")
    parser.add_argument("--batch", type=int, default=64, help="images in a step")
    parser.add_argument("--image", type=int, default=224, help="rows and columns of pixels")
    parser.add_argument("--channels", type=int, default=3, help="of an image")
    parser.add_argument("--classes", type=int, default=1000, help="of labels")
    parser.add_argument("--precision", choices=("f32", "tf32", "bf16"), default="f32", help="of products and convolutions")
    parser.add_argument("--feed", choices=("device", "host"), default="device", help="where the images are")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="who computes")
    layouts = ("channels_last", "channels_first")
    parser.add_argument("--layout", choices=layouts, default="channels_last", help="of images in memory")
    parser.add_argument("--quick", action="store_true", help="few samples")
    return parser.parse_args()


def with_key(options, key):
    """OPTIONS with those that the key names."""
    _, depth, precision, shape = key.split("/")
    batch, image = map(int, shape.split("x"))
    return argparse.Namespace(**{**vars(options), "depth": int(depth), "precision": precision, "batch": batch, "image": image})


def run(key, options):
    for name, mode in PROGRAMS.items():
        if options.device == "cuda" or mode != "reduce-overhead":
            baseline.attempt(key, f"{name} {torch.__version__}", lambda m=mode: measure(options, m))
            torch._dynamo.reset()
            torch.cuda.empty_cache()


def main():
    options = arguments()
    own = f"resnet_training/{options.depth}/{options.precision}/{options.batch}x{options.image}"
    for key in filter(None, (options.keys or own).split(",")):
        run(key, with_key(options, key))


if __name__ == "__main__":
    main()
