import t from 'tap';
import { ConfigError } from '../../src/config/config-error.js';
import { HandClock } from '../support/hand-clock.js';
import { batchOf, startEngine } from '../support/engine.js';
import { EngineComponents } from '../support/engine-components.js';

const CONFIG = `extensions: { thing: {}, thing/b: { helper: thing } }
receivers: { source: {} }
processors: { pass: {}, pass/b: {} }
exporters: { sink: {} }
service:
  extensions: [thing/b, thing]
  shutdown_timeout: 10s
  pipelines:
    traces: { receivers: [source], processors: [pass, pass/b], exporters: [sink] }
`;

const never = new Promise<never>(() => undefined);

void t.test('starts downstream first and stops upstream first', async (t) => {
  const components = new EngineComponents();
  const { daemon } = await startEngine(t, { config: CONFIG, factories: components.factories });
  const started = ['thing', 'thing/b', 'sink', 'pass/b', 'pass', 'source'].map((id) => `start ${id}`);
  t.strictSame(components.events.splice(0), started);
  t.equal(daemon.health().isReady, true);

  const [first, second] = await Promise.all([daemon.shutdown(), daemon.shutdown()]);
  t.strictSame(
    components.events,
    ['source', 'pass', 'pass/b', 'sink', 'thing/b', 'thing'].map((id) => `stop ${id}`),
    'once each, despite repeated calls',
  );
  t.strictSame(
    [first, second],
    [
      { fatality: undefined, errors: [] },
      { fatality: undefined, errors: [] },
    ],
  );
  t.match(daemon.health(), { phase: 'stopped', isReady: false });
});

void t.test('a stop finishes accepted batches and rejects later ones', async (t) => {
  let finish = (): void => undefined;
  const held = new Promise<void>((resolve) => (finish = resolve));
  const components = new EngineComponents({
    sink: {
      consume: async (batch) => {
        await held;
        return { accepted: batch.items.length, refused: [] };
      },
    },
  });
  const { daemon } = await startEngine(t, { config: CONFIG, factories: components.factories });
  const taken = components.send('source', batchOf('1'));
  const stopping = daemon.shutdown();
  await new Promise((resolve) => setImmediate(resolve));
  t.match(daemon.health(), { phase: 'stopping', isReady: false });
  t.ok(components.events.includes('stop source'));
  t.notOk(components.events.includes('stop pass'), 'the batch is still pending');
  await t.rejects(components.send('source', batchOf('2')), { code: 'shutting_down', retryable: true });
  finish();
  t.strictSame(await taken, { accepted: 1, refused: [] });
  await stopping;
  t.ok(components.events.indexOf('stop sink') > components.events.indexOf('consume sink'));
});

void t.test('all components share one deadline, and late ones are left behind', async (t) => {
  const clock = new HandClock();
  let wasNotified = false;
  const components = new EngineComponents({
    source: {
      shutdown: async (deadline) =>
        new Promise<void>((resolve) => {
          deadline.addEventListener('abort', () => {
            wasNotified = true;
            resolve();
          });
        }),
    },
    pass: { shutdown: () => never },
    sink: { shutdown: async () => Promise.reject(new Error('disk gone')) },
  });
  const { daemon } = await startEngine(t, { config: CONFIG, factories: components.factories, clock });
  const stopping = daemon.shutdown();
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(9_999);
  await new Promise((resolve) => setImmediate(resolve));
  t.notOk(wasNotified);
  clock.advance(1);
  await new Promise((resolve) => setImmediate(resolve));
  t.ok(wasNotified);
  t.notOk(components.events.includes('stop pass/b'), 'the grace period after the deadline');
  clock.advance(1_000);
  const { errors } = await stopping;
  t.strictSame(
    errors.map(({ message }) => message),
    [
      'Stopping processor "pass" in pipeline "traces": processor "pass" in pipeline "traces" did not stop in time and was abandoned',
      'Stopping exporter "sink": disk gone',
    ],
  );
  t.strictSame(components.events.slice(-2), ['stop thing/b', 'stop thing']);
});

void t.test('a failed start stops the started components and reports the error', async (t) => {
  const components = new EngineComponents({
    pass: { start: async () => Promise.reject(new Error('no licence')) },
    sink: { shutdown: async () => Promise.reject(new Error('also broken')) },
  });
  await t.rejects(
    startEngine(t, { config: CONFIG, factories: components.factories }),
    /^processor "pass" in pipeline "traces" could not start: no licence$/,
  );
  t.strictSame(components.events, [
    ...['thing', 'thing/b', 'sink', 'pass/b', 'pass'].map((id) => `start ${id}`),
    ...['pass', 'pass/b', 'sink', 'thing/b', 'thing'].map((id) => `stop ${id}`),
  ]);
});

void t.test('a stop during the start ends it', async (t) => {
  const abort = new AbortController();
  const components = new EngineComponents({
    sink: {
      start: async () => {
        abort.abort();
      },
    },
  });
  await t.rejects(
    startEngine(t, { config: CONFIG, factories: components.factories, abort: abort.signal }),
    /Stopped before the start was complete/,
  );
  t.notOk(components.events.includes('start pass'));
  t.ok(components.events.includes('stop sink'));
  t.ok(components.events.includes('stop thing'));
});

void t.test('a factory error stops the start and names the position', async (t) => {
  const components = new EngineComponents();
  const config = CONFIG.replace('thing: {},', 'thing: { text: uncreatable },');
  const failed = startEngine(t, { config, factories: components.factories });
  await t.rejects(failed, ConfigError);
  await t.rejects(failed, {
    message:
      'test.yaml:1:15: error: extensions.thing: extension "thing" cannot be created: this text cannot be used',
  });
  t.strictSame(components.events, [], 'nothing started');
});

void t.test('component statuses determine readiness', async (t) => {
  const components = new EngineComponents();
  const { daemon, logger } = await startEngine(t, { config: CONFIG, factories: components.factories });
  const host = components.hosts.get('sink');
  host?.reportStatus({ level: 'recoverable', message: 'the disk is full' });
  host?.reportStatus({ level: 'recoverable', message: 'the disk is full' });
  t.equal(daemon.health().isReady, false);
  t.match(
    daemon.health().components.find(({ id }) => id === 'sink'),
    { kind: 'exporter', state: 'recoverable', message: 'the disk is full' },
  );
  t.equal(logger.lines.filter((line) => /the disk is full/.test(line)).length, 1, 'logged once');
  host?.reportStatus({ level: 'ok' });
  t.equal(host?.health().isReady, true);
});

void t.test('a fatal status stops the daemon cleanly', async (t) => {
  const components = new EngineComponents();
  const { daemon } = await startEngine(t, { config: CONFIG, factories: components.factories });
  components.hosts.get('thing')?.reportStatus({ level: 'fatal', message: 'the store thread died' });
  t.strictSame(await daemon.stopped, {
    fatality: { component: 'extension "thing"', message: 'the store thread died' },
    errors: [],
  });
  t.equal(components.events.at(-1), 'stop thing');
});

void t.test('a fatal status during the start fails it', async (t) => {
  const components = new EngineComponents({
    sink: {
      start: async (host) => {
        host.reportStatus({ level: 'fatal', message: 'no such bucket' });
      },
    },
  });
  await t.rejects(
    startEngine(t, { config: CONFIG, factories: components.factories }),
    /exporter "sink" is not usable: no such bucket/,
  );
  t.notOk(components.events.includes('start source'));
});

void t.test('a host returns extensions only of the requested type', async (t) => {
  const components = new EngineComponents();
  await startEngine(t, { config: CONFIG, factories: components.factories });
  const host = components.hosts.get('sink');
  const isAnything = (candidate: unknown): candidate is object => typeof candidate === 'object';
  const isNothing = (candidate: unknown): candidate is never => candidate === undefined;
  t.ok(host?.extension('thing', isAnything));
  t.throws(() => host?.extension('thing/c', isAnything), /There is no extension "thing\/c"/);
  t.throws(() => {
    host?.extension('thing', isNothing);
  }, /is not what exporter "sink" needs/);
});
