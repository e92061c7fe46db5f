import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { runInProcess } from '../support/cli.js';
import { startTestDaemon } from '../support/daemon.js';
import { until } from '../support/until.js';

/** Outside the folders of tests, because systems limit the paths of sockets. */
function socketOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'jackdaw-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true });
  });
  return join(folder, 'run/tap.sock');
}

void t.test('top and tap watch a daemon through its socket or its API', async (t) => {
  const socket = socketOf(t);
  const overlay = `
extensions: { tap: { socket: '${socket}' } }
service: { extensions: { insert: { ids: tap } } }`;
  const { url, otlpUrl, key, daemon } = await startTestDaemon(t, { overlay });
  t.equal(statSync(socket).mode & 0o777, 0o600);

  const send = async (body: string) => {
    const record = { severityNumber: 9, body: { stringValue: body } };
    const { status } = await fetch(`${otlpUrl}/v1/logs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] }),
    });
    t.equal(status, 200);
  };
  for (const way of [
    ['--socket', socket],
    ['--url', url, '--key', key],
  ]) {
    const { stdout, stderr } = await runInProcess(['top', '--once', '--interval', '1ms', ...way]);
    t.match(stdout, /^logs +receiver:otlp +processor:validation/m, stderr);

    let isOver = false;
    const tapped = runInProcess([
      'tap',
      '--pipeline',
      'logs',
      '--from',
      'receiver:otlp',
      '--limit',
      '1',
      ...way,
    ]);
    void tapped.finally(() => (isOver = true));
    await until('an item is tapped', async () => {
      if (!isOver) await send('hello');
      return isOver;
    });
    const { code, stdout: line } = await tapped;
    t.equal(code, 0);
    t.match(JSON.parse(line), { pipeline: 'logs', outcome: 'taken', item: { body: 'hello' } });
  }

  const unknown = await runInProcess(['tap', '--to', 'exporter:none', '--socket', socket]);
  t.equal(unknown.code, 2);
  t.match(unknown.stderr, 'there is no such edge');
  await daemon.shutdown();
  t.notOk(existsSync(socket));
  const gone = await runInProcess(['top', '--socket', socket]);
  t.equal(gone.code, 1);
  t.match(gone.stderr, 'No daemon answers at the socket');
});

void t.test('a socket of a running daemon is not taken over', async (t) => {
  const socket = socketOf(t);
  const overlay = `
extensions: { tap: { socket: '${socket}' } }
service: { extensions: { insert: { ids: tap } } }`;
  await startTestDaemon(t, { overlay });
  await t.rejects(startTestDaemon(t, { overlay }), /belongs to another daemon/);
});
