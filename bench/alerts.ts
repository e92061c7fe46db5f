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
import { BENCH_KEY, withTempDirectory } from './bench-directory.js';
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
/** Rules on each agent of the load, so that its commits trigger evaluations. */
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
  /** Spans per second while alerts fire. */
  readonly rate: number;
}

/**
 * `npm run bench -- alerts`: the time to evaluate all rules, their cost for ingestion, and the time from the
 * acknowledgement of a failed run until its alert has fired.
 */
export async function alerts(given: AlertsOptions, print: Print): Promise<void> {
  printSetup(print, 'alerts', { ...given });
  // The probes count towards the limit of rules per user.
  const options = { ...given, rules: given.rules - given.probes };
  await withTempDirectory(async (directory) => {
    const original = join(directory, 'original');
    const userId = await createStore(original);
    await fill(original, userId, options, print);
    const ticks = await measureEvaluation(original, options);
    print(
      lines([
        ['evaluation of all rules', `p50 ${ms(ticks.p50)}  max ${ms(ticks.max)} ms (goal: under 1000 ms)`],
      ]),
    );
    const rateWithout = await measureIngestion(original, join(directory, 'without'), false, options);
    const rateWith = await measureIngestion(original, join(directory, 'with'), true, options);
    print(
      lines([
        ['spans/s without alerts', rateWithout.toFixed(0)],
        ['spans/s with alerts', rateWith.toFixed(0)],
        [
          'ingestion with alerts',
          `${((rateWith / rateWithout) * 100).toFixed(1)} % of the rate without (goal: over 90 %)`,
        ],
      ]),
    );
    const fired = await measureFiring(original, join(directory, 'probed'), options);
    print(
      lines([
        [
          'acknowledged to fired',
          `p50 ${ms(fired.p50)}  p95 ${ms(fired.p95)}  max ${ms(fired.max)} ms of ${fired.count} alerts at ${options.rate} spans/s (goal: under 2000 ms)`,
        ],
      ]),
    );
  });
}

/** Creates a store with the agents of the load. @returns id of its user */
async function createStore(directory: string): Promise<string> {
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

async function measureEvaluation(directory: string, { ticks, rules }: AlertsOptions): Promise<Latency> {
  return await withStores(directory, async (store, control) => {
    const source = await store.identity();
    const latency = new LatencyRecorder();
    let evaluated = 0;
    let isFirst = true;
    await new Promise<void>((resolve, reject) => {
      const evaluator = new Evaluator({
        stats: store.stats,
        source,
        control,
        settings: { windowMs: 3_600_000, minSamples: 1, timezone: 'UTC' },
        intervalMs: 1000,
        clock: systemClock,
        logger: new RecordingLogger(),
        onEvaluated: ({ rules: count, ms: durationMs }) => {
          if (count < rules) return;
          // The first evaluation is not counted: it writes firings and reads a cold store.
          if (!isFirst) {
            latency.record(durationMs);
            evaluated++;
          }
          isFirst = false;
          if (evaluated === ticks) void evaluator.stop(AbortSignal.abort()).then(resolve, reject);
        },
        onFired: () => undefined,
        onResolved: () => undefined,
        onFailed: () => {
          reject(new Error('The evaluation failed.'));
        },
        onStore: () => undefined,
      });
      evaluator.start().catch(reject);
    });
    return latency.summary();
  });
}

/** @returns spans per second */
async function measureIngestion(
  original: string,
  directory: string,
  withAlerts: boolean,
  options: AlertsOptions,
): Promise<number> {
  const daemon = await startCopy(original, directory, withAlerts);
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

/** Measures the time until alerts fire, each on the first failed run of an agent. */
async function measureFiring(original: string, directory: string, options: AlertsOptions): Promise<Latency> {
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
      await api.post('/traces/batch', { traces: [aFailedRun(agent)] });
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

function aFailedRun(agent: string): object {
  const now = new Date().toISOString();
  const trace = { trace_id: randomUUID(), agent, status: 'failed', started_at: now, ended_at: now };
  return { trace, spans: [] };
}

async function startCopy(original: string, directory: string, withAlerts: boolean): Promise<DaemonProcess> {
  await cp(join(original, 'data'), join(directory, 'data'), {
    recursive: true,
    mode: constants.COPYFILE_FICLONE,
  });
  const extra = join(directory, 'alerts.yaml');
  const pipelines = { traces: { exporters: ['storage'] }, metrics: { exporters: ['storage'] } };
  await writeFile(extra, stringify(withAlerts ? {} : { service: { pipelines } }));
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

/** Runs `work` on the stores of a stopped daemon. */
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

const TRACES_PER_BATCH = 500;
const CONCURRENT_BATCHES = 8;
const MICROS_PER_DAY = 86_400_000_000;

/** Stores runs of many agents, evenly over the last 24 hours, each with one model call. */
async function storeHistory(
  store: DuckDBStore,
  userId: string,
  { agents, traces }: { readonly agents: number; readonly traces: number },
): Promise<void> {
  const now = Date.now() * 1000;
  const batches = Math.ceil(traces / TRACES_PER_BATCH);
  for (let from = 0; from < batches; from += CONCURRENT_BATCHES) {
    const numbers = Array.from({ length: Math.min(CONCURRENT_BATCHES, batches - from) }, (_, i) => from + i);
    await Promise.all(
      numbers.map(async (batch) => {
        const receivedAt = Math.round(now - MICROS_PER_DAY + (MICROS_PER_DAY * (batch + 1)) / batches);
        const items = Array.from({ length: TRACES_PER_BATCH }, (_, i) =>
          aRun(`agent ${(batch * TRACES_PER_BATCH + i) % agents}`, receivedAt, batch * TRACES_PER_BATCH + i),
        );
        await store.writer.traces({ tenant: userId, items }, { receivedAt });
      }),
    );
  }
  await store.settled();
}

/** @param number determines duration, status and cost */
function aRun(agent: string, endedAt: number, number: number): TraceRecord {
  const trace_id = randomUUID();
  const durationMs = 500 + ((number * 7919) % 20_000);
  const started_at = endedAt - durationMs * 1000;
  const common = { started_at, ended_at: endedAt, duration_ms: durationMs } as const;
  const unset = { error_message: null, metadata: null, total_tokens: null } as const;
  const status = number % 10 === 0 ? 'failed' : 'completed';
  return {
    trace: {
      ...common,
      ...unset,
      trace_id,
      agent,
      status,
      success: null,
      outcome: null,
      total_cost_usd: 1200 + (number % 997),
      sdk_version: null,
      environment: null,
      release: null,
      agent_version: null,
      repository: null,
      sample_rate: null,
      kind: 'agent',
      follows_spans: false,
      idle_timeout_ms: null,
      orphan_wait_ms: null,
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
/** Concurrent creations share transactions. */
const CONCURRENT_CREATES = 200;

/** Fields that differ between rules. */
type RuleBase = Pick<Alert, 'type' | 'threshold'> & Partial<Pick<Alert, 'composite_config'>>;

/** One rule of each type. Some fire, but only once because of their cooldown. */
const RULE_TEMPLATES: readonly RuleBase[] = [
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

/** Creates rules on agents, equally many of each type. */
async function createRules(
  alerts: AlertRules,
  userId: string,
  agents: readonly Pick<AgentSummary, 'id' | 'name'>[],
  rules: number,
): Promise<void> {
  const now = Date.now() * 1000;
  for (let from = 0; from < rules; from += CONCURRENT_CREATES) {
    const numbers = Array.from({ length: Math.min(CONCURRENT_CREATES, rules - from) }, (_, i) => from + i);
    await Promise.all(
      numbers.map(async (i) => {
        const rule = RULE_TEMPLATES[i % RULE_TEMPLATES.length] ?? { type: 'inactivity', threshold: 24 };
        const agent = agents[Math.floor(i / RULE_TEMPLATES.length) % agents.length];
        if (agent === undefined) throw new Error('The store has no agent.');
        const outcome = await alerts.create(userId, alertOn(agent, rule, now), MAX_RULES);
        if (outcome !== 'created') throw new Error(`Cannot create the alert: ${outcome}.`);
      }),
    );
  }
}

function alertOn({ id, name }: Pick<AgentSummary, 'id' | 'name'>, rule: RuleBase, now: number): Alert {
  return {
    id: uuidV7(now / 1000),
    agent_id: id,
    agent_name: name,
    composite_config: null,
    score_config: null,
    name: null,
    window_minutes: null,
    min_samples: null,
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
