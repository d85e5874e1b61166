// `dfc run`: opens a plan on this host's devices and executes its steps.
#include "tools/dfc/io/numbers.h"
#include "tools/dfc/run/custom_libraries.h"
#include "tools/dfc/run/run_plan.h"
#include "tools/dfc/verbs.h"

#include <CLI/CLI.hpp>

#include <limits>

namespace dfc::tool {
namespace {

constexpr const char* runFooter = R"(Feeds. A file for an input has one of three shapes:
  the input's own             fed at every step
  more rows than the input    each step takes the next batch of rows, and begins again after the last (an epoch);
                              an incomplete last batch is left out
  one more dimension before   each step takes the next entry
A number in place of FILE feeds a scalar at every step (--feed rate=0.1).
FILE may also be FILE.npz:MEMBER, FILE.safetensors:NAME, FILE.csv or FILE.csv:COLUMN,… (#COLUMN numbers its words),
FILE.txt:LENGTH (rows of so many bytes), an IDX file (.gz), or fashion-mnist/{train,test}/{images,labels}
(Debian package dataset-fashion-mnist). The last three hold rows of bytes and adapt to the input: u8, i32 and i64 take
the bytes, f32 and f64 take pixels / 255 and labels as they are; [N, 784] takes images of 28 x 28. --shuffle draws a new order of the rows for each epoch.

Fetches. Scalars are shown with their mean over the steps (over the last epoch, where there are several); --fetch
saves the value of the last step. NAME alone after --fetch prints it. With --json, small ones are there as
"values", in which "nan", "inf" and "-inf" stand for what JSON has no number for.

Predictions. --predict probs=probs.npy runs all rows of the feeds once, in the files' order, and saves what becomes of
each: an array whose first axis counts these rows. A last batch that is not full is filled up with copies of the last
row, whose results are cut off; so files may also have fewer rows than a batch. The fetch needs the batch as its first
axis, and the result of a row must not depend on other rows. The graph must not train; --state has its parameters.

Training. --checkpoint FILE.safetensors is replaced every --every N steps (default: each epoch), at the end and after
Ctrl-C. It holds the parameters, the optimiser's state among them, the step and the order of the rows. --resume FILE
goes on behind that step, with the same bits as a run that was never interrupted; --steps and --epochs count the whole
training, so the same command line continues it. Where both name one file that is not there yet, the training begins.
--eval GRAPH is run every --eval-every N steps (default: each epoch) and at the end, over all batches of its
--eval-feed files, with the parameters of the same names. Its scalar fetches are averaged over the batches. It is a
graph of its own, without updates: one that changes parameters would train on the data of the evaluation.
--keep-best loss keeps the checkpoint with the least such mean (--keep-best accuracy:max: the largest) in
FILE.best.safetensors. --log FILE.csv has a row for each step; --curve FILE.svg draws it, as dfc view FILE.csv does.

Weights. --state FILE has every parameter of the graph and no more, unless --partial is said: a checkpoint of a
training serves its evaluation so. --rename RULES, a line for each: "PATTERN -> NAME", where each * of the pattern is
one of the name, "/REGEX/ -> NAME" with $1, or "drop PATTERN"; "transposed" and "as f32" behind a name change the
tensor. The first rule that matches decides; # begins a comment.

Values that are not finite. The first step and fetch that holds one is told in a warning. A training, that is a graph
that changes parameters of floats, ends at once when its parameters hold NaN, from which it cannot recover: the exit
status is 1, and neither --checkpoint nor --save-state is replaced. Where a scalar fetch is NaN or infinite in the
last step, all is written, and the exit status is 1, too. Graphs that train nothing may give what they like: status 0.
--check-finite names the op where it began; the exit status is then 1 and nothing is saved.

Ctrl-C. The steps under way are ended, and what was asked for is written as of the last of them; the exit status is
130. A second Ctrl-C ends the program at once. SIGTERM does the same, and so do a terminal that is closed (SIGHUP) and
an output that nobody reads any more (SIGPIPE).

Devices. A gpu of the machine runs on a real GPU where there is one, else it is emulated; the report says which.

Examples:
  dfc run samples/02_train_mlp/mlp.dfg --steps 60 --feed images=fashion-mnist/train/images --shuffle 1 \
      --feed labels=fashion-mnist/train/labels --eval samples/02_train_mlp/mlp_eval.dfg --eval-every 30 \
      --eval-feed images=fashion-mnist/test/images --eval-feed labels=fashion-mnist/test/labels \
      --log mlp.csv --curve mlp.svg --checkpoint mlp.safetensors --every 20 --keep-best loss --resume mlp.safetensors
  dfc run samples/02_train_mlp/mlp.dfg --epochs 1 --feed images=fashion-mnist/train/images \
      --feed labels=fashion-mnist/train/labels --fetch loss=loss.npy --save-state mlp.safetensors
  dfc run samples/02_train_mlp/mlp_eval.dfg --state mlp.safetensors --partial --predict probabilities=probabilities.npy \
      --feed images=fashion-mnist/test/images --feed labels=fashion-mnist/test/labels
  dfc run samples/04_graph_file/figure.dfg -m cpu-2gpu --steps 20 --feed images=fashion-mnist/train/images \
      --feed labels=fashion-mnist/train/labels --trace trace.json)";

void addTraining(CLI::App& verb, RunArguments& arguments) {
  verb.add_option("--checkpoint", arguments.checkpoint, "keep the training's state here, to resume from")
      ->type_name("FILE.safetensors");
  verb.add_option("--every", arguments.every, "steps between checkpoints (default: an epoch)")
      ->type_name("N")
      ->check(wholeNumber(1, largestCount));
  verb.add_option("--resume", arguments.resume, "go on from what --checkpoint wrote")
      ->type_name("FILE.safetensors");
  verb.add_option("--eval", arguments.evalGraph, "graph or plan to evaluate the parameters by")
      ->type_name("GRAPH|PLAN");
  verb.add_option("--eval-feed", arguments.evalFeeds, "data of an input of the evaluation")
      ->type_name("NAME=FILE|NUMBER")
      ->allow_extra_args(false);
  verb.add_option("--eval-every", arguments.evalEvery, "steps between evaluations (default: an epoch)")
      ->type_name("N")
      ->check(wholeNumber(1, largestCount));
  verb.add_option_function<std::string>(
          "--keep-best",
          [&arguments](const std::string& text) {
            arguments.largestIsBest = text.ends_with(":max");
            const bool marked = arguments.largestIsBest || text.ends_with(":min");
            arguments.bestBy = marked ? text.substr(0, text.size() - 4) : text;
          },
          "keep the checkpoint with the least mean of this fetch of the evaluation, or the largest")
      ->type_name("FETCH[:max]");
  verb.add_option("--log", arguments.log, "write the scalars of every step")->type_name("FILE.csv");
  verb.add_option("--curve", arguments.curve, "draw the scalars over the steps")->type_name("FILE.svg");
}

} // namespace

void addRun(CLI::App& program, Verbs& verbs) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* verb = program.add_subcommand("run", "Execute a plan, or a graph file compiled on the spot");
  verb->add_option("GRAPH|PLAN", arguments->source, "graph file (.dfg), ONNX model or plan")->required();
  addPlanOptions(*verb, arguments->plan);
  auto* steps = verb->add_option("--steps", arguments->steps, "how many steps (default 1)");
  steps->type_name("N")->check(wholeNumber(1, largestCount));
  verb->add_option("--epochs", arguments->epochs, "how many times all batches of the feeds")
      ->type_name("N")
      ->check(wholeNumber(1, largestCount))
      ->excludes(steps);
  verb->add_option("--feed", arguments->feeds, "data of an input")
      ->type_name("NAME=FILE|NUMBER")
      ->allow_extra_args(false);
  verb->add_option("--shuffle", arguments->seed,
                   "feed rows in an order drawn from this seed, anew each epoch")
      ->type_name("SEED")
      ->check(wholeNumber(0, std::numeric_limits<uint64_t>::max()));
  verb->add_option("--fetch", arguments->fetches, "save a fetch as .npy or .npz after the last step")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  verb->add_option("--predict", arguments->predictions,
                   "save a fetch of all rows of the feeds, in their order, as .npy or .npz")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  verb->add_option("--state", arguments->state, "start from these parameters")->type_name("FILE.safetensors");
  verb->add_flag("--partial", arguments->partial,
                 "of --state take the parameters that the graph has; the others keep what they start with");
  verb->add_option("--rename", arguments->rename, "rules for the names in --state: PATTERN -> NAME")
      ->type_name("RULES");
  verb->add_option("--save-state", arguments->saveState, "save the parameters at the end")
      ->type_name("FILE.safetensors");
  addTraining(*verb, *arguments);
  verb->add_option("--trace", arguments->trace,
                   "write predicted and measured spans of the last steps (Perfetto, Chrome)")
      ->type_name("FILE.json");
  addBackendOptions(*verb, arguments->backends);
  addCustomOption(*verb, arguments->customLibraries);
  verb->add_option("--timeout", arguments->timeout,
                   "give a step up after this many seconds; 0, the default, is no limit")
      ->type_name("S")
      ->check(seconds());
  verb->add_flag(
      "--check-finite", arguments->checkFinite,
      "end at the first op whose result is not finite, and name it with the ranges of its operands "
      "(infinities that a constant brings in, as in masks, are let pass); "
      "slow, for finding a mistake");
  verb->add_flag("--any-indices", arguments->anyIndices,
                 "let labels that name no class and indices that name no slice pass, for a graph that masks "
                 "what they give: a loss is NaN there, a gathered slice NaN, or 0 of integers");
  verb->add_option("--data", arguments->dataFolder,
                   "folder of the files that parameters start from (default: that of GRAPH or PLAN)")
      ->type_name("FOLDER");
  verb->footer(runFooter);
  verbs[verb] = [arguments](Console& console) { return runVerb(*arguments, console); };
}

} // namespace dfc::tool
