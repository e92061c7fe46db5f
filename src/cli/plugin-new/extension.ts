import { exported, type PluginTemplate } from './template.js';

/** A route, a periodic task and a status. */
export const extensionTemplate: PluginTemplate = {
  does: 'An extension: it measures how long the daemon has been ready and reports it on a route and as a metric.',
  config: ({ type }) => `extensions:
  ${type}:
    endpoint: 127.0.0.1:13133 # shared with the extension health
    interval: 10s # how often it looks
service:
  extensions: [sqlite, duckdb, query, health, ${type}]
`,
  plugin: (of) => `// @ts-check
import { duration, durationMs, endpoint, section } from 'jackdaw';

const configSchema = section({
  endpoint: endpoint({ default: '127.0.0.1:13133', description: 'Address to listen on; components with the same address share a listener.' }),
  interval: duration({ default: '10s', description: 'Interval for checking the daemon.' }),
});

/** @type {import('jackdaw').ExtensionFactory<typeof configSchema>} */
export const extension = {
  kind: 'extension',
  type: '${of.type}',
  description: 'Reports how long the daemon has been ready.',
  stability: 'alpha',
  configSchema,
  resources: (config) => [{ kind: 'http_listener', endpoint: config.endpoint }],
  create({ config, clock, meter, id }) {
    /** @type {number | null} */
    let readySince = null;
    const seconds = () => (readySince === null ? 0 : (clock.now() - readySince) / 1e6);
    let cancel = () => {};
    let endGauge = () => {};
    let hasStopped = false;
    return {
      async start(host) {
        const look = () => {
          if (hasStopped) return;
          readySince = host.health().isReady ? (readySince ?? clock.now()) : null;
          // Use the daemon's clock, so that a test can control it.
          cancel = clock.after(durationMs(config.interval), look);
        };
        endGauge = meter.gauge(
          '${of.type}_ready_seconds',
          { description: 'How long the daemon has been ready.', labelNames: ['extension'] },
          seconds,
          { extension: id },
        );
        host.listener(config.endpoint).route({
          method: 'GET',
          path: '/${of.name}',
          isPublic: true, // needs no key
          handle: () => ({ status: 200, body: JSON.stringify({ ready_seconds: seconds() }) }),
        });
        look();
      },
      async shutdown() {
        hasStopped = true;
        cancel();
        endGauge();
      },
    };
  },
};

${exported(of, 'extension')}`,
  test: (of) => `// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { conformance, sectionOf, TestClock, TestHost, TestLogger, TestMeter } from 'jackdaw/testing';
import { extension } from './plugin.js';

test('keeps the contract of components', async (t) => {
  for (const { name, run } of conformance(extension)) await t.test(name, run);
});

test('reports how long the daemon has been ready', async () => {
  const clock = new TestClock();
  const meter = new TestMeter();
  const host = new TestHost();
  const component = extension.create({ id: '${of.type}', config: sectionOf(extension), logger: new TestLogger(), meter, clock });
  await component.start?.(host);
  clock.advance(30_000);
  const answer = await host.request('GET', '/${of.name}');
  assert.deepEqual(JSON.parse(String(answer.body)), { ready_seconds: 30 });
  assert.equal(meter.value('${of.type}_ready_seconds', { extension: '${of.type}' }), 30);
  await component.shutdown?.(new AbortController().signal);
});
`,
};
