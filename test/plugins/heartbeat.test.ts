import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import plugin from '../../plugins/heartbeat/plugin.js';
import {
  conformance,
  factoryOf,
  sectionOf,
  TestClock,
  TestHost,
  TestLogger,
  TestMeter,
} from '../../src/testing/index.js';
import { until } from '../support/until.js';

// @alone: the conformance kit looks at everything that its process has open.

const factory = factoryOf(plugin, 'extension', 'heartbeat');

void t.test('passes the conformance kit', async (t) => {
  for (const { name, run } of conformance(factory, { config: { url: 'http://127.0.0.1:9/' } }))
    await t.test(name, run);
});

/** A service that records its calls. */
async function service(t: Test) {
  const calls: string[] = [];
  const answers = { status: 200 };
  const server = createServer((request, response) => {
    calls.push(`${request.method ?? ''} ${request.url ?? ''}`);
    response.writeHead(answers.status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { calls, answers, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

void t.test('pings one URL while the daemon is ready and another while it is not', async (t) => {
  const { calls, answers, url } = await service(t);
  const [clock, meter, logger] = [new TestClock(), new TestMeter(), new TestLogger()];
  const health = { isReady: true };
  class Host extends TestHost {
    override health() {
      return { phase: 'running', components: [], isReady: health.isReady } as never;
    }
  }
  const host = new Host();
  const config = sectionOf(factory, { url: `${url}/ok?secret`, failure_url: `${url}/fail`, interval: '1m' });
  const extension = factory.create({ id: 'heartbeat', config, logger, meter, clock });
  await extension.start?.(host);
  const called = async (count: number, result: string, times: number) => {
    clock.advance(60_000);
    await until(`call ${count}`, () => calls.length === count);
    await until(
      'it is counted',
      () => meter.value('heartbeat_calls_total', { extension: 'heartbeat', result }) === times,
    );
    await until('it waits for the next', () => clock.pending === 1);
  };
  await called(1, 'ok', 1);
  health.isReady = false;
  await called(2, 'ok', 2);
  health.isReady = true;
  answers.status = 500;
  await called(3, 'failed', 1);
  t.strictSame(calls, ['POST /ok?secret', 'POST /fail', 'POST /ok?secret']);
  t.match(host.statuses.at(-1), { level: 'degraded', message: /the response status was 500/ });
  t.notMatch(JSON.stringify([logger.lines, host.statuses]), /secret/);
  await extension.shutdown?.(new AbortController().signal);
  clock.advance(600_000);
  t.equal(calls.length, 3);
});
