import { gzipSync } from 'node:zlib';
import t from 'tap';
import { ConsumeError, type ConsumeErrorCode } from '../../../src/component/consume-error.js';
import type { Consumer, Receipt } from '../../../src/component/consumer.js';
import { int64ToNumber } from '../../../src/otlp/wire/int64.js';
import { responseTypes } from '../../../src/otlp/wire/messages.js';
import { TELEMETRY_SIGNALS, type Batch, type TracesBatch } from '../../../src/signal/batch.js';
import { post } from '../../support/http-post.js';
import { KEY, READER_KEY, USER } from '../../support/known-keys.js';
import { aSpan, jsonOf, ONE_ITEM, protobufOf, tracesOf } from '../../support/otlp-requests.js';
import { readStatus, startOtlpService } from '../../support/otlp-service.js';

const ENCODINGS = ['protobuf', 'json'] as const;
const TYPES = { protobuf: 'application/x-protobuf', json: 'application/json' } as const;

const takeAll: Consumer<Batch<unknown>> = {
  consume: async (batch) => ({ accepted: batch.items.length, refused: [] }),
};
const ALL = { traces: takeAll, metrics: takeAll, logs: takeAll };

function failing(
  code: ConsumeErrorCode,
  retryable: boolean,
  retryAfterMs?: number,
): Consumer<Batch<unknown>> {
  return {
    consume: async () => {
      throw new ConsumeError('said by the pipeline', {
        code,
        retryable,
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      });
    },
  };
}

function bodyOf(signal: (typeof TELEMETRY_SIGNALS)[number], request: object, encoding: 'protobuf' | 'json') {
  return encoding === 'json' ? jsonOf(request) : protobufOf(signal, request);
}

void t.test(
  'every signal in both encodings: 200, the same content type, partial_success unset',
  async (t) => {
    const seen: string[] = [];
    const note = (name: string): Consumer<Batch<unknown>> => ({
      consume: async ({ tenant, items }) => {
        seen.push(`${name} ${items.length} ${tenant === USER ? 'of the user' : tenant}`);
        return { accepted: items.length, refused: [] };
      },
    });
    const outputs = { traces: note('traces'), metrics: note('metrics'), logs: note('logs') };
    const service = await startOtlpService(t, outputs);
    for (const signal of TELEMETRY_SIGNALS) {
      for (const encoding of ENCODINGS) {
        const answer = await service.send(signal, {
          encoding,
          body: bodyOf(signal, ONE_ITEM[signal], encoding),
        });
        t.equal(answer.status, 200, `${signal} ${encoding}`);
        t.equal(answer.headers.get('content-type'), TYPES[encoding]);
        t.equal(answer.bytes.toString(), encoding === 'json' ? '{}' : '');
      }
    }
    t.strictSame(
      seen,
      TELEMETRY_SIGNALS.flatMap((signal) => [`${signal} 1 of the user`, `${signal} 1 of the user`]),
    );
  },
);

void t.test('accepts gzip in both encodings and content types with parameters', async (t) => {
  const service = await startOtlpService(t, ALL);
  for (const encoding of ENCODINGS) {
    const body = gzipSync(bodyOf('logs', ONE_ITEM.logs, encoding));
    const headers = { 'content-encoding': 'gzip' };
    t.equal((await service.send('logs', { encoding, body, headers })).status, 200, encoding);
  }
  for (const parameters of ['charset=utf-8', 'charset="UTF-8"', 'q=0.9', 'profile=otlp; charset=utf8']) {
    const headers = { 'content-type': `application/json; ${parameters}` };
    const answer = await service.send('logs', { body: jsonOf(ONE_ITEM.logs), headers });
    t.equal(answer.status, 200, parameters);
    t.equal(answer.headers.get('content-type'), 'application/json');
  }
});

void t.test('empty requests succeed without reaching the pipeline', async (t) => {
  const never: Consumer<Batch<unknown>> = { consume: () => Promise.reject(new Error('not to be called')) };
  const service = await startOtlpService(t, { traces: never, metrics: never, logs: never });
  for (const signal of TELEMETRY_SIGNALS) {
    t.equal((await service.send(signal)).status, 200, `${signal}: no bytes`);
    t.equal((await service.send(signal, { encoding: 'json', body: '{}' })).status, 200, `${signal}: {}`);
  }
  const envelopes = { resourceSpans: [{ scopeSpans: [{ spans: [] }, {}] }, {}] };
  for (const encoding of ENCODINGS) {
    const answer = await service.send('traces', { encoding, body: bodyOf('traces', envelopes, encoding) });
    t.equal(answer.status, 200);
    t.equal(answer.bytes.toString(), encoding === 'json' ? '{}' : '');
  }
});

void t.test('reports rejected items as partial success with count and reasons', async (t) => {
  const consumed: number[] = [];
  const refusesSecond: Consumer<TracesBatch> = {
    consume: async ({ items }): Promise<Receipt> => {
      consumed.push(items.length);
      const refused = [
        { index: 1, id: 'the-trace', reason: '/trace/agent: is not liked' },
        // A second exporter that refuses the same run does not count again.
        { index: 1, reason: 'said by another exporter' },
      ];
      return { accepted: items.length - 1, refused };
    },
  };
  const service = await startOtlpService(t, { ...ALL, traces: refusesSecond });
  const other = { traceId: Buffer.alloc(16, 2) };
  const request = tracesOf(aSpan(1), aSpan(2, { spanId: Buffer.alloc(3) }), aSpan(3, other), aSpan(4, other));
  for (const encoding of ENCODINGS) {
    const answer = await service.send('traces', { encoding, body: bodyOf('traces', request, encoding) });
    t.equal(answer.status, 200);
    const { partialSuccess } =
      encoding === 'json'
        ? (JSON.parse(answer.bytes.toString()) as { partialSuccess: Record<string, unknown> })
        : responseTypes.traces.decode(answer.bytes);
    // One span rejected by the mapping, two of the run that the pipeline refused.
    t.equal(String(partialSuccess?.rejectedSpans), '3', encoding);
    if (encoding === 'json') t.type(partialSuccess?.rejectedSpans, 'string', '64-bit integers are strings');
    t.match(partialSuccess?.errorMessage, /\/resourceSpans\/0\/scopeSpans\/0\/spans\/1\/spanId/);
    t.match(partialSuccess?.errorMessage, 'the-trace: /trace/agent: is not liked');
    t.notMatch(partialSuccess?.errorMessage, 'another exporter');
  }
  t.strictSame(consumed, [2, 2]);
  t.match((await service.meter.print()).text, 'otlp_rejected_items_total{receiver="otlp",signal="traces"} 2');

  const nothingLeft = await service.send('traces', {
    encoding: 'json',
    body: jsonOf(
      tracesOf(...Array.from({ length: 20 }, (_, i) => aSpan(i + 1, { traceId: Buffer.alloc(i) }))),
    ),
  });
  t.equal(nothingLeft.status, 200);
  t.match(nothingLeft.bytes.toString(), '"rejectedSpans":"20"');
});

void t.test('points and records are counted in their own fields', async (t) => {
  const refuseFirst: Consumer<Batch<unknown>> = {
    consume: async ({ items }) => ({ accepted: items.length - 1, refused: [{ index: 0, reason: 'no' }] }),
  };
  const service = await startOtlpService(t, { ...ALL, metrics: refuseFirst, logs: refuseFirst });
  for (const [signal, name] of [
    ['metrics', 'rejectedDataPoints'],
    ['logs', 'rejectedLogRecords'],
  ] as const) {
    const json = await service.send(signal, { encoding: 'json', body: jsonOf(ONE_ITEM[signal]) });
    t.strictSame(JSON.parse(json.bytes.toString()), { partialSuccess: { [name]: '1', errorMessage: 'no' } });
    const binary = await service.send(signal, { body: protobufOf(signal, ONE_ITEM[signal]) });
    const { partialSuccess } = responseTypes[signal].decode(binary.bytes);
    t.equal(int64ToNumber(partialSuccess?.[name] ?? 0), 1);
    t.equal(partialSuccess?.errorMessage, 'no');
  }
});

void t.test(
  'invalid data is 400 with a Status in the request encoding that names the position',
  async (t) => {
    const service = await startOtlpService(t, ALL);
    const cases = [
      ['protobuf', Buffer.from([0x0a, 0x7f]), /byte \d+/],
      ['protobuf', Buffer.from('{"resourceSpans":[]}'), /byte \d+/],
      ['json', '{"resourceSpans":', /not valid JSON/],
      ['json', '[]', /must be an object/],
      ['json', '{"resourceSpans":{}}', /at \/resourceSpans must be a list/],
      ['json', Buffer.from([0x22, 0xff, 0x22]), /UTF-8/],
      [
        'json',
        '{"resourceSpans":[{"scopeSpans":[{"spans":[{},{"traceId":"q83vEjRWeJCrze8SNFZ4kA=="}]}]}]}',
        /at \/resourceSpans\/0\/scopeSpans\/0\/spans\/1\/traceId must be hexadecimal digits \(not base64\)/,
      ],
    ] as const;
    for (const [encoding, body, message] of cases) {
      const answer = await service.send('traces', { encoding, body });
      t.equal(answer.status, 400, String(message));
      t.equal(answer.headers.get('content-type'), TYPES[encoding]);
      const status = readStatus(answer);
      t.equal(status.code, 3);
      t.match(status.message, message);
      t.strictSame(status.details, ['BadRequest']);
    }
    const broken = await service.send('traces', { body: 'no gzip', headers: { 'content-encoding': 'gzip' } });
    t.equal(broken.status, 400);
    t.strictSame(readStatus(broken).details, ['BadRequest']);
  },
);

void t.test('a batch that the pipeline rejects as invalid is 400, not 422', async (t) => {
  const service = await startOtlpService(t, { ...ALL, logs: failing('validation_failed', false) });
  const answer = await service.send('logs', { encoding: 'json', body: jsonOf(ONE_ITEM.logs) });
  t.equal(answer.status, 400);
  t.match(readStatus(answer), { message: 'said by the pipeline', details: ['BadRequest'] });
});

void t.test('keys: 401 and 403 as a Status before any other check', async (t) => {
  const service = await startOtlpService(t, ALL);
  for (const encoding of ENCODINGS) {
    const none = await service.send('logs', { encoding, body: 'x', headers: { authorization: null } });
    t.equal(none.status, 401);
    t.equal(none.headers.get('www-authenticate'), 'Bearer');
    t.match(readStatus(none), { code: 16, details: [] });
    const reader = { authorization: `Bearer ${READER_KEY}` };
    const forbidden = await service.send('logs', { encoding, body: 'x', headers: reader });
    t.equal(forbidden.status, 403);
    t.match(readStatus(forbidden), { code: 7, details: [] });
  }
});

void t.test('other media types and codings are 415, other methods 405', async (t) => {
  const service = await startOtlpService(t, ALL);
  for (const type of ['text/plain', 'application/json; charset=latin1', 'application/protobuf', null]) {
    const answer = await service.send('traces', {
      body: new Uint8Array(),
      headers: { 'content-type': type },
    });
    t.equal(answer.status, 415, String(type));
    t.equal(answer.headers.get('accept'), 'application/x-protobuf, application/json');
    t.match(readStatus(answer), { code: 3, message: /application\/x-protobuf/ });
  }
  const packed = await service.send('traces', { body: 'x', headers: { 'content-encoding': 'lz4' } });
  t.equal(packed.status, 415);
  t.match(readStatus(packed), { code: 3 });

  const got = await service.send('traces', { method: 'GET' });
  t.equal(got.status, 405);
  t.match(got.headers.get('allow'), 'POST');
  t.equal(got.headers.get('content-type'), 'application/x-protobuf');
  t.match(readStatus(got), { code: 12 });
});

void t.test('limits apply before and after decompression, and to the number of fields', async (t) => {
  const service = await startOtlpService(t, ALL, 'protocols: { http: { max_request_body_size: 64KiB } }');
  const large = Buffer.alloc(100_000, 0x20);
  for (const encoding of ENCODINGS) {
    for (const packed of [false, true]) {
      const headers = packed ? { 'content-encoding': 'gzip' } : {};
      const answer = await service.send('traces', {
        encoding,
        body: packed ? gzipSync(large) : large,
        headers,
      });
      t.equal(answer.status, 413, `${encoding}${packed ? ' packed' : ''}`);
      t.equal(answer.headers.get('content-type'), TYPES[encoding]);
      t.match(readStatus(answer), { code: 8, message: /65536 bytes/, details: [] });
    }
  }
  // Two bytes per empty span.
  const spans = Buffer.concat([
    Buffer.from([0x0a, 0xe4, 0xd4, 0x03, 0x12, 0xe0, 0xd4, 0x03]),
    Buffer.alloc(60_000, Buffer.from([0x12, 0x00])),
  ]);
  const many = await service.send('traces', { body: spans });
  t.equal(many.status, 413);
  t.match(readStatus(many), { message: /more than 16384 fields/ });
});

void t.test('retryable errors are 429 or 503 with Retry-After, never 500', async (t) => {
  const cases = [
    ['quota_exceeded', true, 90_000, 429, '90'],
    ['rate_limited', true, undefined, 429, '1'],
    ['overloaded', true, undefined, 503, '1'],
    ['storage_unavailable', true, 2500, 503, '3'],
    ['shutting_down', true, undefined, 503, '5'],
    ['internal_error', true, undefined, 503, '1'],
  ] as const;
  for (const [code, retryable, after, status, seconds] of cases) {
    const service = await startOtlpService(t, { ...ALL, logs: failing(code, retryable, after) });
    for (const encoding of ENCODINGS) {
      const answer = await service.send('logs', { encoding, body: bodyOf('logs', ONE_ITEM.logs, encoding) });
      t.equal(answer.status, status, code);
      t.equal(answer.headers.get('retry-after'), seconds);
      t.match(readStatus(answer), { code: status === 429 ? 8 : 14, details: ['RetryInfo'] });
    }
  }
});

void t.test('permanent failures are logged and answered 500 without details', async (t) => {
  const service = await startOtlpService(t, { ...ALL, logs: failing('internal_error', false) });
  const answer = await service.send('logs', { encoding: 'json', body: jsonOf(ONE_ITEM.logs) });
  t.equal(answer.status, 500);
  t.match(readStatus(answer), { code: 13, details: [] });
  t.notMatch(answer.bytes.toString(), 'said by the pipeline');
  t.match(service.logger.lines.join('\n'), 'said by the pipeline');
});

void t.test('a slow body is retryable', async (t) => {
  const service = await startOtlpService(t, ALL, 'request_timeout: 2s');
  async function* slowly(): AsyncGenerator<Uint8Array> {
    yield Buffer.from([0x0a]);
    await new Promise(() => undefined);
  }
  // The clock advances whenever the request may have arrived.
  const ticking = setInterval(() => {
    service.clock.advance(2000);
  }, 5);
  const answer = await post(`${service.url}/v1/traces`, {
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: slowly(),
  });
  clearInterval(ticking);
  t.equal(answer.status, 503);
  t.equal(answer.headers['retry-after'], '1');
  t.match(answer.body, { code: 14, message: /did not arrive/ });
});

void t.test('pending requests are limited, and a stop completes accepted ones', async (t) => {
  let release = (): void => undefined;
  let arrived = (): void => undefined;
  const arrival = new Promise<void>((resolve) => (arrived = resolve));
  const held: Consumer<Batch<unknown>> = {
    consume: async ({ items }) => {
      arrived();
      await new Promise<void>((resolve) => (release = resolve));
      return { accepted: items.length, refused: [] };
    },
  };
  const service = await startOtlpService(t, { ...ALL, logs: held }, 'max_in_flight: { requests: 1 }');
  const first = service.send('logs', { body: protobufOf('logs', ONE_ITEM.logs) });
  await arrival;
  const second = await service.send('traces', { body: protobufOf('traces', ONE_ITEM.traces) });
  t.equal(second.status, 503);
  t.equal(second.headers.get('retry-after'), '1');
  t.match(readStatus(second), { code: 14, details: ['RetryInfo'] });
  t.match((await service.meter.print()).text, 'jackdaw_otlp_requests_in_flight{receiver="otlp"} 1');

  let isStopped = false;
  const stopping = service.shutdown().then(() => (isStopped = true));
  const late = await service.send('traces');
  t.equal(late.status, 503);
  t.match(readStatus(late), { code: 14, message: /shutting down/ });
  t.notOk(isStopped, 'waits for the first');
  release();
  t.equal((await first).status, 200);
  await stopping;
  const { text } = await service.meter.print();
  for (const code of ['overloaded', 'shutting_down'])
    t.match(text, `otlp_refused_requests_total{receiver="otlp",transport="http",code="${code}"} 1`);
});

void t.test('a signal without a pipeline is 404 and says what to configure', async (t) => {
  const service = await startOtlpService(t, { traces: takeAll });
  const answer = await service.send('logs', { encoding: 'json', body: jsonOf(ONE_ITEM.logs) });
  t.equal(answer.status, 404);
  t.match(readStatus(answer), { message: /No pipeline takes logs .* list "otlp" under receivers/ });
  t.equal((await service.send('traces', { body: protobufOf('traces', ONE_ITEM.traces) })).status, 200);
});

void t.test('accepts wrongly joined paths, and names the right ones for others', async (t) => {
  const service = await startOtlpService(t, ALL);
  const body = protobufOf('traces', ONE_ITEM.traces);
  for (const path of ['//v1/traces', '/v1//traces/', '/v1/traces/v1/traces', '//v1/traces//v1/traces'])
    t.equal((await service.send('traces', { body, path })).status, 200, path);
  for (const path of ['/', '/v1', '/v1/traces/v1/logs', '/api/v1/traces', '/v1/traces/v1/traces/v1/traces']) {
    const answer = await service.send('traces', { body, path });
    t.equal(answer.status, 404, path);
    t.match(readStatus(answer), { code: 12, message: /\/v1\/traces, \/v1\/metrics, \/v1\/logs/ }, path);
  }
  const lines = service.logger.lines.filter((line) => line.includes('unknown path'));
  t.match(lines, [/path="\/"/], 'not once for each request');
  t.equal(lines.length, 1);
});

void t.test('passes on a valid batch name and rejects an invalid one', async (t) => {
  const seen: unknown[] = [];
  const logs: Consumer<Batch<unknown>> = {
    consume: async ({ items }, { batch }) => {
      seen.push(batch);
      return { accepted: items.length, refused: [] };
    },
  };
  const service = await startOtlpService(t, { logs });
  const send = (id: string | null) =>
    service.send('logs', { body: protobufOf('logs', ONE_ITEM.logs), headers: { 'jackdaw-batch-id': id } });
  for (const id of [null, 'a-1', '0'.repeat(128)]) t.equal((await send(id)).status, 200);
  t.strictSame(seen, [undefined, { id: 'a-1' }, { id: '0'.repeat(128) }]);
  for (const id of ['', 'a b', 'a,b', 'a/b', '0'.repeat(129)]) {
    const answer = await send(id);
    t.equal(answer.status, 400, id);
    t.match(readStatus(answer), {
      message: /^jackdaw-batch-id must be 1 to 128 letters, digits and \. _ ~ : -/,
    });
  }
  t.equal(seen.length, 3);
});
