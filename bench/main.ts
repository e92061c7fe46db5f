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
import { search, type SearchOptions } from './search.js';
import { QUEUE_KINDS, sidecar, type SidecarOptions } from './sidecar.js';
import { transfer, type TransferOptions } from './transfer.js';
import { ui, type UiOptions } from './ui.js';
import { webhooks, type WebhooksOptions } from './webhooks.js';

const print = (text: string) => {
  console.log(text);
};

const program = new Command('bench')
  .usage('NAME [flags]')
  .description('Measures the built daemon. bench/README.md explains the results.');

program
  .command('ingest')
  .description('measures ingestion: spans per second and acknowledgement latency')
  .option('--connections <n>', 'concurrent requests', integer, 64)
  .option('--rate <n>', 'spans to send per second, open loop (default: closed loop)', integer)
  .option('--seconds <n>', 'seconds to measure', number, 60)
  .option('--spans <n>', 'spans to send, instead of --seconds', integer)
  .option('--warmup <n>', 'seconds to send before measuring', number, 5)
  .option('--bodies <n>', 'number of different request bodies', integer, 500)
  .option('--without <processor>', 'processor to remove from all pipelines; can be repeated', collect)
  .option('--config <file>', 'configuration file to merge over the built-in one')
  .option('--profile <dir>', "directory for CPU profiles of the daemon's threads; slows it down")
  .action(async (options: IngestOptions) => {
    const { verdict } = await ingest(options, print);
    if (!verdict.isComplete) process.exitCode = 1;
  });

program
  .command('otlp')
  .description('measures OTLP ingestion: spans, metric points and log records per second')
  .option('--signals <list>', 'signals to measure, in this order', listOf(TELEMETRY_SIGNALS), [
    ...TELEMETRY_SIGNALS,
  ])
  .option('--per-request <n>', 'items per request', integer, 500)
  .option('--connections <n>', 'concurrent requests', integer, 16)
  .option('--rate <n>', 'items to send per second, open loop (default: closed loop)', integer)
  .option('--seconds <n>', 'seconds to measure each signal', number, 30)
  .option('--items <n>', 'items to send, instead of --seconds', integer)
  .option('--warmup <n>', 'seconds to send before measuring', number, 5)
  .option('--bodies <n>', 'number of different request bodies', integer, 64)
  .option('--without <processor>', 'processor to remove from all pipelines; can be repeated', collect)
  .option('--config <file>', 'configuration file to merge over the built-in one')
  .option('--profile <dir>', "directory for CPU profiles of the daemon's threads; slows it down")
  .action(async (options: OtlpOptions) => {
    const results = await otlp(options, print);
    if ([...results.values()].some(({ verdict }) => !verdict.isComplete)) process.exitCode = 1;
  });

program
  .command('scale')
  .description('measures ingestion by gateways into ClickHouse on this machine')
  .option('--gateways <n>', 'number of daemons that share the load', integer, 1)
  .option('--discard', 'discard rows of spans and runs, to measure the gateways alone')
  .option('--connections <n>', 'concurrent requests', integer, 256)
  .option('--rate <n>', 'spans to send per second, open loop (default: closed loop)', integer)
  .option('--seconds <n>', 'seconds to measure; 0: only reads', number, 30)
  .option('--warmup <n>', 'seconds to send before measuring', number, 5)
  .option('--bodies <n>', 'number of different request bodies', integer, 500)
  .option('--control <store>', 'engine of the control store: sqlite or postgres', controlStore, 'postgres')
  .option('--read-spans <list>', 'store sizes for comparing read routes with DuckDB', integers)
  .option('--data <dir>', "directory for filled DuckDB stores to reuse, shared with 'read'")
  .option('--profile <dir>', "directory for CPU profiles of the daemons' threads; slows them down")
  .action(async (options: ScaleOptions) => {
    const stats = await scale(options, print);
    if (stats?.verdict.isComplete === false) process.exitCode = 1;
  });

program
  .command('transfer')
  .description('measures export from a filled store and import into an empty one')
  .option('--spans <n>', 'spans in the store', integer, 1_000_000)
  .option('--data <dir>', 'directory for filled stores to reuse')
  .option('--clickhouse', 'also measure ClickHouse with PostgreSQL')
  .action((options: TransferOptions) => transfer(options, print));

program
  .command('sidecar')
  .description('measures a sidecar with its queue in memory and on disk')
  .option('--signal <signal>', 'signal to send', signal, 'traces')
  .option('--per-request <n>', 'items per request', integer, 500)
  .option('--connections <n>', 'concurrent requests', integer, 16)
  .option('--seconds <n>', 'seconds to measure each queue', number, 15)
  .option('--warmup <n>', 'seconds to send before measuring', number, 3)
  .option('--bodies <n>', 'number of different request bodies', integer, 64)
  .option(
    '--queues <list>',
    'queues to measure: memory, or disk with this sync setting',
    listOf(QUEUE_KINDS),
    [...QUEUE_KINDS],
  )
  .option('--turns <n>', 'number of rounds over all queues', integer, 2)
  .option('--profile <dir>', "directory for CPU profiles of the daemon's threads; slows it down")
  .action(async (options: SidecarOptions) => {
    await sidecar(options, print);
  });

program
  .command('read')
  .description('measures every read route over filled stores, alone and during ingestion')
  .option('--spans <list>', 'store sizes in spans; 0: none', integers, [1_000_000, 10_000_000])
  .option(
    '--linked-traces <list>',
    'store sizes in traces that use one of 10 prompt versions; 0: none',
    integers,
    [1_000_000],
  )
  .option('--log-records <list>', 'store sizes in log records; 0: none', integers, [10_000_000])
  .option('--metric-points <list>', 'store sizes in metric points; 0: none', integers, [10_000_000])
  .option(
    '--ingest-rate <n>',
    'spans per second during the second round; 0: no second round',
    integer,
    30_000,
  )
  .option('--requests <n>', 'maximum requests per route', integer, 200)
  .option('--seconds <n>', 'maximum seconds per route', number, 5)
  .option('--firsts', 'also measure the first request to each route of a fresh daemon')
  .option('--data <dir>', 'directory for filled stores to reuse')
  .option('--config <file>', 'configuration file to merge over the built-in one')
  .action(async (options: ReadOptions) => {
    await read(options, print);
  });

program
  .command('search')
  .description('measures the search of runs for words in most, a few, one and no run')
  .option('--spans <list>', 'store sizes in spans', integers, [1_000_000, 10_000_000])
  .option('--requests <n>', 'searches for each word', integer, 10)
  .option('--data <dir>', 'directory for filled stores to reuse')
  .option('--config <file>', 'configuration file to merge over the built-in one')
  .action(async (options: SearchOptions) => {
    await search(options, print);
  });

program
  .command('restart')
  .description('kills the daemon during ingestion and checks that everything acknowledged is stored')
  .option('--spans <n>', 'acknowledged spans at which to kill the daemon', integer, 1_000_000)
  .option('--connections <n>', 'concurrent requests', integer, 64)
  .option('--bodies <n>', 'number of different request bodies', integer, 500)
  .action(async (options: RestartOptions) => {
    const { verdict } = await restart(options, print);
    if (!verdict.isComplete) process.exitCode = 1;
  });

program
  .command('long-trace')
  .description('measures the cost of adding spans to a long trace')
  .option(
    '--sizes <list>',
    'trace sizes at which to measure, ascending',
    integers,
    [1_000, 10_000, 100_000, 1_000_000],
  )
  .option('--requests <n>', 'requests of 100 spans to measure at each size', integer, 200)
  .option('--twice', 'send model calls by OTLP/JSON, each reported by two instrumentations')
  .action(async (options: LongTraceOptions) => {
    const { isComplete } = await longTrace(options, print);
    if (!isComplete) process.exitCode = 1;
  });

program
  .command('webhooks')
  .description('measures webhook deliveries to a local HTTPS receiver and their cost for ingestion')
  .option('--endpoints <n>', 'number of subscribed endpoints', integer, 8)
  .option('--events <n>', 'events per second, each delivered to every endpoint', integer, 25)
  .option(
    '--events-during-ingestion <n>',
    'events per second during ingestion, in addition to its own',
    integer,
    23,
  )
  .option('--ingest-rate <n>', 'spans per second of ingestion (default: closed loop)', integer)
  .option('--seconds <n>', 'seconds to measure each turn', number, 15)
  .option('--turns <n>', 'times to measure ingestion without and with deliveries; 0: none', integer, 4)
  .option('--burst <n>', 'events to send at once in a first measurement; 0: none', integer, 1000)
  .option('--only-burst', 'measure only the burst')
  .option('--profile <dir>', "directory for CPU profiles of the daemons' threads; slows them down")
  .action(async (options: WebhooksOptions) => {
    await webhooks(options, print);
  });

program
  .command('alerts')
  .description('measures alert evaluation, its cost for ingestion, and the time until an alert fires')
  .option('--rules <n>', 'number of rules, of all types', integer, 10_000)
  .option('--agents <n>', 'number of agents', integer, 1000)
  .option('--traces <n>', 'runs in the last 24 hours', integer, 1_000_000)
  .option('--ticks <n>', 'evaluations of all rules to measure', integer, 10)
  .option('--seconds <n>', 'seconds to measure ingestion without and with alerts', number, 30)
  .option('--probes <n>', 'alerts to fire', integer, 40)
  .option('--rate <n>', 'spans per second while alerts fire', integer, 10_000)
  .action(async (options: AlertsOptions) => {
    await alerts(options, print);
  });

program
  .command('neighbours')
  .description('measures the latency of one user while another floods the daemon')
  .option(
    '--floods <list>',
    `floods to run, in this order: ${FLOOD_NAMES.join(', ')}`,
    listOf(FLOOD_NAMES),
    FLOOD_NAMES,
  )
  .option('--seconds <n>', 'maximum seconds per flood', number, 30)
  .option('--spans-per-second <n>', 'spans per second of the measured user', integer, 2000)
  .option('--log-records <n>', 'log records that the flooding user has stored', integer, 2_000_000)
  .option('--config <file>', 'configuration file to merge over the built-in one')
  .option('--profile <dir>', "directory for CPU profiles of the daemon's threads; slows it down")
  .action(async (options: NeighboursOptions) => {
    if (!(await neighbours(options, print))) process.exitCode = 1;
  });

program
  .command('control')
  .description('measures calls of the control store, in its own thread and from another')
  .option('--calls <n>', 'calls to measure, per kind', integer, 1000)
  .option('--together <n>', 'concurrent calls in the second half', integer, 16)
  .option('--postgres <url>', 'URL of an empty database to measure as well')
  .action(async (options: ControlBenchOptions) => {
    await control(options, print);
  });

program
  .command('processors')
  .description('measures the CPU time of each processor per item')
  .option('--seconds <n>', 'seconds to measure each processor and kind of item', number, 2)
  .option('--per-request <n>', 'items per batch', integer, 100)
  .option('--only <text>', 'measure only processors whose name contains this text')
  .action(async (options: ProcessorsOptions) => {
    await processors(options, print);
  });

program
  .command('ui')
  .description('measures the pages in a browser with a throttled CPU')
  .option('--spans <list>', 'sizes of the runs to open, in spans', integers, [10_000, 100_000])
  .option('--slower <n>', 'CPU throttling factor of the browser', number, 4)
  .option('--turns <n>', 'times to open each page', integer, 5)
  .option('--live <n>', 'runs per second to send while the list of runs is open', integer, 50)
  .option('--seconds <n>', 'seconds to measure scrolling and live updates', number, 5)
  .action(async (options: UiOptions) => {
    await ui(options, print);
  });

// `exit` handlers kill the daemons and remove their directories.
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
await program.parseAsync();

function number(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0)) throw new InvalidArgumentError('Must be a number of at least 0.');
  return value;
}

function signal(text: string): TelemetrySignal {
  const found = TELEMETRY_SIGNALS.find((signal) => signal === text);
  if (found === undefined) throw new InvalidArgumentError(`Must be one of ${TELEMETRY_SIGNALS.join(', ')}.`);
  return found;
}

function controlStore(text: string): ScaleOptions['control'] {
  if (text !== 'sqlite' && text !== 'postgres') throw new InvalidArgumentError('Must be sqlite or postgres.');
  return text;
}

function integer(text: string): number {
  const value = number(text.replaceAll('_', ''));
  if (!Number.isSafeInteger(value)) throw new InvalidArgumentError('Must be an integer.');
  return value;
}

function integers(text: string): number[] {
  return text.split(',').map(integer);
}

/** Parses a comma-separated list of known names. */
function listOf<T extends string>(known: readonly T[]): (text: string) => T[] {
  return (text) =>
    text.split(',').map((name) => {
      const found = known.find((one) => one === name.trim());
      if (found === undefined) throw new InvalidArgumentError(`Must be a list of: ${known.join(', ')}.`);
      return found;
    });
}

function collect(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}
