import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { freePort } from '../support/free-port.js';
import { logRequest } from '../support/log-request.js';
import { memoryGroup } from '../support/memory-group.js';
import { startOtlpEndpoint } from '../support/otlp-endpoint.js';
import { testFolder } from '../support/test-folder.js';
import { emptied, startSidecar } from './sidecar-process.js';

const MIB = 1024 * 1024;
/** About 600 KB each, from several connections at once: more than 5 MB/s. */
const REQUESTS = 100;
const PER_REQUEST = 1000;
const SENDERS = 8;
const NOON = 1_768_478_400_000_000_000n;

function bodyOf(request: number): string {
  const logs = Array.from({ length: PER_REQUEST }, (_, index) => {
    const number = request * PER_REQUEST + index;
    return {
      body: `record ${number} of them ${'and what it says '.repeat(20)}`,
      nanos: NOON + BigInt(number),
    };
  });
  return JSON.stringify(logRequest('shop', logs));
}

void t.test(
  'a sidecar in 256 MiB outlives an outage of the gateway and delivers everything once',
  { timeout: 0 },
  async (t) => {
    const group = memoryGroup(t, 256 * MIB);
    if (group === null) return;
    const port = await freePort();
    const gatewayUrl = `http://127.0.0.1:${port}`;
    const { through } = group;
    const sidecar = await startSidecar(t, { directory: testFolder(t), gatewayUrl, key: 'k-1', through });
    t.match(sidecar.stderr(), /"memory":"256MiB","source":"limit of the control group"/);
    t.notMatch(sidecar.stderr(), /may need/);
    const idle = group.used() / MIB;
    t.comment(`idle: ${idle.toFixed(0)} MiB`);
    t.ok(idle < 80, `${idle} MiB`);

    let next = 0;
    const send = async (): Promise<void> => {
      while (next < REQUESTS) {
        const body = bodyOf(next++);
        for (;;) {
          const headers = { 'content-type': 'application/json' };
          const { status } = await fetch(`${sidecar.otlpUrl}/v1/logs`, { method: 'POST', headers, body });
          if (status === 200) break;
          if (status !== 503) throw new Error(`a request was answered ${status}`);
          await wait(10);
        }
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, send));
    t.comment(`before the drain: ${(group.used() / MIB).toFixed(0)} MiB`);

    const gateway = await startOtlpEndpoint(t, { port });
    await emptied(sidecar);
    t.comment(`after the drain: ${(group.used() / MIB).toFixed(0)} MiB`);
    const arrived = gateway.requests.flatMap(
      ({ bytes }) => bytes.toString('latin1').match(/record \d+ of them/g) ?? [],
    );
    t.equal(arrived.length, REQUESTS * PER_REQUEST, 'nothing twice');
    t.equal(new Set(arrived).size, REQUESTS * PER_REQUEST, 'everything');
    t.strictSame(await sidecar.stop(), { code: 0, signal: null });
  },
);
