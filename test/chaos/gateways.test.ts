import { randomInt } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { GatewayFleet } from '../scale/gateway-fleet.js';
import { ApiCaller } from '../support/api-caller.js';
import { ChaosLoad } from '../support/chaos-load.js';
import { ClickHouseServer } from '../support/clickhouse-server.js';
import { PostgresServer } from '../support/postgres.js';
import { testFolder } from '../support/test-folder.js';
import { AUTHORITY } from '../support/webhook-certificates.js';
import { yamlExample } from '../support/yaml-examples.js';
import { Balancer } from './balancer.js';
import { CountingReceiver } from './counting-receiver.js';
import { AGENTS, GatewayLoad, SPANS_A_RUN, type SentRun } from './gateway-load.js';
import { emptied, startSidecar } from './sidecar-process.js';
import { checkStoredOnce } from './stored-once.js';

/** `npm run test:chaos` kills 100 times during 200 000 spans. */
const KILLS = Number(process.env['JACKDAW_TEST_KILLS'] ?? 4);
const SPANS = Number(process.env['JACKDAW_TEST_SPANS'] ?? 4000);
/** Items of each signal sent through a sidecar. */
const RELAYED = Math.min(SPANS / 4, 20_000);
const GATEWAYS = 3;
/** Maximum random delay of a kill. */
const SPREAD_MS = 200;
/** Events that are not emitted, counted or delivered after this time are lost. */
const SETTLED_MS = 180_000;

t.setTimeout(0);
// While one test waits for leftovers of killed processes, the other continues.
t.jobs = 2;
const clickHouse = await ClickHouseServer.start(t);
const postgres = await PostgresServer.start(t);
const skip = [clickHouse, postgres].find((started) => typeof started === 'string') ?? false;

/** Called when ClickHouse and PostgreSQL are no longer killed. */
let peace = (): void => undefined;
const peaceful = new Promise<void>((resolve) => (peace = resolve));

/** Faults of the fleet and its servers. */
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

/** Polls until the response is right or the time is over. */
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

async function checkRuns(t: Test, api: ApiCaller, runs: readonly SentRun[]): Promise<void> {
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
    'complete and with their final status',
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
  runs: readonly SentRun[],
): Promise<void> {
  const failed = runs.filter(({ hasFailed }) => hasFailed).map(({ traceId }) => traceId);
  const deliveries = await settled(
    () => allDeliveries(api),
    (all) => all.length >= failed.length && all.every(({ status }) => status === 'success'),
  );
  t.equal(deliveries.length, failed.length, 'each event is recorded once');
  t.same([...new Set(deliveries.map(({ status }) => status))], ['success']);
  const events = receiver.arrivals
    .filter(({ answered, path }) => answered === 200 && path === '/failures')
    .map(({ body }) => (JSON.parse(body) as { readonly data: { readonly trace_id: string } }).data.trace_id);
  t.same(
    failed.filter((id) => !events.includes(id)),
    [],
    'each event arrived',
  );
}

/** Creates an alert per agent that never fires twice. @returns alert ids */
async function createAlerts(api: ApiCaller, receiver: CountingReceiver): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < AGENTS; i++) {
    const json = {
      ...{ target_service: `agent ${i}`, type: 'failure_rate', threshold: 0, cooldown_minutes: 525_600 },
      ...{ channel: 'webhook', webhook_url: receiver.url('/alerts') },
    };
    const { status, body } = await api.call('POST', '/alerts', { json });
    if (status !== 201) throw new Error(JSON.stringify(body));
    ids.push((body as { readonly id: string }).id);
  }
  return ids;
}

interface Firings {
  readonly count: number;
  readonly items: readonly { readonly notifications: readonly { readonly status: string }[] }[];
}

async function checkAlerts(t: Test, api: ApiCaller, alerts: readonly string[]): Promise<void> {
  for (const id of alerts) {
    const { count, items } = await settled(
      () => api.get<Firings>(`/alerts/${id}/events`),
      (firings) => firings.items[0]?.notifications.every(({ status }) => status === 'sent') === true,
    );
    t.equal(count, 1, 'each alert fired once');
    t.same(
      items.flatMap(({ notifications }) => notifications.map(({ status }) => status)),
      ['sent'],
    );
  }
}

void t.test(
  'loses no acknowledged data, counts nothing twice and emits all events under random kills',
  { buffered: true, skip: typeof skip === 'string' ? skip : false },
  async (t) => {
    if (typeof clickHouse === 'string' || typeof postgres === 'string') return;
    t.teardown(peace);
    const folder = testFolder(t);
    // Notices are not refused, because their retry comes after five minutes.
    const receiver = await CountingReceiver.start(t, (path) => path === '/failures' && randomInt(5) === 0);
    const authority = join(folder, 'authority.pem');
    writeFileSync(authority, AUTHORITY);
    const webhook = {
      targets: { allow_cidrs: ['127.0.0.1/32'], ca_file: authority },
      retry_schedule: Array.from({ length: 40 }, () => '50ms'),
      breaker_threshold: 10_000,
    };
    const alerts = { interval: '1s', targets: webhook.targets };
    const fleet = await GatewayFleet.start(t, { clickHouse, postgres, folder, webhook, alerts }, GATEWAYS);
    const anyUrl = (): string => fleet.gateways[randomInt(GATEWAYS)]?.url ?? '';
    const created = await new ApiCaller(anyUrl(), fleet.key).call('POST', '/org/default/webhooks/endpoints', {
      json: { url: receiver.url('/failures'), event_types: ['trace.failed'] },
    });
    t.equal(created.status, 201);
    const rules = await createAlerts(new ApiCaller(anyUrl(), fleet.key), receiver);

    const load = new GatewayLoad(anyUrl, fleet.key, SPANS);
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
    peace();
    t.comment(JSON.stringify(blows));
    const api = new ApiCaller(anyUrl(), fleet.key);
    await checkRuns(t, api, load.runs);
    await checkWebhooks(t, api, receiver, load.runs);
    await checkAlerts(t, api, rules);
    for (const gateway of fleet.gateways) t.strictSame(await gateway.stop(), { code: 0, signal: null });
  },
);

void t.test(
  'stores all acknowledged data once with the shipped files, whatever is killed',
  { buffered: true, skip: typeof skip === 'string' ? skip : false },
  async (t) => {
    if (typeof clickHouse === 'string' || typeof postgres === 'string') return;
    await peaceful;
    const folder = testFolder(t);
    const file = join(folder, 'gateway.yaml');
    writeFileSync(file, yamlExample('src/extensions/clickhouse/operating.md#1'));
    const directory = join(folder, 'sidecar');
    mkdirSync(directory);
    const fleet = await GatewayFleet.start(t, { clickHouse, postgres, folder, file }, 2);
    const balancer = await Balancer.start(t, () => fleet.gateways.map(({ otlpUrl }) => otlpUrl));
    const start = async () => await startSidecar(t, { directory, gatewayUrl: balancer.url, key: fleet.key });
    let sidecar = await start();
    const load = new ChaosLoad(() => sidecar.otlpUrl, RELAYED, 20);
    const kills = Math.max(2, KILLS / 4);
    for (let kill = 0; kill < kills; kill++) {
      await load.reached(Math.floor((3 * RELAYED * (kill + Math.random() * 0.9)) / (kills + 1)));
      await wait(Math.random() * SPREAD_MS);
      if (kill % 2 === 0) await fleet.kill(randomInt(2));
      else {
        await sidecar.stop('SIGKILL');
        sidecar = await start();
      }
    }
    await load.done;
    const metrics = await emptied(sidecar);
    t.comment(`answered ${JSON.stringify(balancer.answered)}, of these ${balancer.lost} were lost`);
    t.ok(
      balancer.lost > 0 && balancer.answered.every((count) => count > 0),
      'both gateways answered and some responses were lost',
    );
    t.notMatch(metrics, /(dead_letter_items|dropped_items|lost_items)_total\{.*\} [1-9]/);
    for (const { url } of fleet.gateways)
      await checkStoredOnce(t, new ApiCaller(url, fleet.key), load, RELAYED);
    t.strictSame(await sidecar.stop(), { code: 0, signal: null });
    for (const gateway of fleet.gateways) t.strictSame(await gateway.stop(), { code: 0, signal: null });
  },
);
