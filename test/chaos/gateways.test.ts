import { randomInt, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { GatewayFleet } from '../scale/gateway-fleet.js';
import { ApiCaller } from '../support/api-caller.js';
import { ClickHouseServer } from '../support/clickhouse-server.js';
import { PostgresServer } from '../support/postgres.js';
import { aSpan, type Item } from '../support/trace-batch.js';
import { testFolder } from '../support/test-folder.js';
import { AUTHORITY } from '../support/webhook-certificates.js';
import { CountingReceiver } from './counting-receiver.js';

/** `npm run test:chaos` has 100 kills during 200 000 spans. */
const KILLS = Number(process.env['JACKDAW_TEST_KILLS'] ?? 4);
const SPANS = Number(process.env['JACKDAW_TEST_SPANS'] ?? 4000);
const GATEWAYS = 3;
const SENDERS = 12;
const SPANS_A_RUN = 10;
/** Requests hold the halves of so many runs. */
const RUNS_A_REQUEST = 4;
const AGENTS = 5;
const FAILS = 20;
/** A kill comes within so many milliseconds after its turn: in the middle of anything. */
const SPREAD_MS = 200;
/** What is not told, counted or delivered after so long is lost. */
const SETTLED_MS = 180_000;

t.setTimeout(0);
const clickHouse = await ClickHouseServer.start(t);
const postgres = await PostgresServer.start(t);
const skip = [clickHouse, postgres].find((started) => typeof started === 'string') ?? false;

interface Run {
  readonly traceId: string;
  readonly agent: string;
  readonly hasFailed: boolean;
}

/** Half of the spans of a run: the first half says that it goes on, the second how it ended. Both may come in any order, and again. */
function halfOf({ traceId, agent, hasFailed }: Run, half: 0 | 1, now: string): Item {
  const spans = Array.from({ length: SPANS_A_RUN / 2 }, (_, i) => {
    // A span's id follows from its run's, so that a repeat is one.
    const number = half * (SPANS_A_RUN / 2) + i;
    const span_id = `${traceId.slice(0, 35)}${number.toString(16)}`;
    return aSpan(traceId, { span_id, input_tokens: 2, output_tokens: 1, total_tokens: 3, cost_usd: '0.001' });
  });
  const ended = { status: hasFailed ? 'failed' : 'completed', success: null, ended_at: now };
  const trace = {
    ...{ trace_id: traceId, agent, started_at: now, status: 'running' },
    ...(half === 1 && ended),
    ...(half === 1 && hasFailed && { error_message: 'no answer' }),
  };
  return { trace, spans };
}

/** Sends all halves of all runs to whichever gateway, each until it is acknowledged, some of them twice at the same time. */
class Load {
  readonly runs: readonly Run[];
  readonly done: Promise<void>;
  readonly #url: () => string;
  readonly #key: string;
  readonly #requests: Item[][] = [];
  #acknowledged = 0;
  #watchers: (() => void)[] = [];

  constructor(url: () => string, key: string) {
    this.#url = url;
    this.#key = key;
    const now = new Date().toISOString();
    this.runs = Array.from({ length: SPANS / SPANS_A_RUN }, (_, i) => ({
      traceId: `${randomUUID().slice(0, 35)}0`,
      agent: `agent ${i % AGENTS}`,
      hasFailed: i % FAILS === 0,
    }));
    for (let from = 0; from < this.runs.length; from += RUNS_A_REQUEST) {
      const some = this.runs.slice(from, from + RUNS_A_REQUEST);
      for (const half of [0, 1] as const) this.#requests.push(some.map((run) => halfOf(run, half, now)));
    }
    // Halves of a run come far apart and close together.
    for (let i = 0; i + 8 < this.#requests.length; i++) {
      const other = i + randomInt(8);
      const [one, two] = [this.#requests[i], this.#requests[other]];
      if (one && two) [this.#requests[i], this.#requests[other]] = [two, one];
    }
    this.#requests.reverse();
    this.done = Promise.all(Array.from({ length: SENDERS }, () => this.#send())).then(() => undefined);
  }

  /** Resolves once so many requests are acknowledged. */
  async reached(share: number): Promise<void> {
    const requests = (2 * this.runs.length) / RUNS_A_REQUEST;
    while (this.#acknowledged < share * requests)
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
  }

  async #send(): Promise<void> {
    for (let items = this.#requests.pop(); items !== undefined; items = this.#requests.pop()) {
      const twice = randomInt(7) === 0 ? [this.#untilTaken(items)] : [];
      await Promise.all([this.#untilTaken(items), ...twice]);
      this.#acknowledged++;
      for (const tell of this.#watchers.splice(0)) tell();
    }
  }

  async #untilTaken(items: readonly Item[]): Promise<void> {
    for (;;) {
      try {
        const { status, body } = await new ApiCaller(this.#url(), this.#key).call('POST', '/traces/batch', {
          json: { traces: items },
        });
        if (status === 200 && (body as { readonly rejected: number }).rejected === 0) return;
        if (status !== 503) throw new RangeError(`a request was answered ${status}: ${JSON.stringify(body)}`);
      } catch (error) {
        // Whoever was killed gives no answer.
        if (error instanceof RangeError) throw error;
      }
      await wait(20);
    }
  }
}

/** What is done to the fleet and what it stands on. */
const BLOWS = ['gateway', 'clickhouse', 'faults', 'postgres', 'gateway', 'gateway'] as const;

async function strike(
  blow: (typeof BLOWS)[number],
  fleet: GatewayFleet,
  servers: { readonly clickHouse: ClickHouseServer; readonly postgres: PostgresServer },
): Promise<void> {
  if (blow === 'gateway') {
    await fleet.kill(randomInt(GATEWAYS));
  } else if (blow === 'clickhouse') {
    await servers.clickHouse.kill();
    await wait(Math.random() * 500);
    await servers.clickHouse.resume();
  } else if (blow === 'postgres') {
    await servers.postgres.stop();
    await wait(Math.random() * 500);
    await servers.postgres.resume();
  } else {
    for (const kind of ['cut', 'lost', 'half', 202] as const)
      await servers.clickHouse.fault({ kind, times: randomInt(1, 4) });
  }
}

/** Asks until the answer is as it should be, or the time is over. */
async function settled<Answer>(
  ask: () => Promise<Answer>,
  isRight: (answer: Answer) => boolean,
): Promise<Answer> {
  const end = performance.now() + SETTLED_MS;
  for (;;) {
    const answer = await ask();
    if (isRight(answer) || performance.now() > end) return answer;
    await wait(200);
  }
}

interface RunPage {
  readonly items: readonly {
    readonly trace_id: string;
    readonly status: string;
    readonly span_count: number;
    readonly total_tokens: number;
  }[];
  readonly next_cursor: string | null;
}

async function allRuns(api: ApiCaller): Promise<RunPage['items'][number][]> {
  const found: RunPage['items'][number][] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const from: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: RunPage = await api.get(`/dashboard/traces?count=none&page_size=100${from}`);
    found.push(...page.items);
    cursor = page.next_cursor;
  }
  return found;
}

interface DeliveryPage {
  readonly items: readonly { readonly id: string; readonly status: string }[];
  readonly next_cursor: string | null;
}

async function allDeliveries(api: ApiCaller): Promise<DeliveryPage['items'][number][]> {
  const found: DeliveryPage['items'][number][] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const from: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: DeliveryPage = await api.get(`/org/default/webhooks/deliveries?page_size=100${from}`);
    found.push(...page.items);
    cursor = page.next_cursor;
  }
  return found;
}

async function checkRuns(t: Test, api: ApiCaller, runs: readonly Run[]): Promise<void> {
  const failed = runs.filter(({ hasFailed }) => hasFailed);
  const { used } = await settled(
    () => api.get<{ readonly used: number }>('/usage'),
    (usage) => usage.used === SPANS,
  );
  t.equal(used, SPANS, 'each span is counted once');
  const found = await allRuns(api);
  t.equal(found.length, runs.length, 'every run is listed once');
  const byId = new Map(found.map((run) => [run.trace_id, run]));
  t.same(
    runs.filter(({ traceId, hasFailed }) => {
      const run = byId.get(traceId);
      const status = hasFailed ? 'failed' : 'completed';
      return run?.span_count !== SPANS_A_RUN || run.total_tokens !== 3 * SPANS_A_RUN || run.status !== status;
    }),
    [],
    'whole, and as it ended',
  );
  type Agents = readonly {
    readonly name: string;
    readonly total_runs: number;
    readonly failed_runs: number;
  }[];
  const agents = await api.get<Agents>('/agents');
  const sum = (of: (agent: Agents[number]) => number): number =>
    agents.reduce((all, one) => all + of(one), 0);
  t.strictSame(
    [agents.length, sum((agent) => agent.total_runs), sum((agent) => agent.failed_runs)],
    [AGENTS, runs.length, failed.length],
  );
}

async function checkWebhooks(
  t: Test,
  api: ApiCaller,
  receiver: CountingReceiver,
  runs: readonly Run[],
): Promise<void> {
  const failed = runs.filter(({ hasFailed }) => hasFailed).map(({ traceId }) => traceId);
  const deliveries = await settled(
    () => allDeliveries(api),
    (all) => all.length >= failed.length && all.every(({ status }) => status === 'success'),
  );
  t.equal(deliveries.length, failed.length, 'each event is recorded once');
  t.same([...new Set(deliveries.map(({ status }) => status))], ['success']);
  const told = receiver.arrivals
    .filter(({ answered }) => answered === 200)
    .map(({ body }) => (JSON.parse(body) as { readonly data: { readonly trace_id: string } }).data.trace_id);
  t.same(
    failed.filter((id) => !told.includes(id)),
    [],
    'and has arrived',
  );
}

void t.test(
  'gateways, ClickHouse and PostgreSQL are killed at random: nothing acknowledged is lost, nothing counts twice',
  { skip: typeof skip === 'string' ? skip : false },
  async (t) => {
    if (typeof clickHouse === 'string' || typeof postgres === 'string') return;
    const folder = testFolder(t);
    const receiver = await CountingReceiver.start(t, () => randomInt(5) === 0);
    const authority = join(folder, 'authority.pem');
    writeFileSync(authority, AUTHORITY);
    const webhook = {
      targets: { allow_cidrs: ['127.0.0.1/32'], ca_file: authority },
      retry_schedule: Array.from({ length: 40 }, () => '50ms'),
      breaker_threshold: 10_000,
    };
    const fleet = await GatewayFleet.start(t, { clickHouse, postgres, folder, webhook }, GATEWAYS);
    const anyUrl = (): string => fleet.gateways[randomInt(GATEWAYS)]?.url ?? '';
    const created = await new ApiCaller(anyUrl(), fleet.key).call('POST', '/org/default/webhooks/endpoints', {
      json: { url: receiver.url('/failures'), event_types: ['trace.failed'] },
    });
    t.equal(created.status, 201);

    const load = new Load(anyUrl, fleet.key);
    const blows: Record<string, number> = {};
    const start = randomInt(BLOWS.length);
    for (let kill = 0; kill < KILLS; kill++) {
      await load.reached((kill + Math.random() * 0.9) / (KILLS + 1));
      await wait(Math.random() * SPREAD_MS);
      const blow = BLOWS[(start + kill) % BLOWS.length] ?? 'gateway';
      blows[blow] = (blows[blow] ?? 0) + 1;
      await strike(blow, fleet, { clickHouse, postgres });
    }
    await load.done;
    await clickHouse.heal();
    t.comment(JSON.stringify(blows));
    const api = new ApiCaller(anyUrl(), fleet.key);
    await checkRuns(t, api, load.runs);
    await checkWebhooks(t, api, receiver, load.runs);
    for (const gateway of fleet.gateways) t.strictSame(await gateway.stop(), { code: 0, signal: null });
  },
);
