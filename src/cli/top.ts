import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import type { DaemonJson } from '../api/resources/daemon.js';
import { durationMs } from '../config/duration.js';
import type { ProcessIo } from './io.js';
import { type Column, formatTable, printable, showJson } from './table.js';
import { UsageError } from './usage-error.js';
import { endOf, WatchedDaemon, withWatchOptions, type WatchOptions } from './watched-daemon.js';

interface Options extends WatchOptions {
  readonly interval: string;
  readonly once?: boolean;
  readonly json?: boolean;
}

type Edge = DaemonJson['edges'][number];

interface EdgeRate extends Edge {
  /** Items per second since the last reading. */
  readonly rate: number;
}

const CLEAR = '\u001b[H\u001b[2J';

/** `jackdaw top`: the traffic of each edge, read again and again. */
export function topCommand(io: ProcessIo): Command {
  const command = new Command('top').description(
    'Show what flows through each edge of a running daemon, and which components are not ok.',
  );
  return withWatchOptions(command)
    .option('--interval <duration>', 'time between readings, over which rates are measured', '2s')
    .option('--once', 'print one reading and exit')
    .option('--json', 'print the daemon’s answers as JSON')
    .action(async (options: Options) => {
      if (!/^[1-9][0-9]*(ms|s|m)$/.test(options.interval))
        throw new UsageError('--interval must be a duration such as 500ms or 2s');
      const interval = durationMs(options.interval);
      const daemon = await WatchedDaemon.open(options, io);
      const stop = new AbortController();
      const leave = io.onSignal(() => {
        stop.abort();
      });
      try {
        let before = await daemon.read();
        do {
          await sleep(interval, undefined, { signal: stop.signal });
          const now = await daemon.read();
          if (options.json === true) showJson(io, now);
          else io.out(`${io.isTerminal && options.once !== true ? CLEAR : ''}${asText(now, before)}`);
          before = now;
        } while (options.once !== true);
      } catch (error) {
        if (!stop.signal.aborted) throw error;
      } finally {
        leave();
        await daemon.close();
      }
    });
}

const COLUMNS: readonly Column<EdgeRate>[] = [
  { title: 'pipeline', show: ({ pipeline }) => pipeline },
  { title: 'from', show: ({ from }) => endOf(from) },
  { title: 'to', show: ({ to }) => endOf(to) },
  { title: 'items/s', show: ({ rate }) => rate.toFixed(1) },
  { title: 'items', show: ({ offered }) => offered },
  { title: 'refused', show: ({ refused }) => refused },
  { title: 'failed', show: ({ failed }) => failed },
  { title: 'p99 ms', show: ({ p99_ms }) => (p99_ms === null ? null : Number(p99_ms.toPrecision(3))) },
  {
    title: 'queue',
    show: ({ queue }) => (queue === null ? null : `${queue.items} (${inMiB(queue.bytes)} MiB)`),
  },
];

function asText(now: DaemonJson, before: DaemonJson): string {
  const seconds = Math.max((Date.parse(now.at) - Date.parse(before.at)) / 1000, 0.001);
  const key = ({ pipeline, from, to }: Edge) => `${pipeline} ${endOf(from)} ${endOf(to)}`;
  // A restart counts from 0 again.
  const earlier = new Map(
    now.started_at === before.started_at ? before.edges.map((edge) => [key(edge), edge.offered]) : [],
  );
  const edges = now.edges.map((edge) => ({
    ...edge,
    rate: (edge.offered - (earlier.get(key(edge)) ?? 0)) / seconds,
  }));
  const issues = now.components
    .filter(({ state }) => state !== 'ok')
    .map(
      ({ kind, id, state, message }) =>
        `${kind} ${id} is ${state}${message === null ? '' : `: ${printable(message)}`}`,
    );
  const head = `jackdaw ${now.version}, ${now.phase} for ${Math.floor(now.uptime_s)} s`;
  return [head, ...issues, '', formatTable(COLUMNS, edges)].join('\n');
}

function inMiB(bytes: number): string {
  return (bytes / 1024 ** 2).toFixed(1);
}
