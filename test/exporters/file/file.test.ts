import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { fileConfig } from '../../../src/exporters/file/config.js';
import { fileExporter } from '../../../src/exporters/file/factory.js';
import { LineFile } from '../../../src/exporters/file/line-file.js';
import { decodeJson } from '../../../src/otlp/decode/json.js';
import { spansToTraces } from '../../../src/otlp/map/spans-to-traces.js';
import { componentSettings } from '../../support/component-settings.js';
import { eventBatch } from '../../support/event-records.js';
import { declaredRun, logBatch, metricBatch, TENANT } from '../../support/otlp-records.js';
import { sectionConfig } from '../../support/section-config.js';
import { HandClock } from '../../support/hand-clock.js';
import { testHost } from '../../support/test-host.js';
import { watchCalls } from '../../support/watched-calls.js';
import { testFolder } from '../../support/test-folder.js';

async function startFile(t: Pick<Test, 'teardown'>, path: string, yaml = '') {
  const config = sectionConfig(fileConfig, `path: ${JSON.stringify(path)}\n${yaml}`);
  const settings = { ...componentSettings('file'), config };
  const exporter = fileExporter.create(settings);
  await exporter.start?.(testHost());
  const stop = async () => exporter.shutdown?.(AbortSignal.abort());
  t.teardown(stop);
  const { traces, metrics, logs, events } = exporter.inputs;
  const context = { receivedAt: 0 };
  return {
    ...settings,
    stop,
    sendTraces: async () => traces?.consume({ tenant: TENANT, items: [declaredRun()] }, context),
    sendMetrics: async () => metrics?.consume(metricBatch(), context),
    sendLogs: async () => logs?.consume(logBatch(), context),
    sendEvents: async () => events?.consume(eventBatch(), context),
  };
}

const linesOf = (path: string) => readFileSync(path, 'utf8').split('\n').slice(0, -1);

void t.test('writes each batch as a line of OTLP/JSON', async (t) => {
  const path = join(testFolder(t), 'new', 'telemetry.jsonl');
  const { sendTraces, sendMetrics, sendLogs } = await startFile(t, path);
  const sent = await Promise.all([sendTraces(), sendMetrics(), sendLogs()]);
  t.match(sent, [{ accepted: 1 }, { accepted: 6 }, { accepted: 3 }]);
  const [traces, metrics, logs, ...rest] = linesOf(path);
  t.strictSame(rest, []);
  const request = decodeJson('traces', JSON.parse(traces ?? '') as unknown);
  const { batch } = spansToTraces(request, { tenant: TENANT, idleTimeoutMs: null });
  t.strictSame(batch.items, [declaredRun()]);
  t.match(traces, /"traceId":"7b8c1c1e0d5c4a539a551d0a3a7a5a01"/, 'ids in hex');
  t.match(metrics, /"bucketCounts":\["1","2","9007199254740993"\]/);
  t.match(logs, /"timeUnixNano":"1793707200000001000"/);
});

void t.test('writes each event envelope unchanged as a line', async (t) => {
  const path = join(testFolder(t), 'events.jsonl');
  const { sendEvents, sendTraces } = await startFile(t, path);
  t.match(await sendEvents(), { accepted: 2 });
  await sendTraces();
  const lines = linesOf(path);
  t.strictSame(
    lines.slice(0, 2),
    eventBatch().items.map(({ body }) => body),
  );
  t.match(lines.slice(2), [/^\{"resourceSpans"/]);
});

void t.test('continues after a truncated line or empties the file', async (t) => {
  const path = join(t.testdir({ 'a.jsonl': '{"whole":1}\n{"half' }), 'a.jsonl');
  const first = await startFile(t, path);
  await first.sendTraces();
  await first.stop();
  t.match(linesOf(path), ['{"whole":1}', '{"half', /^\{"resourceSpans"/]);
  const second = await startFile(t, path, 'append: false');
  await second.sendLogs();
  await second.stop();
  t.match(linesOf(path), [/^\{"resourceLogs"/]);
});

void t.test('rotates a large file and deletes the oldest backups', async (t) => {
  const folder = t.testdir({ 'other-2026-01-15T12-00-00.000Z.jsonl': '', 'a-b.jsonl': '' });
  const path = join(folder, 'a.jsonl');
  const backups = () => readdirSync(folder).filter((name) => name.startsWith('a-2026'));
  const measured = await startFile(t, join(folder, 'measured'));
  await measured.sendLogs();
  const forTwo = Math.floor(readFileSync(join(folder, 'measured')).length * 2.5);
  const { sendLogs, clock } = await startFile(t, path, `rotation: { max_size: ${forTwo}, max_backups: 2 }`);
  for (let count = 0; count < 4; count++) await sendLogs();
  t.strictSame(backups(), ['a-2026-01-15T12-00-00.000Z.jsonl']);
  t.equal(linesOf(path).length, 2);
  // At the same time: no backup replaces another.
  for (let count = 0; count < 2; count++) await sendLogs();
  t.strictSame(backups(), ['a-2026-01-15T12-00-00.000Z.jsonl', 'a-2026-01-15T12-00-00.001Z.jsonl']);
  clock.advance(60_000);
  for (let count = 0; count < 2; count++) await sendLogs();
  t.strictSame(backups(), ['a-2026-01-15T12-00-00.001Z.jsonl', 'a-2026-01-15T12-01-00.000Z.jsonl']);
  for (const name of backups()) t.equal(linesOf(join(folder, name)).length, 2);
  t.ok(existsSync(join(folder, 'other-2026-01-15T12-00-00.000Z.jsonl')));
  t.ok(existsSync(join(folder, 'a-b.jsonl')));
});

void t.test('a batch larger than the limit gets its own file; 0 never rotates', async (t) => {
  const folder = testFolder(t);
  const small = await startFile(t, join(folder, 'a.jsonl'), 'rotation: { max_size: 10 }');
  await small.sendLogs();
  await small.sendLogs();
  t.equal(linesOf(join(folder, 'a.jsonl')).length, 1);
  t.equal(readdirSync(folder).length, 2);
  const endless = await startFile(t, join(folder, 'b.jsonl'), 'rotation: { max_size: 0 }');
  for (let count = 0; count < 5; count++) await endless.sendLogs();
  t.equal(linesOf(join(folder, 'b.jsonl')).length, 5);
});

void t.test('recreates a moved or deleted file', async (t) => {
  const folder = testFolder(t);
  const path = join(folder, 'a.jsonl');
  const { sendLogs } = await startFile(t, path);
  await sendLogs();
  renameSync(path, join(folder, 'moved'));
  await sendLogs();
  t.equal(linesOf(path).length, 1);
  t.equal(linesOf(join(folder, 'moved')).length, 1);
  appendFileSync(path, 'of another\n');
  await sendLogs();
  t.equal(linesOf(path).length, 3, 'others may write to it, too');
});

void t.test('a failed write is retryable, and a failed open stops the start with a reason', async (t) => {
  const folder = t.testdir({ file: '' });
  await t.rejects(startFile(t, join(folder, 'file', 'x')), /^cannot write .*: (ENOTDIR|EEXIST)$/);
  const path = join(folder, 'a.jsonl');
  const { sendLogs } = await startFile(t, path);
  renameSync(path, join(folder, 'gone'));
  mkdirSync(path);
  await t.rejects(sendLogs(), { code: 'storage_unavailable', retryable: true, message: /EISDIR/ });
  renameSync(path, join(folder, 'directory'));
  await t.resolves(sendLogs());
  t.equal(linesOf(path).length, 1);
});

void t.test('a full disk leaves no partial line', { skip: !existsSync('/dev/full') }, async (t) => {
  const path = '/dev/full';
  const { sendLogs } = await startFile(t, path, 'rotation: { max_size: 0 }');
  // A device cannot be truncated.
  await t.rejects(sendLogs(), { retryable: true, message: /: ENOSPC; an incomplete line may remain/ });
});

void t.test('syncs written data periodically and at the end', async (t) => {
  const path = join(testFolder(t), 'a.jsonl');
  const { sendLogs, clock, stop, logger } = await startFile(t, path, 'flush_interval: 5s');
  await sendLogs();
  clock.advance(5000);
  await sendLogs();
  await stop();
  await stop();
  t.strictSame(logger.lines, []);
  t.equal(linesOf(path).length, 2);
});

void t.test('syncs the folder so that file names survive a power loss', async (t) => {
  const path = join(testFolder(t), 'new', 'deep', 'telemetry.jsonl');
  const watched = await watchCalls(t, process.pid, 'fsync,fdatasync,unlink');
  if (watched === null) {
    t.pass('strace is missing or cannot watch other processes');
    return;
  }
  const options = { path, append: true, maxSize: 10, maxBackups: 0, clock: new HandClock() };
  const file = new LineFile(options);
  await file.open();
  // A new file, the same file again, a rotation with the next file, and the end.
  for (const line of ['one', 'two', 'a long line', 'three']) {
    await file.write(line);
    await file.flush();
  }
  await file.close();
  const lines = await watched();
  const folder = dirname(path);
  const shown = [
    [`<${folder}>`, 'folder'],
    [`<${dirname(folder)}>`, 'above'],
    [`<${dirname(dirname(folder))}>`, 'top'],
    [`<${path}>`, 'file'],
    [`"${path}"`, 'put aside'],
  ] as const;
  const called = lines.flatMap((line) => shown.find(([text]) => line.includes(text))?.[1] ?? []);
  const rotated = ['put aside', 'file', 'folder'];
  t.same(called, ['top', 'above', 'file', 'folder', 'file', ...rotated, ...rotated]);
});
