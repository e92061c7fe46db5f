import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Agent, fetch } from 'undici';
import t from 'tap';
import type { Route } from '../../src/component/http.js';
import { createListener } from '../../src/http/listener.js';
import { componentSettings } from '../support/component-settings.js';
import { ENGINES, pause, send, startListener } from '../support/http-listener.js';
import { head, RawConnection } from '../support/http-socket.js';

/** A route whose responses wait until the test releases them. */
function gated(): { readonly route: Route; readonly release: () => void } {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const route: Route = {
    method: 'POST',
    path: '/',
    handle: async (request) => {
      const body = await request.body();
      await released;
      return { status: 200, body: String(body.length) };
    },
  };
  return {
    route,
    release: () => {
      release();
    },
  };
}

for (const engine of ENGINES) {
  void t.test(`${engine}: finishes pending requests and rejects later ones`, async (t) => {
    const { route, release } = gated();
    const { url, port, listener, underWay } = await startListener(t, engine, [route]);
    const early = Array.from({ length: 150 }, (_, index) =>
      send(url, { method: 'POST', body: 'x'.repeat(index) }),
    );
    await underWay(150);
    const kept = new RawConnection(port);
    kept.write(head('GET /nope'));
    await kept.until('}');

    listener.drain();
    const refused = await send(url, { method: 'POST', body: 'late' });
    t.equal(refused.status, 503);
    t.match(refused.json(), { code: 'shutting_down' });
    t.equal(refused.headers['retry-after'], '5');
    t.equal(refused.headers.connection, 'close');

    kept.write(head('GET /nope'));
    t.match(await kept.closed(), /HTTP\/1\.1 503[^]*shutting_down/, 'also on an existing connection');

    const closing = listener.close(new AbortController().signal);
    let isClosed = false;
    void closing.then(() => {
      isClosed = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    t.notOk(isClosed, 'still waiting');
    await t.rejects(send(url, { method: 'POST' }), 'no new connections');
    release();
    await closing;
    for (const [index, { status, body }] of (await Promise.all(early)).entries()) {
      t.equal(status, 200);
      t.equal(body, String(index));
    }
    await listener.close(new AbortController().signal);
  });

  void t.test(`${engine}: aborts pending requests at the deadline`, async (t) => {
    const { route } = gated();
    const { url, listener, underWay, logger } = await startListener(t, engine, [route]);
    const stuck = t.rejects(send(url, { method: 'POST', body: 'x' }));
    await underWay(1);
    const deadline = new AbortController();
    const closing = listener.close(deadline.signal);
    deadline.abort();
    await closing;
    await stuck;
    t.ok(logger.lines.some((line) => line.startsWith('warn') && line.includes('requests=1')));
  });

  void t.test(`${engine}: closing under load loses no response`, async (t) => {
    let taken = 0;
    const { url, listener } = await startListener(t, engine, [
      {
        method: 'POST',
        path: '/',
        handle: async (request) => {
          await request.body();
          taken++;
          await new Promise((resolve) => setTimeout(resolve, 1));
          return { status: 200, body: '"done"' };
        },
      },
    ]);
    const dispatcher = new Agent({ connections: 120, pipelining: 1 });
    t.teardown(() => dispatcher.destroy());
    let answered = 0;
    let isOver = false;
    const clients = Array.from({ length: 120 }, async () => {
      for (;;) {
        try {
          const response = await fetch(url, { method: 'POST', body: 'x'.repeat(5000), dispatcher });
          await response.text();
          if (response.status !== 200) return;
          answered++;
        } catch {
          t.ok(isOver, 'not cut off early');
          return;
        }
      }
    });
    while (taken < 600) await pause();
    isOver = true;
    await listener.close(AbortSignal.timeout(10_000));
    await Promise.all(clients);
    t.equal(answered, taken);
  });

  void t.test(`${engine}: an unopened listener closes and does not keep the process alive`, async (t) => {
    const never = createListener('127.0.0.1:0', { ...componentSettings('test'), engine });
    await never.close(new AbortController().signal);

    const script = `
      const { createListener } = await import(process.argv[1]);
      const { componentSettings } = await import(process.argv[2]);
      const listener = createListener('127.0.0.1:0', { ...componentSettings('test'), engine: process.argv[3] });
      listener.route({ method: 'GET', path: '/', handle: () => ({ status: 200, body: '"here"' }) });
      const { port } = await listener.open();
      const idle = (await import('node:net')).connect(port, '127.0.0.1');
      idle.unref();
      await (await fetch('http://127.0.0.1:' + port)).text();
      await listener.close(new AbortController().signal);
    `;
    const modules = ['../../src/http/listener.js', '../support/component-settings.js'].map((path) =>
      fileURLToPath(new URL(path, import.meta.url)),
    );
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, ...modules, engine], {
      stdio: 'inherit',
    });
    const [code] = (await once(child, 'exit')) as [number];
    t.equal(code, 0);
  });
}

void t.test('node: answers all started pipelined requests', async (t) => {
  const AT_ONCE = 16;
  const BEHIND = 20;
  const held = new Map<string, () => void>();
  const { port, listener, underWay } = await startListener(t, 'node', [
    {
      method: 'GET',
      path: '/{n}',
      handle: async ({ params: { n = '' } }) => {
        await new Promise<void>((resolve) => held.set(n, resolve));
        return { status: 200, body: `"get ${n}"` };
      },
    },
  ]);
  const connections = Array.from({ length: 3 }, () => new RawConnection(port));
  for (const [c, connection] of connections.entries()) {
    const requests = Array.from({ length: AT_ONCE + BEHIND }, (_, n) => head(`GET /${c}-${n}`));
    connection.write(requests.join(''));
  }
  await underWay(connections.length * AT_ONCE);
  const begun = [...held.keys()];

  const closing = listener.close(new AbortController().signal);
  // Responses finish in request order on one connection, in reverse on another, and mixed on a third.
  const of = (connection: number): string[] => begun.filter((name) => name.startsWith(`${connection}-`));
  const mixed = [...of(2).filter((_, n) => n % 2 === 1), ...of(2).filter((_, n) => n % 2 === 0)];
  for (const name of [...of(0), ...of(1).reverse(), ...mixed]) {
    held.get(name)?.();
    await new Promise(setImmediate);
  }
  await closing;
  for (const [c, connection] of connections.entries()) {
    const received = await connection.closed();
    t.same(
      received.match(/"get [^"]*"/g),
      Array.from({ length: AT_ONCE }, (_, n) => `"get ${c}-${n}"`),
      'no response lost, and queued requests are dropped',
    );
    t.equal(received.match(/connection: close/gi)?.length, 1);
    t.match(received.slice(received.lastIndexOf('HTTP/1.1')), /connection: close/i);
  }
  t.equal(held.size, connections.length * AT_ONCE, 'nothing else started');
});
