import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { generateKey } from '../../../src/auth/keys.js';
import { ApiCaller } from '../../support/api-caller.js';
import { PostgresServer } from '../../support/postgres.js';
import { postgresOverlay } from '../../support/postgres-config.js';
import { spawnDaemon, type DaemonProcess } from '../../support/process.js';
import { testFolder } from '../../support/test-folder.js';
import { anItem } from '../../support/trace-batch.js';
import { until } from '../../support/until.js';

const server = await PostgresServer.start(t);
const skip = typeof server === 'string' ? server : false;

/** A daemon in its own process that shares a control store, and the traces whose events it emitted. */
interface Sharer {
  readonly daemon: DaemonProcess;
  readonly api: ApiCaller;
  handedOn(): readonly string[];
}

void t.test(
  'of two daemons on one PostgreSQL only one emits events, and the other takes over',
  { skip },
  async (t) => {
    if (typeof server === 'string') return;
    const postgres = postgresOverlay(await server.createDatabase());
    const [folder, key] = [testFolder(t), generateKey()];
    const start = async (name: string): Promise<Sharer> => {
      const directory = join(folder, name);
      mkdirSync(directory);
      const path = join(directory, 'events.jsonl');
      const daemon = await spawnDaemon(t, { directory, key, overlay: overlayOf(postgres, path) });
      return { daemon, api: new ApiCaller(daemon.url, key), handedOn: () => tracesIn(path) };
    };
    const one = await start('one');
    const two = await start('two');
    const sent: string[] = [];
    const send = async ({ api }: Sharer): Promise<void> => {
      const item = anItem({ trace: { status: 'failed' } });
      await api.send([item]);
      sent.push(item.trace.trace_id as string);
    };
    for (let i = 0; i < 10; i++) await send(i % 2 === 0 ? one : two);
    await until('the first hands on the facts of both', () => one.handedOn().length === sent.length);
    t.strictSame(new Set(one.handedOn()), new Set(sent));
    t.strictSame(two.handedOn(), []);
    await one.daemon.stop('SIGKILL');
    const before = new Set(sent);
    for (let i = 0; i < 10; i++) await send(two);
    const later = sent.filter((trace) => !before.has(trace));
    await until('the other takes over', () => later.every((trace) => two.handedOn().includes(trace)));
    const handedOn = two.handedOn();
    t.equal(new Set(handedOn).size, handedOn.length, 'each once');
    t.strictSame(
      handedOn.filter((trace) => !before.has(trace)),
      later,
      'in their order',
    );
    t.equal((await two.daemon.stop()).code, 0);
  },
);

/** All events go to a file, in addition to the default pipelines. */
function overlayOf(postgres: string, path: string): string {
  const shared = JSON.parse(postgres) as Record<string, Record<string, unknown>>;
  return JSON.stringify({
    ...shared,
    receivers: { ...shared.receivers, 'outbox/all': { control: 'postgres', types: ['*'] } },
    exporters: { ...shared.exporters, 'file/events': { path, queue: { batch: { max_wait: '1ms' } } } },
    service: {
      ...shared.service,
      pipelines: { 'events/all': { receivers: ['outbox/all'], exporters: ['file/events'] } },
    },
  });
}

/** The failed runs in a file. */
function tracesIn(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map(
      (line) => JSON.parse(line) as { readonly type: string; readonly data: { readonly trace_id: string } },
    )
    .filter(({ type }) => type === 'trace.failed')
    .map(({ data }) => data.trace_id);
}
