import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { Evaluator } from '../src/alerting/evaluator.js';
import { uuidV7 } from '../src/signal/ids.js';
import { UNSET_FIELDS } from '../src/signal/span.js';
import type { TraceRecord } from '../src/signal/trace.js';
import type { Alert, AlertRules } from '../src/storage/contracts/alerts.js';
import type { AgentSummary } from '../src/storage/contracts/runs.js';
import type { SqlControlStore } from '../src/storage/control/sql-control-store.js';
import { DuckDBStore } from '../src/storage/duckdb/client/store.js';
import { SEGMENT_SIZE } from '../src/storage/duckdb/write/writer.js';
import { PrometheusMeter } from '../src/telemetry/meter.js';
import { systemClock } from '../src/telemetry/system-clock.js';
import { hostThatKeeps, STORE_OPTIONS } from '../test/storage/duckdb/test-store.js';
import { controlPathOf, controlStoreAt } from '../test/support/control-store.js';
import { RecordingLogger } from '../test/support/recording-logger.js';
import { Api } from './api.js';
import { BENCH_KEY, inFreshDirectory } from './bench-directory.js';
import { writeDaemonConfig } from './daemon-config.js';
import { DaemonProcess } from './daemon-process.js';
import { LatencyRecorder } from './latency-recorder.js';
import type { Latency } from './load-plan.js';
import { LoadProcess } from './load-process.js';
import { lines, ms, printSetup, type Print } from './report.js';

const CONNECTIONS = 64;
const SPANS_PER_REQUEST = 100;
const BODIES = 500;
const WARMUP_SECONDS = 5;
/** Rules over each agent of the load, so that its commits have rules judged all the time. */
const RULES_PER_BUSY_AGENT = 5;
const PROBE_PAUSE_MS = 250;
const POLL_MS = 10;

export interface AlertsOptions {
  readonly rules: number;
  readonly agents: number;
  readonly traces: number;
  readonly ticks: number;
  readonly seconds: number;
  readonly probes: number;
  /** Spans per second beside the probes. */
  readonly rate: number;
}

/**
 * `npm run bench -- alerts`: how long it takes to judge all rules, what they cost ingestion, and how soon after the
 * acknowledgement of the run that decides an alert has fired.
 */
export async function alerts(wanted: AlertsOptions, print: Print): Promise<void> {
  printSetup(print, 'alerts', { ...wanted });
  // A user has room for no more: the probes are among them.
  const options = { ...wanted, rules: wanted.rules - wanted.probes };
  await inFreshDirectory(async (directory) => {
    const original = join(directory, 'original');
    const userId = await makeStore(original);
    await fill(original, userId, options, print);
    const ticks = await judgeAll(original, options);
    print(
      lines([['all rules judged', `p50 ${ms(ticks.p50)}  max ${ms(ticks.max)} ms (goal: under 1000 ms)`]]),
    );
    const without = await ingest(original, join(directory, 'without'), false, options);
    const beside = await ingest(original, join(directory, 'with'), true, options);
    print(
      lines([
        ['spans/s without alerts', without.toFixed(0)],
        ['spans/s with alerts', beside.toFixed(0)],
        [
          'ingestion with alerts',
          `${((beside / without) * 100).toFixed(1)} % of that without (goal: over 90 %)`,
        ],
      ]),
    );
    const fired = await probe(original, join(directory, 'probed'), options);
    print(
      lines([
        [
          'acknowledged to fired',
          `p50 ${ms(fired.p50)}  p95 ${ms(fired.p95)}  max ${ms(fired.max)} ms of ${fired.count} beside ${options.rate} spans/s (goal: under 2000 ms)`,
        ],
      ]),
    );
  });
}

/** A store as a daemon makes it, with the agents of the load. @returns the id of its user */
async function makeStore(directory: string): Promise<string> {
  const daemon = await DaemonProcess.start(await writeDaemonConfig({ directory, key: BENCH_KEY }));
  const api = new Api(daemon.url, BENCH_KEY);
  const load = await startLoad(daemon.url, { seconds: 1 });
  try {
    load.go();
    await load.result;
    const { user } = (await api.json('/me')) as { readonly user: { readonly id: string } };
    return user.id;
  } finally {
    await api.close();
    await load.kill();
    await daemon.stop();
  }
}

async function fill(directory: string, userId: string, options: AlertsOptions, print: Print): Promise<void> {
  await withStores(directory, async (store, { alerts: rules }) => {
    const busy = await store.agents.list(userId);
    await storeHistory(store, userId, options);
    const all = await store.agents.list(userId);
    const others = all.filter(({ id }) => !busy.some((one) => one.id === id));
    await createRules(rules, userId, others, options.rules - busy.length * RULES_PER_BUSY_AGENT);
    await createRules(rules, userId, busy, busy.length * RULES_PER_BUSY_AGENT);
    print(`  filled: ${options.traces} runs of ${all.length} agents, ${options.rules} rules`);
  });
}

async function judgeAll(directory: string, { ticks, rules }: AlertsOptions): Promise<Latency> {
  return await withStores(directory, async (store, control) => {
    const source = await store.identity();
    const latency = new LatencyRecorder();
    let judged = 0;
    let isFirst = true;
    await new Promise<void>((resolve, reject) => {
      const evaluator = new Evaluator({
        stats: store.stats,
        source,
        control,
        terms: { windowMs: 3_600_000, minSamples: 1, timezone: 'UTC' },
        intervalMs: 1000,
        clock: systemClock,
        logger: new RecordingLogger(),
        onEvaluated: ({ rules: count, ms: took }) => {
          if (count < rules) return;
          // The first writes what fires; the store is read for the first time, too.
          if (!isFirst) {
            latency.record(took);
            judged++;
          }
          isFirst = false;
          if (judged === ticks) void evaluator.stop(AbortSignal.abort()).then(resolve, reject);
        },
        onFired: () => undefined,
        onResolved: () => undefined,
        onFailed: () => {
          reject(new Error('The rules could not be judged.'));
        },
        onStore: () => undefined,
      });
      evaluator.start().catch(reject);
    });
    return latency.summary();
  });
}

/** @returns spans per second */
async function ingest(
  original: string,
  directory: string,
  evaluates: boolean,
  options: AlertsOptions,
): Promise<number> {
  const daemon = await startCopy(original, directory, evaluates);
  const load = await startLoad(daemon.url, { seconds: options.seconds });
  try {
    load.go();
    const { measured } = await load.result;
    return measured.items / measured.seconds;
  } finally {
    await load.kill();
    await daemon.kill();
  }
}

/** How soon alerts of agents fire, each by the first run of its agent that has failed. */
async function probe(original: string, directory: string, options: AlertsOptions): Promise<Latency> {
  const daemon = await startCopy(original, directory, true);
  const api = new Api(daemon.url, BENCH_KEY);
  const load = await startLoad(daemon.url, { itemsPerSecond: options.rate });
  const latency = new LatencyRecorder();
  try {
    load.go();
    await load.measuring;
    for (let number = 1; number <= options.probes; number++) {
      const agent = `probe ${number}`;
      const rule = { target_service: agent, type: 'failure_rate', threshold: 0 };
      const { id } = (await api.post('/alerts', rule)) as { readonly id: string };
      await api.post('/traces/batch', { traces: [aFailure(agent)] });
      const acknowledged = performance.now();
      while (!(await hasFired(api, id))) await sleep(POLL_MS);
      latency.record(performance.now() - acknowledged);
      await sleep(PROBE_PAUSE_MS);
    }
    return latency.summary();
  } finally {
    await api.close();
    await load.kill();
    await daemon.kill();
  }
}

async function hasFired(api: Api, alertId: string): Promise<boolean> {
  const alert = (await api.json(`/alerts/${alertId}`)) as { readonly last_fired_at: string | null };
  return alert.last_fired_at !== null;
}

function aFailure(agent: string): object {
  const now = new Date().toISOString();
  const trace = { trace_id: randomUUID(), agent, status: 'failed', started_at: now, ended_at: now };
  return { trace, spans: [] };
}

async function startCopy(original: string, directory: string, evaluates: boolean): Promise<DaemonProcess> {
  await cp(join(original, 'data'), join(directory, 'data'), {
    recursive: true,
    mode: constants.COPYFILE_FICLONE,
  });
  const extra = join(directory, 'alerts.yaml');
  const pipelines = { traces: { exporters: ['storage'] }, metrics: { exporters: ['storage'] } };
  await writeFile(extra, stringify(evaluates ? {} : { service: { pipelines } }));
  return await DaemonProcess.start(await writeDaemonConfig({ directory, key: BENCH_KEY, extra }));
}

async function startLoad(
  url: string,
  length: { readonly seconds?: number; readonly itemsPerSecond?: number },
): Promise<LoadProcess> {
  return await LoadProcess.start({
    kind: 'batch',
    url,
    key: BENCH_KEY,
    seed: 'bench',
    connections: CONNECTIONS,
    itemsPerRequest: SPANS_PER_REQUEST,
    templates: BODIES,
    warmupSeconds: length.seconds === 1 ? 0 : WARMUP_SECONDS,
    times: 'now',
    samples: 0,
    ...length,
  });
}

/** Works on the stores of a daemon that is not running. */
async function withStores<T>(
  directory: string,
  work: (store: DuckDBStore, control: SqlControlStore) => Promise<T>,
): Promise<T> {
  const settings = {
    id: 'duckdb',
    config: {},
    logger: new RecordingLogger(),
    meter: new PrometheusMeter(),
    clock: systemClock,
  };
  const path = join(directory, 'data', 'jackdaw.duckdb');
  const control = await controlStoreAt(controlPathOf(path));
  const options = { ...STORE_OPTIONS, memoryLimit: '512MiB', segmentSize: SEGMENT_SIZE, path };
  const store = new DuckDBStore(settings, options);
  await store.start(hostThatKeeps([], control));
  try {
    return await work(store, control);
  } finally {
    await store.shutdown(AbortSignal.timeout(60_000));
    await control.close();
  }
}

const TRACES_A_BATCH = 500;
const BATCHES_AT_ONCE = 8;
const MICROS_A_DAY = 86_400_000_000;

/** Stores runs of many agents, each with one model call, that came evenly over the last 24 hours. */
async function storeHistory(
  store: DuckDBStore,
  userId: string,
  { agents, traces }: { readonly agents: number; readonly traces: number },
): Promise<void> {
  const now = Date.now() * 1000;
  const batches = Math.ceil(traces / TRACES_A_BATCH);
  for (let from = 0; from < batches; from += BATCHES_AT_ONCE) {
    const some = Array.from({ length: Math.min(BATCHES_AT_ONCE, batches - from) }, (_, i) => from + i);
    await Promise.all(
      some.map(async (batch) => {
        const receivedAt = Math.round(now - MICROS_A_DAY + (MICROS_A_DAY * (batch + 1)) / batches);
        const items = Array.from({ length: TRACES_A_BATCH }, (_, i) =>
          aRun(`agent ${(batch * TRACES_A_BATCH + i) % agents}`, receivedAt, batch * TRACES_A_BATCH + i),
        );
        await store.writer.traces({ tenant: userId, items }, { receivedAt });
      }),
    );
  }
  await store.settled();
}

/** @param number decides how it went */
function aRun(agent: string, endedAt: number, number: number): TraceRecord {
  const trace_id = randomUUID();
  const durationMs = 500 + ((number * 7919) % 20_000);
  const started_at = endedAt - durationMs * 1000;
  const common = { started_at, ended_at: endedAt, duration_ms: durationMs } as const;
  const nothing = { error_message: null, metadata: null, total_tokens: null } as const;
  const status = number % 10 === 0 ? 'failed' : 'completed';
  return {
    trace: {
      ...common,
      ...nothing,
      trace_id,
      agent,
      status,
      success: null,
      outcome: null,
      total_cost_usd: 1200 + (number % 997),
      sdk_version: null,
      sample_rate: null,
      kind: 'agent',
      follows_spans: false,
      idle_timeout_ms: null,
    },
    spans: [
      {
        ...UNSET_FIELDS,
        ...common,
        span_id: randomUUID(),
        trace_id,
        type: 'llm',
        name: 'answer',
        status,
        model: 'claude',
        input_tokens: 900,
        output_tokens: 120,
      },
    ],
  };
}

const MAX_RULES = 1_000_000;
/** Creations under way at once: they share transactions. */
const RULES_AT_ONCE = 200;

/** What a rule of a bench says; the rest is the same for all. */
type RuleBase = Pick<Alert, 'type' | 'threshold'> & Partial<Pick<Alert, 'composite_config'>>;

/** One of each kind: some are met, and their cooldown lets them fire once. */
const SAYINGS: readonly RuleBase[] = [
  { type: 'failure_rate', threshold: 0.5 },
  { type: 'latency_threshold', threshold: 30_000 },
  { type: 'cost_threshold', threshold: 1000 },
  { type: 'inactivity', threshold: 24 },
  {
    type: 'composite',
    threshold: 0,
    composite_config: {
      operator: 'and',
      conditions: [
        { type: 'failure_rate', source: 'ai', threshold: 0.2 },
        { type: 'metric_threshold', source: 'infra', metric_name: 'cpu.load', operator: 'gt', value: 0.9 },
      ],
    },
  },
];

/** Creates rules over agents: of each kind as many. */
async function createRules(
  alerts: AlertRules,
  userId: string,
  agents: readonly Pick<AgentSummary, 'id' | 'name'>[],
  rules: number,
): Promise<void> {
  const now = Date.now() * 1000;
  for (let from = 0; from < rules; from += RULES_AT_ONCE) {
    const some = Array.from({ length: Math.min(RULES_AT_ONCE, rules - from) }, (_, i) => from + i);
    await Promise.all(
      some.map(async (i) => {
        const rule = SAYINGS[i % SAYINGS.length] ?? { type: 'inactivity', threshold: 24 };
        const agent = agents[Math.floor(i / SAYINGS.length) % agents.length];
        if (agent === undefined) throw new Error('There is no agent.');
        const outcome = await alerts.create(userId, alertOver(agent, rule, now), MAX_RULES);
        if (outcome !== 'created') throw new Error(`An alert could not be created: ${outcome}.`);
      }),
    );
  }
}

function alertOver({ id, name }: Pick<AgentSummary, 'id' | 'name'>, rule: RuleBase, now: number): Alert {
  return {
    id: uuidV7(now / 1000),
    agent_id: id,
    agent_name: name,
    composite_config: null,
    cooldown_minutes: 1440,
    is_active: true,
    channel: 'email',
    webhook_url: null,
    target_service: null,
    last_fired_at: null,
    created_at: now,
    ...rule,
  };
}
