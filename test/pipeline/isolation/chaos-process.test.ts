import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { batchOf } from '../../support/engine.js';
import { spawnDaemon } from '../../support/process.js';
import { testFolder } from '../../support/test-folder.js';
import { until } from '../../support/until.js';

const PLUGIN = fileURLToPath(new URL('../../support/chaos-plugin.js', import.meta.url));

/** The receiver of the plugin feeds its processor and the real store. */
const OVERLAY = `plugins: [${JSON.stringify(PLUGIN)}]
receivers: { chaos: { plugin_limits: { request_timeout: 1s } } }
processors: { chaos: {} }
extensions: { chaos: {} }
service:
  extensions: [sqlite, duckdb, query, health, chaos]
  pipelines:
    traces/chaos: { receivers: [chaos], processors: [chaos], exporters: [storage] }
`;

void t.test('a daemon survives and reports uncaught errors of a plugin', async (t) => {
  const daemon = await spawnDaemon(t, { overlay: OVERLAY });
  const send = async (what: string, items?: unknown) => {
    const batch = batchOf(crypto.randomUUID());
    for (const { trace } of batch.items) trace.agent = what;
    const answer = await fetch(`${daemon.healthUrl}/chaos`, {
      method: 'POST',
      headers: { authorization: `Bearer ${daemon.key}` },
      body: JSON.stringify(items === undefined ? batch : { ...batch, items }),
    });
    return { status: answer.status, body: await answer.json() };
  };
  const faults = async (kind: string, fault: string) => {
    const text = await (await fetch(`${daemon.metricsUrl}/metrics`)).text();
    const line = text
      .split('\n')
      .find(
        (one) =>
          one.includes('plugin_faults') && one.includes(`kind="${kind}"`) && one.includes(`fault="${fault}"`),
      );
    return Number(line?.split(' ').at(-1));
  };

  t.match(await send('throws-in-timer'), { status: 200, body: { accepted: 1 } });
  await until('the timer has thrown', async () => (await faults('processor', 'uncaught')) === 1);
  t.match(await send('rejects-unseen'), { status: 200 });
  await until('the rejection was seen', async () => (await faults('processor', 'uncaught')) === 2);
  // The clock calls it one second after its start; each of these reads its gauge.
  await until('the clock has called it', async () => (await faults('receiver', 'uncaught')) > 1);
  await daemon.logged(/threw an uncaught error/);

  t.match(await send('throws'), { status: 503 });
  t.match(await send('passes-empty-items'), { status: 503 }, 'invalid traces reach no file');
  t.match(await send('well', [7]), { status: 422, body: { detail: /sent something that has an item 0/ } });
  t.match(await send('never-answers'), { status: 503, body: { code: 'overloaded' } });

  const ready = await fetch(`${daemon.healthUrl}/readyz`);
  const health = (await ready.json()) as { status: string; components: { id: string; state: string }[] };
  t.equal(ready.status, 200);
  t.equal(health.status, 'degraded');
  t.strictSame(
    health.components.filter(({ state }) => state !== 'ok').map(({ id, state }) => `${id} ${state}`),
    ['chaos degraded', 'chaos degraded'],
    'receiver and processor',
  );
  t.match(await send('well'), { status: 200, body: { accepted: 1 } });
  t.match(await daemon.stop(), { code: 0 });
});

void t.test('an error outside plugins still ends the process', async (t) => {
  const directory = testFolder(t);
  const file = join(directory, 'outside.mjs');
  // Work started while a module loads belongs to no component.
  writeFileSync(
    file,
    `process.once('SIGUSR2', () => { throw new Error('nobody’s'); });
export default { name: 'outside', apiVersion: 1, factories: [{ kind: 'extension', type: 'outside', description: 'x',
  stability: 'alpha', configSchema: { type: 'object', properties: {} }, create: () => ({}) }] };
`,
  );
  const daemon = await spawnDaemon(t, { directory, overlay: `plugins: [${JSON.stringify(file)}]` });
  t.match(await daemon.stop('SIGUSR2'), { code: 1 });
  t.match(daemon.stderr(), /"stack":"Error: nobody’s\\n +at [^"]*outside\.mjs/);
});
