import { spawn } from 'node:child_process';
import t from 'tap';
import type { Route } from '../../src/component/http.js';
import { Body } from '../../src/http/body.js';
import { readJsonBody } from '../../src/http/json-body.js';
import { SharedUse, Shares } from '../../src/http/shares.js';
import { FairQueue } from '../../src/http/fair-queue.js';
import { HandClock } from '../support/hand-clock.js';
import { ENGINES, send, startListener } from '../support/http-listener.js';
import { head, RawConnection } from '../support/http-socket.js';

const KIB = 1024;
const MIB = 1024 * KIB;

const READ_JSON: Route = {
  method: 'POST',
  path: '/',
  maxBodyBytes: 8 * MIB,
  handle: async (request) => ({ status: 200, body: JSON.stringify(await readJsonBody(request)) }),
};

for (const engine of ENGINES) {
  void t.test(`${engine}: rejects a structure bomb at its first chunk`, async (t) => {
    const { url, port, metric } = await startListener(t, engine, [READ_JSON]);
    for (const [framing, part] of [
      [`Content-Length: ${8 * MIB}`, `[${'{},'.repeat(20_000)}`],
      [`Content-Length: ${8 * MIB}`, '['.repeat(2000)],
      [
        `Content-Length: ${8 * MIB}`,
        `["${'x'.repeat(100_000)}${'\\"'.repeat(100_000)}",${'1,'.repeat(6000)}`,
      ],
      ['Transfer-Encoding: chunked', `${(4002).toString(16)}\r\n[${'{"":'.repeat(1000)}}\r\n`],
    ] as const) {
      const connection = new RawConnection(port);
      connection.write(head('POST /', ['Content-Type: application/json', framing]) + part);
      t.match(await connection.until('}]}'), /^HTTP\/1\.1 422[^{]*\{[^]*validation_failed/, part.slice(0, 5));
      t.equal(await metric('http_body_bytes_in_flight'), 0, 'nothing kept');
      connection.destroy();
    }
    const text = `"${'[{'.repeat(3 * MIB)}"`;
    t.match(await send(url, { method: 'POST', body: text }), { status: 200, body: text });
  });
}

void t.test('delivers one large body per turn of the event loop, alternating between users', async (t) => {
  const shares = new Shares({ max: 100 * MIB, share: 1 });
  const queue = new FairQueue(1);
  const given: string[] = [];
  const read = (user: string, bytes: number): void => {
    const budget = new SharedUse(shares);
    budget.belongTo(user);
    const body = new Body({
      contentLength: bytes,
      contentEncoding: undefined,
      maxBytes: bytes,
      timeoutMs: 1000,
      budget,
      queue,
      clock: new HandClock(),
    });
    void body.read().then((whole) => given.push(`${user} ${whole.length}`));
    body.take(Buffer.alloc(bytes), true);
  };
  const large = 2 * MIB;
  read('a', large);
  read('a', large);
  read('b', large);
  read('a', 10);
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  await Promise.resolve();
  await Promise.resolve();
  t.same(given, ['a 10'], 'a small body does not wait');
  for (let count = 2; count <= 4; count++) {
    await turn();
    t.equal(given.length, count);
  }
  t.same(given.slice(1), [`a ${large}`, `b ${large}`, `a ${large}`]);
});

void t.test('node: receives little of a large body per turn of the event loop', async (t) => {
  const whole = 8 * MIB;
  let most = 0;
  const { port } = await startListener(t, 'node', [
    {
      method: 'POST',
      path: '/',
      maxBodyBytes: whole,
      handle: async (request) => {
        let inTurn = 0;
        const body = await request.body((piece) => {
          if (inTurn === 0)
            setImmediate(() => {
              inTurn = 0;
            });
          most = Math.max(most, (inTurn += piece.length));
          return undefined;
        });
        return { status: 200, body: String(body.length) };
      },
    },
  ]);
  // Sent by another process, which keeps sending while chunks are read.
  const client = spawn(process.execPath, ['-e', LARGE_BODIES, String(port), String(whole)]);
  t.teardown(() => client.kill());
  const answers: Buffer[] = [];
  for await (const part of client.stdout) answers.push(part as Buffer);
  t.equal(Buffer.concat(answers).toString(), '200 8388608\n'.repeat(8));
  t.ok(most <= 512 * KIB, `${most} bytes at once`);
});

/** Sends eight large bodies concurrently and prints the responses. */
const LARGE_BODIES = `
  const [port, bytes] = process.argv.slice(1);
  for (let i = 0; i < 8; i++) {
    require('node:http').request({ port, host: '127.0.0.1', method: 'POST', agent: false }, (answer) => {
      let body = '';
      answer.on('data', (part) => (body += part));
      answer.on('end', () => console.log(answer.statusCode, body));
    }).end(Buffer.alloc(Number(bytes)));
  }
`;
