import { randomUUID } from 'node:crypto';
import t from 'tap';
import { otlpHttpConfig } from '../../../src/exporters/otlp-http/config.js';
import { otlpHttpExporter } from '../../../src/exporters/otlp-http/factory.js';
import { OtlpHttpExporter } from '../../../src/exporters/otlp-http/otlp-http-exporter.js';
import { componentSettings } from '../../support/component-settings.js';
import { metricValues } from '../../support/engine.js';
import { freePort } from '../../support/free-port.js';
import { startOtlpEndpoint, type EndpointAnswer, type OtlpEndpoint } from '../../support/otlp-endpoint.js';
import { logBatch, metricBatch } from '../../support/otlp-records.js';
import { aTrace } from '../../support/run-records.js';
import { sectionConfig } from '../../support/section-config.js';
import { StatusHost } from '../../support/status-host.js';
import { until } from '../../support/until.js';

const HOSTS = ['127.0.0.1', '127.0.0.2', '127.0.0.3'] as const;
type Host = (typeof HOSTS)[number];

void t.test('sends whole runs to the addresses of a name, whatever happens to them', async (t) => {
  const port = await freePort();
  const taken = new Map<string, Host[]>();
  const batchIds: string[] = [];
  const answers: Partial<Record<Host, EndpointAnswer>> = {};
  const start = async (host: Host): Promise<OtlpEndpoint> => {
    const endpoint = await startOtlpEndpoint(t, { host, port });
    endpoint.answer = ({ body, headers }) => {
      batchIds.push(`${host} ${String(headers['jackdaw-batch-id'])}`);
      const answer = answers[host] ?? { status: 200 };
      if (answer.status === 200)
        for (const id of JSON.stringify(body).match(/"traceId":"[^"]+"/g) ?? [])
          taken.set(id, [...(taken.get(id) ?? []), host]);
      return answer;
    };
    return endpoint;
  };
  const [, second] = [await start('127.0.0.1'), await start('127.0.0.2'), await start('127.0.0.3')];
  let lookUp: () => readonly string[] = () => HOSTS;
  let lookups = 0;
  const settings = componentSettings('otlp_http');
  const { clock, meter, logger } = settings;
  const config = sectionConfig(otlpHttpConfig, `endpoint: "http://gateways.test:${port}"\nbalance: {}`);
  const exporter = new OtlpHttpExporter({ ...settings, config }, async (host) => {
    t.equal(host, 'gateways.test');
    lookups += 1;
    return [...lookUp().map((address) => ({ address, family: 4 })), { address: '::1', family: 6 }];
  });
  await exporter.start();
  t.teardown(() => exporter.shutdown());
  const nextLookup = async (): Promise<void> => {
    const before = lookups;
    clock.advance(5000);
    await until('it is looked up again', () => lookups > before);
    await new Promise(setImmediate);
  };
  const runs = Array.from({ length: 60 }, () => randomUUID());
  const batch = () => ({ tenant: 'a', items: runs.map((trace_id) => aTrace(1, { trace_id })) });
  const send = async (what = batch()) =>
    exporter.inputs.traces?.consume(what, { receivedAt: 0, batch: { id: 'batch' } });
  /** The gateway of each run; fails if a run went to more than one, or to one twice. */
  const gateways = (): readonly (Host | undefined)[] => {
    t.equal(taken.size, runs.length);
    const found = [...taken].sort().map(([, hosts]) => {
      t.equal(hosts.length, 1);
      return hosts[0];
    });
    taken.clear();
    return found;
  };
  const states = async () => Object.values(await metricValues(meter, 'jackdaw_otlp_http_gateways{'));

  t.strictSame(await send(), { accepted: 60, refused: [] });
  const all = gateways();
  t.strictSame(new Set(all), new Set(HOSTS));
  batchIds.length = 0;
  await send();
  t.strictSame(gateways(), all, 'later spans follow');
  const ids = [...batchIds];
  t.equal(new Set(ids).size, 3, 'each part has an id of its own');
  batchIds.length = 0;
  await send();
  t.strictSame(batchIds.toSorted(), ids.toSorted(), 'the same for the same part');
  gateways();

  // A gateway that refuses connections: its runs, and only these, go to the next one at once.
  await second.close();
  await send();
  const withoutSecond = gateways();
  withoutSecond.forEach((host, at) => {
    if (all[at] === '127.0.0.2') t.not(host, '127.0.0.2');
    else t.equal(host, all[at]);
  });
  t.strictSame(await states(), [2, 1]);
  await start('127.0.0.2');
  await send();
  t.strictSame(gateways(), withoutSecond, 'it is not asked for a while');
  clock.advance(10_000);
  await send();
  t.strictSame(gateways(), all);

  // A gateway that answers, but takes nothing: its runs wait for it, and the others are not sent again.
  answers['127.0.0.3'] = { status: 503 };
  const waiting = batch();
  await t.rejects(send(waiting), { retryable: true, message: /answered 503/ });
  await t.rejects(send(waiting), { retryable: true, message: /answered 503/ });
  // Once it has left the name, they go elsewhere.
  lookUp = () => HOSTS.slice(0, 2);
  await nextLookup();
  t.strictSame(await send(waiting), { accepted: 60, refused: [] });
  gateways().forEach((host, at) => {
    if (all[at] === '127.0.0.3') t.not(host, '127.0.0.3');
    else t.equal(host, all[at]);
  });

  answers['127.0.0.1'] = { status: 400 };
  const receipt = await send();
  t.ok(
    receipt !== undefined && receipt.refused.length > 5 && receipt.accepted + receipt.refused.length === 60,
  );
  t.match(receipt?.refused[0]?.reason, /answered 400/);
  answers['127.0.0.2'] = { status: 400 };
  await t.rejects(send(), { retryable: false, message: /answered 400/ }, 'nobody took anything');
  taken.clear();
  delete answers['127.0.0.1'];
  delete answers['127.0.0.2'];

  lookUp = () => {
    throw Object.assign(new Error('queryA ENOTFOUND gateways.test'), { code: 'ENOTFOUND' });
  };
  await nextLookup();
  await nextLookup();
  await send();
  t.strictSame(new Set(gateways()), new Set(['127.0.0.1', '127.0.0.2']), 'the last addresses stay');
  t.match(logger.lines.join(), /Cannot look up gateways\.test: the last known addresses stay in use/);

  await exporter.inputs.logs?.consume(logBatch(), { receivedAt: 0 });
  await exporter.inputs.metrics?.consume(metricBatch(), { receivedAt: 0, batch: { id: 'x' } });
  t.equal(exporter.inputs.traces?.passthrough, undefined, 'runs have to be told apart');
});

void t.test('keeps everything while a name has no addresses', async (t) => {
  const settings = componentSettings('otlp_http');
  const config = sectionConfig(
    otlpHttpConfig,
    'endpoint: "http://gateways.test:1"\nbalance: { interval: 1m }',
  );
  const exporter = new OtlpHttpExporter({ ...settings, config }, () =>
    Promise.reject(new Error('ENOTFOUND')),
  );
  await exporter.start();
  t.teardown(() => exporter.shutdown());
  await t.rejects(async () => exporter.inputs.logs?.consume(logBatch(), { receivedAt: 0 }), {
    retryable: true,
    message: 'no address of gateways.test is known: ENOTFOUND',
  });
});

void t.test('looks names up with the system', async (t) => {
  const endpoint = await startOtlpEndpoint(t);
  const config = sectionConfig(otlpHttpConfig, `endpoint: "http://localhost:${endpoint.port}"\nbalance: {}`);
  const exporter = otlpHttpExporter.create({ ...componentSettings('otlp_http'), config });
  await exporter.start?.(new StatusHost().host);
  t.teardown(() => exporter.shutdown?.(AbortSignal.abort()));
  await exporter.inputs.logs?.consume(logBatch(), { receivedAt: 0 });
  t.match(endpoint.requests[0]?.headers, { host: `localhost:${endpoint.port}` });
});

void t.test('refuses what does not go with balance', (t) => {
  const check = (yaml: string) => otlpHttpExporter.check?.(sectionConfig(otlpHttpConfig, yaml)) ?? [];
  t.match(check('endpoint: "http://10.0.0.1:4318"\nbalance: {}'), [{ path: '/endpoint' }]);
  t.match(check('endpoint: "http://[::1]:4318"\nbalance: {}'), [{ path: '/endpoint' }]);
  t.match(check('endpoint: "http://a:4318"\nlogs_endpoint: "http://b:4318"\nbalance: { interval: 0s }'), [
    { path: '/logs_endpoint' },
    { path: '/balance/interval' },
  ]);
  t.strictSame(check('endpoint: "http://a:4318"\nbalance: {}'), []);
  t.end();
});
