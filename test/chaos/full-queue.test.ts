import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { logRequest } from '../support/log-request.js';
import { startOtlpEndpoint } from '../support/otlp-endpoint.js';
import { spawnDaemon, type DaemonProcess } from '../support/process.js';
import { smallDisk } from '../support/small-disk.js';
import { testFolder } from '../support/test-folder.js';
import { until } from '../support/until.js';

const run = promisify(execFile);
const MIB = 1024 * 1024;
const NOON = 1_768_478_400_000_000_000n;

/** A sidecar whose queue is on its own disk. */
const overlay = (url: string, directory: string) => `exporters:
  otlp_http:
    endpoint: ${url}
    retry: { initial_interval: 100ms, max_interval: 200ms }
    queue: { type: disk, directory: "${directory}", batch: { max_items: 100 } }
service:
  pipelines:
    traces: { receivers: [otlp], processors: [], exporters: [otlp_http] }
    metrics: { receivers: [otlp], processors: [], exporters: [otlp_http] }
    logs: { receivers: [otlp], processors: [], exporters: [otlp_http] }
`;

/** Sends a log record. @returns the status and text of the response */
async function send(daemon: DaemonProcess, body: string): Promise<readonly [number, string]> {
  const answer = await fetch(`${daemon.otlpUrl}/v1/logs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${daemon.key}`, 'content-type': 'application/json' },
    // Long enough to fill a disk, and varied, so that it cannot be compressed.
    body: JSON.stringify(logRequest('shop', [{ body, nanos: NOON, attributes: { noise: noise() } }])),
  });
  return [answer.status, await answer.text()];
}

function noise(): string {
  return Array.from({ length: 100 }, () => Math.random().toString(36).slice(2)).join('');
}

async function health(daemon: DaemonProcess): Promise<string> {
  return (await fetch(`${daemon.healthUrl}/readyz`)).text();
}

void t.test('a queue on a full disk refuses new data, reports it and loses nothing', async (t) => {
  const place = await openPlace(t);
  if (place === null) return;
  const { disk, options, first, sendNext, taken } = place;
  disk.fill();
  let refusal: readonly [number, string] = [0, ''];
  await until('it is refused', async () => {
    refusal = await sendNext(first);
    return refusal[0] !== 200;
  });
  t.equal(refusal[0], 503, refusal[1]);
  t.match(refusal[1], /Nothing was stored; send the request again later.*retryDelay/);
  await until('the state is reported', async () => /"state":"recoverable"/.test(await health(first)));
  t.match(await health(first), /the disk is full.*: free disk space/);
  for (let more = 0; more < 5; more++) t.equal((await sendNext(first))[0], 503);
  const [command = '', ...before] = disk.through;
  const { stdout } = await run(command, [...before, 'find', disk.path, '-name', '*.queue', '-empty']);
  t.equal(stdout, '', 'no attempt leaves a file');

  // Accepted data is on disk from here on.
  await first.stop('SIGKILL');
  disk.empty();
  const second = await spawnDaemon(t, { ...options, key: first.key });
  t.equal((await sendNext(second))[0], 200, 'it works again');
  place.open();
  await until('everything arrives', () => taken.every((name) => place.arrived().has(name)));
  await until('all is well', async () => !/"state":"(degraded|recoverable)"/.test(await health(second)));
  t.same([...place.arrived()].sort(), [...taken].sort(), 'no refused record arrived');
});

void t.test('does not start on a read-only disk, says why, and continues once it is writable', async (t) => {
  const place = await openPlace(t);
  if (place === null) return;
  const { disk, options, first, taken } = place;
  await first.stop();
  const [command = '', ...before] = disk.through;
  const mount = (how: string) => run(command, [...before, 'mount', '-o', `remount,${how}`, disk.path]);
  await mount('ro');
  const failure = await spawnDaemon(t, { ...options, key: first.key }).then(
    () => 'it runs',
    (error: unknown) => String(error),
  );
  t.match(
    failure,
    /exporter \\"otlp_http\\" could not start: the queue in .*disk\/otlp_http cannot be used \(.*\): free disk space/,
  );
  await mount('rw');
  await spawnDaemon(t, { ...options, key: first.key });
  place.open();
  await until('it arrives', () => taken.every((name) => place.arrived().has(name)));
});

/** A sidecar with an accepted record, a disk for its queue, and a gateway that refuses everything until opened. */
async function openPlace(t: Test) {
  const folder = testFolder(t);
  const disk = await smallDisk(t, folder, 8 * MIB);
  if (disk === null) {
    t.pass('file systems cannot be mounted here');
    return null;
  }
  const gateway = await startOtlpEndpoint(t);
  gateway.answer = () => ({ status: 503 });
  const directory = join(folder, 'sidecar');
  mkdirSync(directory);
  const taken: string[] = [];
  let refused = Infinity;
  const options = { directory, overlay: overlay(gateway.url, disk.path), through: disk.through };
  const first = await spawnDaemon(t, options);
  /** Sends another record and records whether it was accepted. */
  const sendNext = async (daemon: DaemonProcess): Promise<readonly [number, string]> => {
    const name = `record ${String(taken.length)} of them`;
    const answer = await send(daemon, name);
    if (answer[0] === 200) taken.push(name);
    return answer;
  };
  t.equal((await sendNext(first))[0], 200);
  return {
    ...{ disk, options, first, sendNext, taken },
    /** Makes the gateway accept everything from now on. */
    open: (): void => {
      refused = gateway.requests.length;
      gateway.answer = undefined;
    },
    /** The records the gateway accepted. */
    arrived: (): ReadonlySet<string> =>
      new Set(
        gateway.requests
          .slice(refused)
          .flatMap(({ body }) => JSON.stringify(body).match(/record \d+ of them/g) ?? []),
      ),
  };
}
