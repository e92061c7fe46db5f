import { exported, type PluginTemplate } from './template.js';

/** A route on a listener of the daemon, with its limits and authentication. */
export const receiverTemplate: PluginTemplate = {
  does: 'A receiver: it accepts lines of text by HTTP with an API key and emits each as a log record.',
  config: ({ type }) => `receivers:
  ${type}:
    endpoint: 127.0.0.1:4319 # shared with the API
    path: /${type.replaceAll('_', '-')}
    service: imported # the service of the records
service:
  pipelines:
    logs: { receivers: [otlp, ${type}] }
`,
  plugin: (of) => `// @ts-check
import { randomUUID } from 'node:crypto';
import { endpoint, section, Type } from 'jackdaw';

const configSchema = section({
  endpoint: endpoint({ default: '127.0.0.1:4319', description: 'Address to listen on; components with the same address share a listener.' }),
  path: Type.String({ default: '/${of.name}', pattern: '^/[a-z0-9/_-]+$', description: 'Path of the route.' }),
  service: Type.String({ default: 'imported', minLength: 1, description: 'Service name of the records.' }),
});

/** @type {import('jackdaw').ReceiverFactory<typeof configSchema>} */
export const receiver = {
  kind: 'receiver',
  type: '${of.type}',
  description: 'Accepts lines of text by HTTP as log records.',
  stability: 'alpha',
  signals: ['logs'],
  configSchema,
  resources: (config) => [{ kind: 'http_listener', endpoint: config.endpoint }],
  create: ({ config, outputs, clock }) => ({
    async start(host) {
      host.listener(config.endpoint).route({
        method: 'POST',
        path: config.path,
        maxBodyBytes: 4 * 1024 * 1024,
        async handle(request) {
          // Authenticate before reading the body, so that clients without a key cannot send much.
          const { userId, keyId } = host.authenticate(request, 'write');
          const text = new TextDecoder().decode(await request.body()).toWellFormed();
          const now = clock.now();
          const items = text.split('\\n').flatMap((line) => (line === '' ? [] : [record(line, now, config.service)]));
          if (items.length === 0) return { status: 200, body: JSON.stringify({ accepted: 0, refused: [] }) };
          // A rejection becomes the response: 503 with Retry-After, 429, 422.
          const receipt = await outputs.logs?.consume({ tenant: userId, items }, { receivedAt: now, keyId, abort: request.abort });
          return { status: 200, body: JSON.stringify(receipt) };
        },
      });
    },
  }),
};

/**
 * @param {string} body
 * @param {number} now in microseconds
 * @param {string} service
 * @returns {import('jackdaw').LogRecord}
 */
function record(body, now, service) {
  return {
    id: randomUUID(),
    timestamp: now,
    observed_at: now,
    severity: 'info',
    severity_number: 9,
    severity_text: '',
    body,
    trace_id: null,
    span_id: null,
    flags: 0,
    event_name: null,
    attributes: {},
    origin: { resource: { 'service.name': service }, scope: null, serviceName: service },
  };
}

${exported(of, 'receiver')}`,
  test: (of) => `// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { CaptureConsumer, conformance, sectionOf, TestClock, TestHost, TestLogger, TestMeter } from 'jackdaw/testing';
import { receiver } from './plugin.js';

test('keeps the contract of components', async (t) => {
  /** @type {import('jackdaw/testing').Subject} */
  const subject = { send: ({ host }) => host.request('POST', '/${of.name}', { body: 'one\\ntwo\\n' }) };
  for (const { name, run } of conformance(receiver, subject)) await t.test(name, run);
});

/** @param {import('jackdaw').Identity | null} [identity] */
async function started(identity) {
  const logs = new CaptureConsumer();
  const host = new TestHost(identity === undefined ? {} : { identity });
  const component = receiver.create({
    id: '${of.type}',
    config: sectionOf(receiver),
    outputs: { logs },
    logger: new TestLogger(),
    meter: new TestMeter(),
    clock: new TestClock(),
  });
  await component.start?.(host);
  return { logs, host };
}

test('each line is a record', async () => {
  const { logs, host } = await started();
  const answer = await host.request('POST', '/${of.name}', { body: 'one\\n\\ntwo\\n' });
  assert.equal(answer.status, 200);
  const items = /** @type {import('jackdaw').LogsBatch['items']} */ (logs.items);
  assert.deepEqual(items.map(({ body }) => body), ['one', 'two']);
});

test('accepts nothing without a key', async () => {
  const { logs, host } = await started(null);
  await assert.rejects(host.request('POST', '/${of.name}', { body: 'one' }), { status: 401 });
  assert.equal(logs.items.length, 0);
});
`,
};
