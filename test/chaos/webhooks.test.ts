import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Webhook } from 'standardwebhooks';
import t, { type Test } from 'tap';
import { generateKey } from '../../src/auth/keys.js';
import { ApiCaller } from '../support/api-caller.js';
import { spawnDaemon, type DaemonProcess } from '../support/process.js';
import { anItem } from '../support/trace-batch.js';
import { testFolder } from '../support/test-folder.js';
import { AUTHORITY } from '../support/webhook-certificates.js';
import { CountingReceiver, type Arrival } from './counting-receiver.js';
import { endLife, type Death } from './death.js';
import { WEBHOOK_POINT_NAMES } from './kill-points.js';

/** `npm run test:chaos` kills more often than a normal run. */
const KILLS = Number(process.env['JACKDAW_TEST_KILLS'] ?? 6);
/** Minimum number of facts; more are sent if there were fewer. */
const FACTS = Number(process.env['JACKDAW_TEST_FACTS'] ?? 60);
const FACTS_A_LIFE = 40;
const TRACES_A_REQUEST = 4;
/** Deliveries still pending after this time are stuck. */
const SETTLED_MS = 120_000;
const DAEMON = fileURLToPath(new URL('./dying-daemon.js', import.meta.url));
/** Progress is recorded every quarter of a second, so more than two records per run are not certain. */
const NOTES_A_LIFE = 2;
const ENDPOINTS = ['/failures', '/everything'] as const;

const DEATHS: readonly Death[] = [...WEBHOOK_POINT_NAMES, 'a request is out', 'any time'];

interface Endpoint {
  readonly id: string;
  readonly secret: string;
}

interface DeliveryPage {
  readonly count: number;
  readonly items: readonly { readonly id: string; readonly event_type: string; readonly status: string }[];
}

interface DeliveryDetail {
  readonly request_body: { readonly id: string; readonly data: { readonly trace_id?: string } };
  readonly attempts: readonly {
    readonly attempt_number: number;
    readonly http_status_code: number | null;
    readonly error_message: string | null;
  }[];
}

t.setTimeout(0);

void t.test('every event of a stored fact arrives, whenever the daemon is killed', async (t) => {
  const directory = testFolder(t);
  const receiver = await CountingReceiver.start(t, () => randomInt(5) === 0);
  writeFileSync(join(directory, 'authority.pem'), AUTHORITY);
  const overlay = JSON.stringify({
    exporters: {
      webhook: {
        targets: { allow_cidrs: ['127.0.0.1/32'], ca_file: join(directory, 'authority.pem') },
        retry_schedule: Array.from({ length: 40 }, () => '50ms'),
        breaker_threshold: 10_000,
      },
    },
  });
  const key = generateKey();
  const live = async (env: NodeJS.ProcessEnv = {}): Promise<DaemonProcess> => {
    receiver.life++;
    return await spawnDaemon(t, { directory, overlay, entry: DAEMON, env, key });
  };
  const first = await live();
  const endpoints = await subscribe(new ApiCaller(first.url, key), receiver);
  await first.stop('SIGKILL');

  const acknowledged = new Set<string>();
  // Fewer kills than kill points: each run uses others.
  const start = randomInt(DEATHS.length);
  let kills = 0;
  for (; kills < KILLS || acknowledged.size < FACTS; kills++) {
    const death = DEATHS[(start + kills) % DEATHS.length] ?? 'any time';
    const act = (daemon: DaemonProcess): Promise<void> => sendFailures(daemon, acknowledged);
    await endLife(death, receiver, live, act, death.startsWith('progress') ? NOTES_A_LIFE : undefined);
  }
  const last = await live();
  const caller = new ApiCaller(last.url, key);
  const stored = await storedTraces(caller);
  t.same(
    [...acknowledged].filter((id) => !stored.has(id)),
    [],
    'acknowledged data is stored',
  );
  for (const path of ENDPOINTS) await checkEndpoint(t, caller, receiver, path, endpoints[path], stored);
  t.comment(`${kills} kills, ${stored.size} facts, ${receiver.arrivals.length} requests`);
  t.equal((await last.stop()).code, 0);
});

async function subscribe(
  caller: ApiCaller,
  receiver: CountingReceiver,
): Promise<Record<(typeof ENDPOINTS)[number], Endpoint>> {
  const create = async (path: string, types: readonly string[]): Promise<Endpoint> => {
    const json = { url: receiver.url(path), event_types: types };
    const answer = await caller.call('POST', '/org/default/webhooks/endpoints', { json });
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
    return answer.body as Endpoint;
  };
  return {
    '/failures': await create('/failures', ['trace.failed']),
    '/everything': await create('/everything', ['*']),
  };
}

async function sendFailures({ url, key }: DaemonProcess, acknowledged: Set<string>): Promise<void> {
  const caller = new ApiCaller(url, key);
  for (let sent = 0; sent < FACTS_A_LIFE; sent += TRACES_A_REQUEST) {
    const items = Array.from({ length: TRACES_A_REQUEST }, () =>
      anItem({ trace: { status: 'failed', error_message: 'No answer: ünïcode \u2028 🪶' } }),
    );
    try {
      await caller.send(items);
    } catch (error) {
      // The connection broke; any other response than success is a failure.
      if (error instanceof TypeError) return;
      throw error;
    }
    for (const { trace } of items) acknowledged.add(trace.trace_id as string);
  }
}

async function storedTraces(caller: ApiCaller): Promise<Set<string>> {
  const stored = new Set<string>();
  for (let page = 1; ; page++) {
    const { items } = await caller.get<{ items: readonly { trace_id: string }[] }>(
      `/dashboard/traces?page=${page}&page_size=100`,
    );
    for (const { trace_id: id } of items) stored.add(id);
    if (items.length === 0) return stored;
  }
}

/** Waits until nothing is pending and compares arrivals with the stored data and delivery records. */
async function checkEndpoint(
  t: Test,
  caller: ApiCaller,
  receiver: CountingReceiver,
  path: (typeof ENDPOINTS)[number],
  { id, secret }: Endpoint,
  stored: ReadonlySet<string>,
): Promise<void> {
  const deliveries = await settledDeliveries(caller, id);
  t.same(
    new Set(deliveries.map(({ status }) => status)),
    new Set(['success']),
    `${path}: all were delivered`,
  );
  const arrivals = receiver.arrivals.filter((arrival) => arrival.path === path);
  const events = new Map<string, string>();
  for (const { id: delivery } of deliveries) {
    const { request_body: body, attempts } = await caller.get<DeliveryDetail>(
      `/org/default/webhooks/deliveries/${delivery}`,
    );
    const trace = body.data.trace_id;
    if (trace !== undefined) {
      if (events.has(trace)) t.fail(`${path}: two deliveries of one event: ${trace}`);
      events.set(trace, body.id);
    }
    const numbers = attempts.map(({ attempt_number: number }) => number);
    if (numbers.some((number, i) => number !== i + 1)) t.fail(`${path}: attempts ${numbers.join(', ')}`);
    checkArrivals(
      t,
      arrivals.filter(({ headers }) => headers['x-service-delivery'] === delivery),
      attempts.length,
      JSON.stringify(body),
      secret,
    );
  }
  t.same(
    [...stored].filter((trace) => !events.has(trace)),
    [],
    `${path}: every stored failure was emitted`,
  );
  t.same(
    [...events.keys()].filter((trace) => !stored.has(trace)),
    [],
    `${path}: nothing else was emitted`,
  );
}

/** Waits until no delivery is pending; after the time limit the result may contain pending ones. */
async function settledDeliveries(caller: ApiCaller, endpoint: string): Promise<DeliveryPage['items']> {
  const end = performance.now() + SETTLED_MS;
  for (;;) {
    const found: DeliveryPage['items'][number][] = [];
    for (let page = 1; ; page++) {
      const { items } = await caller.get<DeliveryPage>(
        `/org/default/webhooks/endpoints/${endpoint}/deliveries?page=${page}&page_size=100`,
      );
      found.push(...items);
      if (items.length === 0) break;
    }
    if (performance.now() > end || found.every(({ status }) => status !== 'pending')) return found;
    await sleep(100);
  }
}

/** Checks the arrivals of one delivery. */
function checkArrivals(
  t: Test,
  arrivals: readonly Arrival[],
  attempts: number,
  body: string,
  secret: string,
): void {
  if (!arrivals.some(({ answered }) => answered === 200)) t.fail(`no successful response: ${body}`);
  const seen = new Set<string>();
  const done = new Set<number>();
  for (const { headers, life, answered, body: sent } of arrivals) {
    const attempt = headers['x-service-attempt'] ?? '';
    if (seen.has(attempt) || Number(attempt) > attempts)
      t.fail(`attempt ${attempt} is duplicated or not recorded`);
    seen.add(attempt);
    if (JSON.stringify(JSON.parse(sent)) !== body) t.fail(`altered: ${sent}`);
    try {
      new Webhook(secret).verify(sent, headers);
    } catch (error) {
      // The library checks the clock, but only the signature matters here.
      if (!String(error).includes('old')) t.fail(`invalid signature: ${String(error)}`);
    }
    if (done.has(life)) t.fail(`sent again after its response without a kill in between: ${body}`);
    if (answered === 200) done.add(life);
  }
}
