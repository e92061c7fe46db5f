import { Command, InvalidArgumentError } from 'commander';
import { TELEMETRY_SIGNALS, type TelemetrySignal } from '../src/signal/batch.js';
import { alerts, type AlertsOptions } from './alerts.js';
import { control, type ControlBenchOptions } from './control.js';
import { FLOOD_NAMES } from './floods.js';
import { ingest, type IngestOptions } from './ingest.js';
import { longTrace, type LongTraceOptions } from './long-trace.js';
import { neighbours, type NeighboursOptions } from './neighbours.js';
import { otlp, type OtlpOptions } from './otlp.js';
import { processors, type ProcessorsOptions } from './processors.js';
import { read, type ReadOptions } from './read.js';
import { restart, type RestartOptions } from './restart.js';
import { scale, type ScaleOptions } from './scale.js';
import { QUEUE_KINDS, sidecar, type SidecarOptions } from './sidecar.js';
import { transfer, type TransferOptions } from './transfer.js';
import { ui, type UiOptions } from './ui.js';
import { webhooks, type WebhooksOptions } from './webhooks.js';

const print = (text: string) => {
  console.log(text);
};

const program = new Command('bench')
  .usage('NAME [flags]')
  .description('Measures the built daemon. How to read the figures: bench/README.md');

program
  .command('ingest')
  .description('spans per second acknowledged after commit, and how long an acknowledgement takes')
  .option('--connections <n>', 'requests under way at the same time', integer, 64)
  .option('--rate <n>', 'open loop: so many spans per second are due (default: closed loop)', integer)
  .option('--seconds <n>', 'how long is measured', number, 60)
  .option('--spans <n>', 'end after so many spans instead', integer)
  .option('--warmup <n>', 'seconds that are not measured', number, 5)
  .option('--bodies <n>', 'different request bodies', integer, 500)
  .option('--without <processor>', 'leave a processor out; may repeat', collect)
  .option('--config <file>', 'configuration laid over the built-in one')
  .option('--profile <dir>', "leave CPU profiles of the daemon's threads there; slower")
  .action(async (options: IngestOptions) => {
    const { verdict } = await ingest(options, print);
    if (!verdict.isComplete) process.exitCode = 1;
  });

program
  .command('otlp')
  .description('spans, metric points and log records per second by OTLP, acknowledged after commit')
  .option('--signals <list>', 'which, one after the other', someOf(TELEMETRY_SIGNALS), [...TELEMETRY_SIGNALS])
  .option('--per-request <n>', 'items in a request', integer, 500)
  .option('--connections <n>', 'requests under way at the same time', integer, 16)
  .option('--rate <n>', 'open loop: so many items per second are due (default: closed loop)', integer)
  .option('--seconds <n>', 'how long is measured, of each signal', number, 30)
  .option('--items <n>', 'end after so many items instead', integer)
  .option('--warmup <n>', 'seconds that are not measured', number, 5)
  .option('--bodies <n>', 'different request bodies', integer, 64)
  .option('--without <processor>', 'leave a processor out; may repeat', collect)
  .option('--config <file>', 'configuration laid over the built-in one')
  .option('--profile <dir>', "leave CPU profiles of the daemon's threads there; slower")
  .action(async (options: OtlpOptions) => {
    const results = await otlp(options, print);
    if ([...results.values()].some(({ verdict }) => !verdict.isComplete)) process.exitCode = 1;
  });

program
  .command('scale')
  .description('spans per second that gateways take into ClickHouse, with the engines on the same machine')
  .option('--gateways <n>', 'daemons that share the load', integer, 1)
  .option('--discard', 'rows of spans and runs go nowhere: what the gateways take themselves')
  .option('--connections <n>', 'requests under way at the same time', integer, 256)
  .option('--rate <n>', 'open loop: so many spans per second are due (default: closed loop)', integer)
  .option('--seconds <n>', 'how long is measured; 0: only reads', number, 30)
  .option('--warmup <n>', 'seconds that are not measured', number, 5)
  .option('--bodies <n>', 'different request bodies', integer, 500)
  .option('--control <store>', 'where the control store is', oneControl, 'postgres')
  .option(
    '--read-spans <list>',
    'sizes of stores whose read routes are measured, too, beside DuckDB',
    integers,
  )
  .option('--data <dir>', "keep filled stores of DuckDB here and use them again, also those of 'read'")
  .option('--profile <dir>', "leave CPU profiles of the daemons' threads there; slower")
  .action(async (options: ScaleOptions) => {
    const stats = await scale(options, print);
    if (stats?.verdict.isComplete === false) process.exitCode = 1;
  });

program
  .command('transfer')
  .description('export of a filled embedded store and import into an empty one: time, size and memory')
  .option('--spans <n>', 'how many there are', integer, 1_000_000)
  .option('--data <dir>', 'keep the filled store there, and take it from there')
  .option('--clickhouse', 'import into ClickHouse and PostgreSQL, and export out of them, too')
  .action((options: TransferOptions) => transfer(options, print));

program
  .command('sidecar')
  .description('what a sidecar takes by OTLP and passes on, with its queue in memory and on disk')
  .option('--signal <signal>', 'what is sent', oneSignal, 'traces')
  .option('--per-request <n>', 'items in a request', integer, 500)
  .option('--connections <n>', 'requests under way at the same time', integer, 16)
  .option('--seconds <n>', 'how long is measured, each time', number, 15)
  .option('--warmup <n>', 'seconds that are not measured', number, 3)
  .option('--bodies <n>', 'different request bodies', integer, 64)
  .option('--queues <list>', 'in memory, and on disk by when it is synced', someOf(QUEUE_KINDS), [
    ...QUEUE_KINDS,
  ])
  .option('--turns <n>', 'how often each kind of queue is measured', integer, 2)
  .option('--profile <dir>', "leave CPU profiles of the daemon's threads there; slower")
  .action(async (options: SidecarOptions) => {
    await sidecar(options, print);
  });

program
  .command('read')
  .description('every read route over filled stores, alone and during ingestion')
  .option(
    '--spans <list>',
    'sizes of the stores of spans; 0 leaves them out',
    integers,
    [1_000_000, 10_000_000],
  )
  .option(
    '--linked-traces <list>',
    'sizes of the stores of traces that used one of 10 versions of a prompt; 0 leaves them out',
    integers,
    [1_000_000],
  )
  .option(
    '--log-records <list>',
    'sizes of the stores of log records; 0 leaves them out',
    integers,
    [10_000_000],
  )
  .option(
    '--metric-points <list>',
    'sizes of the stores of metric points; 0 leaves them out',
    integers,
    [10_000_000],
  )
  .option('--ingest-rate <n>', 'spans per second during the second round; 0 leaves it out', integer, 30_000)
  .option('--requests <n>', 'requests to each route', integer, 200)
  .option('--seconds <n>', 'at most so long for each route', number, 5)
  .option('--firsts', 'start the daemon anew for each route, too: what the first request takes')
  .option('--data <dir>', 'keep filled stores here and use them again')
  .option('--config <file>', 'configuration laid over the built-in one')
  .action(async (options: ReadOptions) => {
    await read(options, print);
  });

program
  .command('restart')
  .description('kill -9 during ingestion: time to ready, and whether everything acknowledged is there')
  .option('--spans <n>', 'kill once so many are acknowledged', integer, 1_000_000)
  .option('--connections <n>', 'requests under way at the same time', integer, 64)
  .option('--bodies <n>', 'different request bodies', integer, 500)
  .action(async (options: RestartOptions) => {
    const { verdict } = await restart(options, print);
    if (!verdict.isComplete) process.exitCode = 1;
  });

program
  .command('long-trace')
  .description('what a span costs that comes for a trace that has many already')
  .option('--sizes <list>', 'of the trace, ascending', integers, [1_000, 10_000, 100_000, 1_000_000])
  .option('--requests <n>', 'of 100 spans, measured at each size', integer, 200)
  .option('--twice', 'the spans are model calls by OTLP/JSON, of which two instrumentations tell each')
  .action(async (options: LongTraceOptions) => {
    const { isComplete } = await longTrace(options, print);
    if (!isComplete) process.exitCode = 1;
  });

program
  .command('webhooks')
  .description('signed deliveries per second to a local HTTPS receiver, and what they cost ingestion')
  .option('--endpoints <n>', 'endpoints that subscribe', integer, 8)
  .option('--events <n>', 'events per second, each for every endpoint', integer, 25)
  .option('--events-beside <n>', 'likewise beside ingestion, of which some runs time out', integer, 23)
  .option(
    '--ingest-rate <n>',
    'spans per second that are due (default: as many as the daemon takes)',
    integer,
  )
  .option('--seconds <n>', 'how long each turn is measured', number, 15)
  .option(
    '--turns <n>',
    'how often ingestion is measured without deliveries and with them; 0 for never',
    integer,
    4,
  )
  .option('--burst <n>', 'events that are offered at once before the rest; 0 for none', integer, 1000)
  .option('--only-burst', 'measure only these')
  .option('--profile <dir>', "leave CPU profiles of the daemons' threads there; slower")
  .action(async (options: WebhooksOptions) => {
    await webhooks(options, print);
  });

program
  .command('alerts')
  .description('how long all rules take, what they cost ingestion, and how soon an alert fires')
  .option('--rules <n>', 'rules of all types', integer, 10_000)
  .option('--agents <n>', 'agents that they are about', integer, 1000)
  .option('--traces <n>', 'runs of the last 24 hours', integer, 1_000_000)
  .option('--ticks <n>', 'how often all rules are judged', integer, 10)
  .option('--seconds <n>', 'how long each of two rounds of ingestion is measured', number, 30)
  .option('--probes <n>', 'alerts that are to fire', integer, 40)
  .option('--rate <n>', 'spans per second beside them', integer, 10_000)
  .action(async (options: AlertsOptions) => {
    await alerts(options, print);
  });

program
  .command('neighbours')
  .description('what one user sees while another one floods the daemon')
  .option(
    '--floods <list>',
    `which, one after the other: ${FLOOD_NAMES.join(', ')}`,
    someOf(FLOOD_NAMES),
    FLOOD_NAMES,
  )
  .option('--seconds <n>', 'at most so long for each', number, 30)
  .option('--spans-per-second <n>', 'that the neighbour writes', integer, 2000)
  .option('--log-records <n>', 'that the one who floods has stored before', integer, 2_000_000)
  .option('--config <file>', 'configuration laid over the built-in one')
  .option('--profile <dir>', "leave CPU profiles of the daemon's threads there; slower")
  .action(async (options: NeighboursOptions) => {
    if (!(await neighbours(options, print))) process.exitCode = 1;
  });

program
  .command('control')
  .description('calls of the control store, in the thread that has it and from another one')
  .option('--calls <n>', 'of each kind', integer, 1000)
  .option('--together <n>', 'under way at the same time, in the second half', integer, 16)
  .option('--postgres <url>', 'an empty database that is measured, too')
  .action(async (options: ControlBenchOptions) => {
    await control(options, print);
  });

program
  .command('processors')
  .description('what each processor takes for a span, a log record or a metric point')
  .option('--seconds <n>', 'measured, of each processor and kind of items', number, 2)
  .option('--per-request <n>', 'items in a batch', integer, 100)
  .option('--only <text>', 'processors with this in their name')
  .action(async (options: ProcessorsOptions) => {
    await processors(options, print);
  });

program
  .command('ui')
  .description('what one waits for in the pages, in a real browser with a slowed processor')
  .option('--spans <list>', 'sizes of the runs that are opened', integers, [10_000, 100_000])
  .option('--slower <n>', "how much slower the browser's processor is made", number, 4)
  .option('--turns <n>', 'how often each page is opened', integer, 5)
  .option('--live <n>', 'runs per second that come in while the list of runs is looked at', integer, 50)
  .option('--seconds <n>', 'how long scrolling and live updates are watched', number, 5)
  .action(async (options: UiOptions) => {
    await ui(options, print);
  });

// By `exit`, so that daemons and folders do not stay behind.
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
await program.parseAsync();

function number(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0)) throw new InvalidArgumentError('It must be a number.');
  return value;
}

function oneSignal(text: string): TelemetrySignal {
  const found = TELEMETRY_SIGNALS.find((signal) => signal === text);
  if (found === undefined) throw new InvalidArgumentError(`one of ${TELEMETRY_SIGNALS.join(', ')}`);
  return found;
}

function oneControl(text: string): ScaleOptions['control'] {
  if (text !== 'sqlite' && text !== 'postgres') throw new InvalidArgumentError('sqlite or postgres');
  return text;
}

function integer(text: string): number {
  const value = number(text.replaceAll('_', ''));
  if (!Number.isSafeInteger(value)) throw new InvalidArgumentError('It must be an integer.');
  return value;
}

function integers(text: string): number[] {
  return text.split(',').map(integer);
}

/** Takes a list of names that are known. */
function someOf<T extends string>(known: readonly T[]): (text: string) => T[] {
  return (text) =>
    text.split(',').map((name) => {
      const found = known.find((one) => one === name.trim());
      if (found === undefined) throw new InvalidArgumentError(`Known are ${known.join(', ')}.`);
      return found;
    });
}

function collect(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}
