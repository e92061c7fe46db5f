import { createServer, type AddressInfo } from 'node:net';
import { CommanderError } from 'commander';
import { Readable } from 'node:stream';
import t from 'tap';
import type { RunBody } from '../../../src/cli/demo/body.js';
import { demoCommand } from '../../../src/cli/demo.js';
import type { ProcessIo } from '../../../src/cli/io.js';
import { brokenRules } from './batch-rules.js';
import { runsOf, startScriptedDaemon } from './scripted-daemon.js';

const KEY = `jd_${'k'.repeat(43)}`;
const NOW_MS = Date.UTC(2026, 10, 20, 18);

type SignalListener = (name: 'SIGINT' | 'SIGTERM') => void;

/** A fake process for commands that records what they do. */
class FakeProcess implements ProcessIo {
  readonly env: NodeJS.ProcessEnv;
  readonly isTerminal: boolean = true;
  readonly isLogTerminal: boolean = true;
  readonly written = { out: '', err: '', log: '' };
  readonly exits: number[] = [];
  readonly listeners = new Set<SignalListener>();

  constructor(env: NodeJS.ProcessEnv = {}) {
    this.env = env;
  }

  out(text: string): void {
    this.written.out += `${text}\n`;
  }

  err(text: string): void {
    this.written.err += `${text}\n`;
  }

  log(text: string): void {
    this.written.log += text;
  }

  input(): AsyncIterable<string> {
    return Readable.from([]);
  }

  onHangup(): () => void {
    return () => undefined;
  }

  onSignal(listener: SignalListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  onUncaught(): () => void {
    return () => undefined;
  }

  exitNow(code: number): void {
    this.exits.push(code);
  }

  interrupt(): void {
    for (const listener of this.listeners) listener('SIGINT');
  }
}

/** Runs the command and rejects like it. */
async function demo(args: readonly string[], io = new FakeProcess(), now = () => NOW_MS) {
  const command = demoCommand(io, now).exitOverride();
  command.configureOutput({
    writeErr: (text) => {
      io.err(text);
    },
  });
  await command.parseAsync(args, { from: 'user' });
  return io.written;
}

/** Identifies runs regardless of their ids. */
function shapesOf(runs: readonly RunBody[]): string[] {
  return runs.map(({ trace, spans }) => `${trace.started_at} ${trace.agent} ${spans.length}`).sort();
}

const SMALL = ['--days', '3', '--runs-per-day', '30', '--only-runs'];

void t.test('sends a whole history in valid requests and prints a summary', async (t) => {
  const daemon = await startScriptedDaemon(t);
  const io = new FakeProcess();
  const { out, err, log } = await demo(['--url', daemon.url, '--key', KEY, ...SMALL], io);
  for (const batch of daemon.batches) t.same(brokenRules(batch), []);
  t.ok(daemon.requests.every((request) => request.path === '/api/v1/traces/batch'));
  t.ok(daemon.requests.every((request) => request.authorization === `Bearer ${KEY}`));
  const runs = runsOf(daemon);
  t.ok(runs.length > 50);
  t.equal(new Set(runs.map((run) => run.trace.started_at.slice(0, 10))).size, 3);
  t.match(out, new RegExp(`Sent ${runs.length} runs of \\d+ agents`));
  t.match(out, `${daemon.url}/api/v1/agents`);
  t.notMatch(out + err, KEY, 'the key is not shown');
  t.equal(err, '');
  t.match(log, /\d+ of about \d+ runs/);
  t.ok(log.endsWith('\r\x1b[K'), 'clears the progress line');
  t.equal(io.listeners.size, 0, 'removes its signal handlers');
});

void t.test('every call sends the same runs with new ids and still accepts a seed', async (t) => {
  const sent = async (...args: string[]) => {
    const daemon = await startScriptedDaemon(t);
    await demo(['--url', daemon.url, '--key', KEY, ...SMALL, ...args]);
    return runsOf(daemon);
  };
  const [first, second] = [await sent(), await sent('--seed', 'any')];
  t.same(shapesOf(second), shapesOf(first));
  const ids = new Set(first.map((run) => run.trace.trace_id));
  t.equal(ids.size, first.length);
  t.notOk(second.some((run) => ids.has(run.trace.trace_id)));
});

void t.test('reads address and key from the environment by default', async (t) => {
  const daemon = await startScriptedDaemon(t);
  await demo(
    ['--days', '1', '--runs-per-day', '5', '--only-runs'],
    new FakeProcess({ JACKDAW_URL: daemon.url, JACKDAW_KEY: KEY }),
  );
  t.equal(daemon.requests[0]?.authorization, `Bearer ${KEY}`);
});

void t.test('reports an unreachable daemon immediately', async (t) => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const closed = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await new Promise((resolve) => server.close(resolve));
  await t.rejects(demo(['--url', closed, '--key', KEY, ...SMALL]), /No daemon answers at .*jackdaw run/);
});

void t.test('distinguishes a refused key, a missing scope and another server', async (t) => {
  const problem = { detail: 'The key lacks the scope write.' };
  for (const [status, body, message] of [
    [401, {}, /does not accept the API key from JACKDAW_KEY/],
    [403, problem, /may not send traces: The key lacks the scope write/],
    [422, { detail: 'Too many.' }, /answered 422: Too many\.$/],
    [404, 'Not here', /status 404, and not as a Jackdaw daemon/],
    [200, 'Welcome to nginx', /something else listening/],
  ] as const) {
    const daemon = await startScriptedDaemon(t, () => ({ status, body }));
    await t.rejects(demo(SMALL, new FakeProcess({ JACKDAW_URL: daemon.url, JACKDAW_KEY: KEY })), message);
    t.ok(daemon.requests.length <= 4, 'no retry');
  }
});

void t.test('waits as long as an overloaded daemon asks and loses nothing', async (t) => {
  const calm = await startScriptedDaemon(t);
  await demo(['--url', calm.url, '--key', KEY, ...SMALL]);
  const busy = await startScriptedDaemon(t, (request) => {
    if (request % 5 === 1) return { status: 503, headers: { 'retry-after': '0' } };
    return request % 5 === 3 ? { status: 429, headers: { 'retry-after': '0' } } : undefined;
  });
  await demo(['--url', busy.url, '--key', KEY, ...SMALL]);
  t.same(shapesOf(runsOf(busy)), shapesOf(runsOf(calm)));
});

void t.test('an exhausted quota is an error instead of a wait of weeks', async (t) => {
  const daemon = await startScriptedDaemon(t, () => ({
    status: 429,
    headers: { 'retry-after': '864000' },
    body: { detail: 'The monthly quota of 1000 events is used up.' },
  }));
  await t.rejects(demo(['--url', daemon.url, '--key', KEY, ...SMALL]), /monthly quota/);
});

void t.test('reconnects after a broken connection', async (t) => {
  const daemon = await startScriptedDaemon(t, (request) => (request === 4 ? 'hang up' : undefined));
  const { out } = await demo(['--url', daemon.url, '--key', KEY, ...SMALL]);
  t.match(out, `Sent ${runsOf(daemon).length} runs`);
});

void t.test('runs that the daemon rejects are reported', async (t) => {
  const daemon = await startScriptedDaemon(t, () => ({
    status: 200,
    body: { accepted: 2, rejected: 1, errors: [{ trace_id: 'x', error: '/trace/agent is too long' }] },
  }));
  const { err } = await demo(['--url', daemon.url, '--key', KEY, ...SMALL]);
  t.match(err, /rejected \d+ runs; the first because of \/trace\/agent is too long/);
});

void t.test('an interrupt ends sending with a summary', async (t) => {
  const daemon = await startScriptedDaemon(t);
  const io = new FakeProcess();
  daemon.onBatch(() => {
    if (daemon.batches.length === 3) io.interrupt();
  });
  const { out } = await demo(['--url', daemon.url, '--key', KEY, '--runs-per-day', '500', '--only-runs'], io);
  t.match(out, /Interrupted. Sent/);
  t.ok(daemon.batches.length < 10);
  t.same(io.exits, []);
});

void t.test('live runs start as running and all end, also on an interrupt', async (t) => {
  const daemon = await startScriptedDaemon(t);
  const io = new FakeProcess();
  let nowMs = NOW_MS;
  const args = ['--url', daemon.url, '--key', KEY, '--days', '0', '--live', '--rate', '600'];
  daemon.onBatch(() => {
    if (runsOf(daemon).filter((run) => run.trace.status === 'completed').length >= 5) io.interrupt();
  });
  // Each read of the clock advances it by two seconds.
  const { out } = await demo(args, io, () => (nowMs += 2000));
  for (const batch of daemon.batches) t.same(brokenRules(batch), []);
  const last = new Map(runsOf(daemon).map((run) => [run.trace.trace_id, run.trace]));
  t.ok(runsOf(daemon).some((run) => run.trace.status === 'running'));
  t.ok([...last.values()].every((trace) => trace.status !== 'running' && trace.ended_at !== undefined));
  t.ok([...last.values()].some((trace) => trace.outcome === 'cancelled'));
  t.match(out, /Sent \d+ live runs/);
});

void t.test('rejects invalid options', async (t) => {
  for (const args of [
    ['--days', '-1'],
    ['--days', 'ten'],
    ['--rate', '0'],
    ['--runs-per-day', '1.5'],
    ['--days', '0'],
  ]) {
    await t.rejects(demo(args), CommanderError);
  }
});
