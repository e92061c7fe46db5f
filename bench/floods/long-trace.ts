import { randomBytes } from 'node:crypto';
import type { Flood } from './flood.js';
import { postAll } from './posting.js';

const SPANS = 1_000_000;
const SPANS_PER_REQUEST = 500;
const CONNECTIONS = 4;

/** One trace that goes on and on: a `TRACEPARENT` that every process of a server inherits. */
export const longTrace: Flood = {
  title: `a trace of ${SPANS} spans`,
  async run(target, tally, stop) {
    const traceId = randomBytes(16).toString('hex');
    const rootId = randomBytes(8).toString('hex');
    let sent = 0;
    const next = () => {
      if (sent >= SPANS) return null;
      sent += SPANS_PER_REQUEST;
      const now = BigInt(Date.now()) * 1_000_000n;
      const spans = Array.from({ length: SPANS_PER_REQUEST }, () => ({
        traceId,
        spanId: randomBytes(8).toString('hex'),
        parentSpanId: rootId,
        name: 'chat',
        kind: 3,
        startTimeUnixNano: String(now - 2_000_000n),
        endTimeUnixNano: String(now),
        attributes: [
          { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
          { key: 'gen_ai.request.model', value: { stringValue: 'gpt-5-mini' } },
          { key: 'gen_ai.usage.input_tokens', value: { intValue: '10' } },
        ],
      }));
      const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'never-ending' } }] };
      const body = { resourceSpans: [{ resource, scopeSpans: [{ spans }] }] };
      return { path: '/v1/traces', body: Buffer.from(JSON.stringify(body)) };
    };
    await postAll(target, CONNECTIONS, next, { tally, stop });
    tally.add('spans sent', sent);
  },
};
