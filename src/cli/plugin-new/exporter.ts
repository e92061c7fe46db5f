import { exported, type PluginTemplate } from './template.js';

/** Posts batches; the engine adds queue, retries and timeout. */
export const exporterTemplate: PluginTemplate = {
  does: 'An exporter: it posts runs as JSON to a URL, with the queue and retries of the engine.',
  config: ({ type }) => `exporters:
  ${type}:
    url: http://127.0.0.1:8080/runs
    timeout: 30s # of one attempt; queue and retry are there as well
service:
  pipelines:
    traces: { exporters: [storage, ${type}] }
`,
  plugin: (of) => `// @ts-check
import { ConsumeError, deliveryKeys, serializeJson, section, Type } from 'jackdaw';

const configSchema = section({
  url: Type.String({
    default: 'http://127.0.0.1:8080/runs',
    pattern: '^https?://[^\\\\s/]+.*$',
    description: 'URL that receives the runs.',
  }),
  ...deliveryKeys(),
});

/** @type {import('jackdaw').ExporterFactory<typeof configSchema>} */
export const exporter = {
  kind: 'exporter',
  type: '${of.type}',
  description: 'Posts runs as JSON to a URL.',
  stability: 'alpha',
  signals: ['traces'],
  delivery: 'queued', // the engine adds queue, retry and timeout
  configSchema,
  create: ({ config }) => ({
    inputs: {
      traces: {
        async consume(batch, { abort }) {
          const count = batch.items.length;
          if (count === 0) return { accepted: 0, refused: [] };
          // serializeJson supports bigint, the type of integers beyond 2^53.
          const body = serializeJson(/** @type {any} */ ({ runs: batch.items.map(({ trace, spans }) => ({ ...trace, spans })) }));
          const answer = await fetch(config.url, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body,
            signal: abort ?? null,
            redirect: 'error',
          });
          await answer.body?.cancel();
          if (answer.ok) return { accepted: count, refused: [] };
          const isBusy = answer.status === 429 || answer.status >= 500;
          throw new ConsumeError(\`the response status was \${answer.status}\`, {
            code: isBusy ? 'overloaded' : 'validation_failed',
            retryable: isBusy, // other failures are permanent
          });
        },
      },
    },
  }),
};

${exported(of, 'exporter')}`,
  test: (of) => `// @ts-check
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import test from 'node:test';
import { conformance, sampleBatch, sectionOf, TestClock, TestLogger, TestMeter } from 'jackdaw/testing';
import { exporter } from './plugin.js';

/** A server that keeps the last body. @param {number} [status] of its responses */
async function receiver(status = 200) {
  /** @type {{ runs: { agent: string }[] }[]} */
  const bodies = []; // only the last one: conformance measures memory
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request.setEncoding('utf8')) text += piece;
    bodies[0] = JSON.parse(text);
    response.writeHead(status).end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const tearDown = () => {
    server.closeAllConnections();
    server.close();
  };
  return { config: { url: \`http://127.0.0.1:\${port}/\` }, bodies, tearDown };
}

test('keeps the contract of components', async (t) => {
  for (const { name, run } of conformance(exporter, { prepare: receiver })) await t.test(name, run);
});

/** @param {number} status */
async function send(status) {
  const { config, bodies, tearDown } = await receiver(status);
  const { inputs } = exporter.create({
    id: '${of.type}',
    config: sectionOf(exporter, config),
    logger: new TestLogger(),
    meter: new TestMeter(),
    clock: new TestClock(),
  });
  try {
    const receipt = await inputs.traces?.consume(sampleBatch('traces', 2), { receivedAt: 0 });
    return { receipt, bodies };
  } finally {
    tearDown();
  }
}

test('runs arrive as JSON', async () => {
  const { receipt, bodies } = await send(200);
  assert.deepEqual(receipt, { accepted: 2, refused: [] });
  assert.equal(bodies[0]?.runs.length, 2);
});

test('retries only what a retry may help', async () => {
  await assert.rejects(send(503), { name: 'ConsumeError', retryable: true });
  await assert.rejects(send(400), { name: 'ConsumeError', retryable: false });
});
`,
};
