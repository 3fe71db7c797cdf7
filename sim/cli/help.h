#pragma once

#include <string_view>

// The texts of `--help` beside the options themselves.
namespace moesim {

struct CommandHelp {
  std::string_view name;
  std::string_view synopsis;     // after "moesim NAME"
  std::string_view description;  // one sentence
  std::string_view details;      // what it prints, defaults, examples
};

}  // namespace moesim

namespace moesim::help {

inline constexpr std::string_view kExitCodes =
    R"(Exit codes: 0 right answer, 1 the run failed, 2 bad usage or input, 3 a bound was missed:
verify found a problem, check a drift, crosscheck an error beyond --max-error, validate a bar that
is not met
)";

inline constexpr std::string_view kProgramFooter =
    R"(Start with:
  moesim compare scenarios/quickstart.txtpb
  moesim simulate scenarios/quickstart.txtpb --schedule fsmoe --svg timeline.svg

Each command explains itself: moesim COMMAND --help
Answers go to standard output, progress to standard error where that is a terminal.
)";

inline constexpr CommandHelp kSimulate = {
    "simulate",
    "SCENARIO | --program FILE [OPTIONS]",
    "Predicts one training iteration under one schedule, and shows what bounds it",
    R"(Prints the iteration's time, what lies on its critical path, what bounds it, how busy each
stream is, lower bounds, memory, and the assumptions that the numbers rest on. JSON has times in
seconds and sizes in bytes.

A Program that the verifier rejects is not simulated (exit 2, its problems are listed). A Program
of fixed tasks alone needs no cluster and no profile; collectives need both, computation a profile.

--ablate turns effects off one at a time (launch overhead, the limit of hardware queues, the
sharing of ports, gradient partition, routing skew, speeds and jitter) and says what each costs: the
predicted time less the time without it. What saves time has a negative cost. The degrees stay as
they are, also where others would be better without the effect.

--bottleneck-range simulates once for every place where the measured times of collectives may be
spent (`bottleneck` of a profile, which measurements of one collective alone cannot tell): PORT,
PRIVATE, and LINK for each kind of links that all of them cross, for the times within nodes and
between them by themselves. Degrees are chosen anew for each. It prints all, the least and the most.

--link-load shows how long what crosses each link of the cluster would occupy it alone, as a share
of the iteration: an SVG of the fabric and of the node with the busiest link, coloured by that, or a
CSV or JSON with a row for links that are used alike.

Examples:
  moesim simulate scenarios/quickstart.txtpb --schedule fsmoe
  moesim simulate scenarios/quickstart.txtpb --schedule fsmoe --degree 4,2 --json
  moesim simulate scenarios/quickstart.txtpb --set model.sequence=2048 --trace trace.json
  moesim simulate scenarios/quickstart.txtpb --svg timeline.svg --layers 0..3
  moesim simulate scenarios/quickstart.txtpb --cluster topologies/pcie_a6000.txtpb \
      --set cluster.num_nodes=4 --link-load load.svg
  moesim simulate --program program.json --cluster cluster.txtpb --profile profile.txtpb
)"};

inline constexpr CommandHelp kCompare = {
    "compare",
    "SCENARIO [OPTIONS]",
    "Predicts one iteration under several schedules, and says which wins",
    R"(Speed-ups are the baseline's time over the schedule's. A --baseline that is not among
the schedules is added to them.

A schedule that cannot run (parm_baseline where mp and esp differ, tutel with --degree 4,2) is a row
with its error, and the others go on. The exit code is 0 when at least one schedule ran, 2 when none
did. Speed-ups are left out (null in JSON) when the baseline cannot run. What does not fit into the
memory of a GPU wins only where nothing fits.

--bottleneck-range adds for each schedule the least and the most that it takes over all places where
the measured times of collectives may be spent, and its speed-ups over the baseline at the same
place (moesim simulate --help says more).

Examples:
  moesim compare scenarios/quickstart.txtpb
  moesim compare scenarios/quickstart.txtpb --cluster topologies/pcie_a6000.txtpb \
      --set cluster.num_nodes=4 --bottleneck-range
  moesim compare scenarios/quickstart.txtpb --schedules tutel,fsmoe --baseline tutel --json
)"};

inline constexpr CommandHelp kSweep = {
    "sweep",
    "FILE [OPTIONS]",
    "Predicts a scenario at every combination of the values of a sweep file",
    R"(The sweep file names a scenario, axes (a field as in --set, and its values) and schedules:

  scenario: "quickstart.txtpb"
  axes { field: "model.sequence" values: ["512", "1024", "2048"] }
  axes { field: "model.capacity_factor" values: ["1.2", "*"] }
  schedules: ["tutel", "fsmoe"]
  baseline: "tutel"

The CSV has a column per axis, then schedule, iteration_seconds, speedup (over the baseline),
forward_degree, backward_degree, error, peak_memory_bytes, fits, non_moe_degree (sp_moe) and variant
(what parm chose). Schedules and the baseline are no axes. Rows are sorted by point: axes in the
order of the file, the last varying fastest, then schedules in their order. A point that cannot be
simulated is a row with its error, the others go on, and the exit code is 0. The bytes do not depend
on the number of workers.

Until the CSV is written, finished points are kept in OUT.journal, or where OUT is a device beside
the default CSV. A sweep that was killed goes on from there when the same command is run again. It
refuses (exit 2) when inputs or moesim's version have changed since; delete the journal to start
afresh.

Examples:
  moesim sweep scenarios/sweep_example.txtpb
  moesim sweep scenarios/sweep_example.txtpb --workers 4 --out sequence.csv
)"};

inline constexpr CommandHelp kVerify = {
    "verify",
    "SCENARIO | --program FILE [OPTIONS]",
    "Proves a Program free of races, deadlocks and contradictory sizes, or names what is wrong",
    R"(Problems: race, unwritten_read, double_write, out_of_bounds, mismatched_collective,
byte_mismatch, deadlock. Each names the tasks and what is missing. Warnings (a task that can hold up
another one's hardware queue) do not change the exit code, which is 3 when there is a problem.

Examples:
  moesim verify scenarios/quickstart.txtpb --schedule fsmoe
  moesim verify --program program.json --json
)"};

inline constexpr CommandHelp kProgram = {
    "program",
    "SCENARIO [OPTIONS]",
    "Writes the Program that a schedule builds: enough to simulate and to execute it",
    R"(Examples:
  moesim program scenarios/quickstart.txtpb --schedule fsmoe --out fsmoe.json
  moesim program scenarios/quickstart.txtpb --schedule fsmoe --degree 2 --out fsmoe.txtpb
)"};

inline constexpr CommandHelp kCheck = {
    "check",
    "[PATHS...] [OPTIONS]",
    "Recomputes stored predictions, and fails when one has drifted",
    R"(An expectation file names a scenario and what each schedule takes under it. The exit code
is 3 when a time or a degree differs. A file that names only its scenario is filled in by
--update with the scenario's schedules; one that names schedules keeps them. It writes nothing
unless all files can be updated.

Examples:
  moesim check
  moesim check scenarios/expected/quickstart.txtpb --update
  moesim check --junit check.xml
)"};

inline constexpr CommandHelp kValidate = {
    "validate",
    "[SECTION [FILE]] [OPTIONS]",
    "Checks the simulator against closed forms, published results and executions",
    R"(Run it in the repository's root. Without a section all are run, one process per core, and
docs/validation.md is written: every figure with the published one beside it and what it is worth,
the same bytes every time: it measures nothing, and prints the crosschecks that are stored in
calibration/measured. A section is printed, or written where --out says. The exit code is 3 when a
bar is missed.

gpu FILE checks and prints what tests/gpu/run.sh measured on a GPU (docs/gpu.md); a file that is
stored as calibration/measured/gpu_check.json needs no name and enters docs/validation.md.

Examples:
  moesim validate
  moesim validate closed_forms
  moesim validate gpu result.json
  moesim validate --out /tmp/validation.md
)"};

inline constexpr CommandHelp kTopology = {
    "topology",
    "show|check|export CLUSTER [OPTIONS]",
    "Shows, checks or draws the links of a cluster",
    R"(show prints the parts of each kind of node, the links by kind with rate and number, what was
inferred from imported dumps, the rates of a GPU's ports that follow (all GPUs sending at once; the
fastest one's), the bisection bandwidth, and routes: within a node and across, or that of --route.
Ranks number GPUs node by node. A removed link is a row of its own.

The bisection bandwidth is what the GPUs of the first half of the nodes (of one node: the first half
of its GPUs) can send to the others at once: a minimal cut of the links, whatever their routes.

check says whether every GPU reaches every other one by the rules of routing, and a NIC where the
node has some. The exit code is 2 where it does not; the message names the parts. With --profile it
warns where that profile's costs of computing are of another GPU than the cluster's.

export writes a graph of one node with its parts, and of the fabric with the other nodes as a whole.

Examples:
  moesim topology show topologies/dgx_h100.txtpb
  moesim topology show topologies/dgx_h100.txtpb --route 0,13 --set cluster.num_nodes=4
  moesim topology check topologies/dgx_h100.txtpb
  moesim topology export topologies/dgx_h100.txtpb --out dgx_h100.svg
)"};

inline constexpr CommandHelp kExecute = {
    "execute",
    "SCENARIO | --program FILE [OPTIONS]",
    "Runs one training iteration for real on a backend, with the outputs of simulate",
    R"(Every rank and stream is a thread; data are computed and moved for real. Links with the
cluster's port rates are paced by sleeping, shared max-min where collectives meet; operations last
--dilation times their CPU time. After a run that does not count, it runs until the median
iteration is known to --spread, 10 to 30 times; --runs N: exactly N times. Runs that this machine
disturbed (a task late by more than 2 % of the iteration, or the iteration delayed by more than 5 %)
are rejected and repeated; the output is that of the run with the median time.

With --backend cuda nothing is paced. All ranks share one GPU as logical ranks, whose collectives
are copies within its memory, or each has a GPU and collectives are NCCL's: --gpus each in this
process, --transport mpi with a process for each (docs/gpu.md).

A scenario that needs more memory or time (12 hours) than this machine has is refused before
anything runs. A Program without --cluster is not paced.

With --transport mpi every process that mpirun started builds the same Program and runs an equal
share of its ranks; collectives take as long as Open MPI and the network take. Process 0 prints and
writes the files. When a process dies or the ranks hang, all end (docs/mpi.md).

Examples:
  moesim execute scenarios/crosscheck.txtpb --schedule fsmoe --dilation 50
  mpirun --oversubscribe -np 4 moesim execute scenarios/crosscheck.txtpb --schedule fsmoe \
    --transport mpi
  moesim execute scenarios/crosscheck.txtpb --schedule tutel --dilation 50 --svg timeline.svg
  moesim execute scenarios/gpu_check_4.txtpb --schedule fsmoe --degree 2 --backend cuda --kernels
)"};

inline constexpr CommandHelp kCalibrate = {
    "calibrate",
    "SCENARIO | --nccl-tests FILE... --cluster FILE [OPTIONS]",
    "Makes a profile: from probes of a scenario on a backend, or from logs of nccl-tests",
    R"(Probes the collectives that the scenario's schedules use (operation, span, sizes), its
model's operations at parts of its sequence, launches, and two collectives at once. Lines are fitted
robustly to relative residuals; where none fits a collective within 10 %, its measured table is
kept. Each probe runs as execute does; one that is disturbed too often ends the calibration, as a
profile is whole or not at all. The scenario needs no profile of its own; with --modelled its
operations' costs are kept, and only the rest is measured. With --backend cuda a GPU is also probed
by itself, unless --launcher starts processes elsewhere: GEMMs of many shapes, copies, launches,
collectives, and what runs beside a GEMM.

With --nccl-tests nothing is run: each collective and layout (nodes x GPUs) in the logs becomes a
table of the profile with its start-up. Printed are the measured times beside the table, a fitted
line and what the other sizes say, and every row that was dropped with its line and the reason. A
log without a usable row is refused. Logs know nothing of computing: --profile names a profile from
which its costs are taken; without it only collectives can be predicted.

Examples:
  moesim calibrate scenarios/crosscheck.txtpb --dilation 50 --out profile.txtpb
  moesim calibrate --nccl-tests node.log fabric.log --cluster cluster.txtpb \
    --profile calibration/profiles/fsmoe_testbed_a.txtpb --out profile.txtpb
  moesim calibrate --nccl-tests all_gather=a.log --layout 2x4 --cluster cluster.txtpb
  moesim calibrate scenarios/crosscheck.txtpb --modelled --out wiring.txtpb
  moesim calibrate scenarios/gpu_check_4.txtpb --backend cuda --out gpu.txtpb
)"};

inline constexpr CommandHelp kPredictCollective = {
    "predict-collective",
    "--profile FILE --operation NAME [OPTIONS]",
    "Predicts one collective by size, on layouts that need not have been measured",
    R"(Prints nccl-tests' columns with three meanings of GB/s (1e9 bytes): algbw, size over time;
busbw, as nccl-tests defines it; wire, what passes one NIC (on one node, one GPU's port) per second.
The bytes are nccl-tests' and moesim's: of all-gather the output, of the others the input.

A layout that the profile has no table of is predicted from layouts with as many GPUs on each node,
else from one node and one GPU on each of several nodes, with an interval; the line "basis" says
from which. Such rows, and sizes beyond the measured ones, are marked *.

Without --algorithm a --cluster only gives the layout. With it the collective is simulated over the
cluster's links or ports: what the profile measured with that algorithm, else what links and ports
take, with start-ups of the profile: its own for the algorithm, else a step's of another one that
was measured. low and high are what the profile tells of the algorithm; "-" where it tells nothing.

Examples:
  moesim predict-collective --profile p.txtpb --operation ALL_REDUCE \
      --cluster topologies/dgx_a100.txtpb --algorithm TREE
  moesim predict-collective --profile p.txtpb --operation ALL_TO_ALL --nodes 10 --gpus 4
  moesim predict-collective --profile p.txtpb --operation ALL_GATHER --against measured.log
)"};

inline constexpr CommandHelp kCrosscheck = {
    "crosscheck",
    "SCENARIO [OPTIONS]",
    "Predicts schedules, runs them for real, and puts the two side by side",
    R"(Takes the profile that --profile names, else calibrates one on the backend first (the
scenario's own profile belongs to another machine). A profile holds for the --clock and the
--dilation that it was measured with. With --modelled the operations' costs are those of --profile,
else of the scenario's profile, and the rest is calibrated: it checks the wiring, not the costs.

Prints for each schedule what was predicted and measured, by kind of task too, and whether the
ranking agrees. A schedule that cannot run is named with the reason. One whose runs failed or were
disturbed too often has a row without times and a reason, counts in no error and no ranking, and
makes the exit code 1; where it is the baseline, speed-ups are over the first that was measured. The
exit code is 3 when a schedule's error, of either sign, is beyond --max-error.

Examples:
  moesim crosscheck scenarios/crosscheck.txtpb --modelled
  moesim crosscheck scenarios/crosscheck.txtpb --dilation 50
  moesim crosscheck scenarios/crosscheck.txtpb --dilation 50 --max-error 5% --svg both.svg
  moesim crosscheck scenarios/crosscheck.txtpb --dilation 50 --profile profile.txtpb --json
)"};

}  // namespace moesim::help
