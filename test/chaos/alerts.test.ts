import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { generateKey } from '../../src/auth/keys.js';
import { ApiCaller } from '../support/api-caller.js';
import { startMails } from '../support/mail-server.js';
import { spawnDaemon, type DaemonProcess } from '../support/process.js';
import { testFolder } from '../support/test-folder.js';
import { anItem } from '../support/trace-batch.js';
import { AUTHORITY } from '../support/webhook-certificates.js';
import { CountingReceiver } from './counting-receiver.js';
import { endLife, type Death } from './death.js';
import { ALERT_POINT_NAMES } from './kill-points.js';

/** `npm run test:chaos` kills more often than a normal run. */
const KILLS = Number(process.env['JACKDAW_TEST_KILLS'] ?? 5);
const AGENTS_A_LIFE = 6;
/** Alerts with an e-mail in addition to the webhook: a user gets at most 20 an hour. */
const MAILED = 15;
/** Notices still pending after this time are stuck. */
const SETTLED_MS = 120_000;
const DAEMON = fileURLToPath(new URL('./dying-daemon.js', import.meta.url));
const DEATHS: readonly Death[] = [...ALERT_POINT_NAMES, 'a request is out', 'any time'];

interface EventPage {
  readonly count: number;
  readonly items: readonly {
    readonly id: string;
    readonly value: number;
    readonly notifications: readonly { readonly channel: string; readonly status: string }[];
  }[];
}

t.setTimeout(0);

void t.test('an alert fires once and its notice arrives, whenever the daemon is killed', async (t) => {
  const directory = testFolder(t);
  const receiver = await CountingReceiver.start(t, () => false);
  const mails = await startMails(t);
  writeFileSync(join(directory, 'authority.pem'), AUTHORITY);
  const overlay = JSON.stringify({
    smtp: { host: '127.0.0.1', port: mails.port, from: 'jackdaw@example.org' },
    exporters: {
      alerts: {
        interval: '1s',
        targets: { allow_cidrs: ['127.0.0.1/32'], ca_file: join(directory, 'authority.pem') },
      },
    },
  });
  const key = generateKey();
  const live = async (env: NodeJS.ProcessEnv = {}): Promise<DaemonProcess> => {
    receiver.life++;
    return await spawnDaemon(t, { directory, overlay, entry: DAEMON, env, key });
  };
  const first = await live();
  const alerts = await createAlerts(new ApiCaller(first.url, key), receiver);
  await first.stop('SIGKILL');

  const failed = new Set<string>();
  // Fewer kills than kill points: each run uses others.
  const start = randomInt(DEATHS.length);
  for (let kills = 0; kills < KILLS; kills++) {
    const agents = [...alerts.keys()].slice(kills * AGENTS_A_LIFE, (kills + 1) * AGENTS_A_LIFE);
    const death = DEATHS[(start + kills) % DEATHS.length] ?? 'any time';
    await endLife(death, receiver, live, (daemon) => fail(daemon, agents, failed), AGENTS_A_LIFE);
  }
  const last = await live();
  const caller = new ApiCaller(last.url, key);
  const events = await settledEvents(caller, alerts, failed);
  for (const [agent, alert] of alerts) {
    const { count, items } = events.get(agent) ?? { count: -1, items: [] };
    // Unacknowledged data may still be stored.
    if (failed.has(agent) ? count !== 1 : count > 1) t.fail(`${agent}: fired ${count} times`);
    for (const { id, value, notifications } of items) {
      if (value !== 1) t.fail(`${agent}: the value is ${value}`);
      if (notifications.some(({ status }) => status !== 'sent'))
        t.fail(`${agent}: ${JSON.stringify(notifications)}`);
      checkArrivals(t, receiver, id, alert);
      const isMailed = notifications.some(({ channel }) => channel === 'email');
      if (isMailed !== mails.received.some(({ id: sent }) => sent === `<${id}.alert@example.org>`))
        t.fail(`${agent}: its e-mail`);
    }
  }
  t.comment(
    `${KILLS} kills, ${failed.size} alerts, ${receiver.arrivals.length} requests, ${mails.received.length} mails`,
  );
  t.ok(failed.size > 0);
  t.equal((await last.stop()).code, 0);
});

/** Creates one alert per agent before the agent exists; none fires twice. @returns alert ids by agent */
async function createAlerts(caller: ApiCaller, receiver: CountingReceiver): Promise<Map<string, string>> {
  const alerts = new Map<string, string>();
  for (let i = 0; i < KILLS * AGENTS_A_LIFE; i++) {
    const json = {
      target_service: `agent ${i}`,
      type: 'failure_rate',
      threshold: 0,
      cooldown_minutes: 525_600,
      channel: i < MAILED ? 'both' : 'webhook',
      webhook_url: receiver.url(`/${i}`),
    };
    const { status, body } = await caller.call('POST', '/alerts', { json });
    if (status !== 201) throw new Error(JSON.stringify(body));
    alerts.set(json.target_service, (body as { readonly id: string }).id);
  }
  return alerts;
}

async function fail(
  { url, key }: DaemonProcess,
  agents: readonly string[],
  failed: Set<string>,
): Promise<void> {
  const caller = new ApiCaller(url, key);
  for (const agent of agents) {
    const now = new Date().toISOString();
    const times = { started_at: now, ended_at: now };
    try {
      await caller.send([anItem({ trace: { agent, status: 'failed', success: undefined, ...times } })]);
    } catch (error) {
      // The connection broke; any other response than success is a failure.
      if (error instanceof TypeError) return;
      throw error;
    }
    failed.add(agent);
    // So that each is evaluated separately.
    await sleep(100);
  }
}

/** Waits until every alert of a failed agent fired and nothing is pending. */
async function settledEvents(
  caller: ApiCaller,
  alerts: ReadonlyMap<string, string>,
  failed: ReadonlySet<string>,
): Promise<Map<string, EventPage>> {
  const end = performance.now() + SETTLED_MS;
  for (;;) {
    const found = new Map<string, EventPage>();
    for (const [agent, id] of alerts) found.set(agent, await caller.get<EventPage>(`/alerts/${id}/events`));
    const isSettled = [...found].every(
      ([agent, { count, items }]) =>
        (count > 0 || !failed.has(agent)) &&
        items.every(({ notifications }) => notifications.every(({ status }) => status !== 'pending')),
    );
    if (isSettled || performance.now() > end) return found;
    await sleep(100);
  }
}

/** Checks the arrivals of one firing: unaltered, and repeated only after a kill. */
function checkArrivals(t: Test, receiver: CountingReceiver, event: string, alert: string): void {
  const arrivals = receiver.arrivals.filter(({ headers }) => headers['webhook-id'] === event);
  if (!arrivals.some(({ answered }) => answered === 200)) t.fail(`${event} did not arrive`);
  if (new Set(arrivals.map(({ body }) => body)).size > 1) t.fail(`${event} was altered`);
  const answered = arrivals.filter((arrival) => arrival.answered === 200).map(({ life }) => life);
  if (new Set(answered).size < answered.length) t.fail(`${event} was repeated without a kill in between`);
  for (const { body } of arrivals) {
    const { id, type, data } = JSON.parse(body) as { id: string; type: string; data: { alert_id: string } };
    if (id !== event || type !== 'alert.fired' || data.alert_id !== alert) t.fail(`${event}: ${body}`);
  }
}
