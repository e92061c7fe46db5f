import { Command } from 'commander';
import type { DaemonJson } from '../api/resources/daemon.js';
import type { ProcessIo } from './io.js';
import { printable } from './table.js';
import { UsageError } from './usage-error.js';
import { endOf, WatchedDaemon, withWatchOptions, type WatchOptions } from './watched-daemon.js';

interface Options extends WatchOptions {
  readonly pipeline?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit?: string;
}

type Edge = DaemonJson['edges'][number];

/** As many as the API allows each user. */
const MOST_EDGES = 4;

const HELP = `
Without an edge, what receivers pass on is shown. Each line is a JSON object with the edge, the outcome and the item.
It is a sample: "lost" counts items left out. Through the API only items of the key's own user are shown.

  jackdaw tap --to exporter:otlp_http --config sidecar.yaml
  jackdaw tap --pipeline logs --from processor:redact | jq .item.body`;

/** `jackdaw tap`: items that pass edges of a running daemon. */
export function tapCommand(io: ProcessIo): Command {
  const command = new Command('tap').description('Show items as they pass through a running daemon.');
  return withWatchOptions(command)
    .option('--pipeline <name>', 'only edges of this pipeline: traces, logs/audit')
    .option('--from <component>', 'only edges from this component: receiver:otlp')
    .option('--to <component>', 'only edges to this component: exporter:storage')
    .option('--limit <n>', 'exit after this many items')
    .addHelpText('after', HELP)
    .action(async (options: Options) => {
      if (options.limit !== undefined && !/^[1-9]\d{0,8}$/.test(options.limit))
        throw new UsageError('--limit must be a whole number from 1');
      const daemon = await WatchedDaemon.open(options, io);
      const stop = new AbortController();
      const leave = io.onSignal(() => {
        stop.abort();
      });
      try {
        let left = Number(options.limit ?? Infinity);
        const show = (line: object, isItem: boolean) => {
          if (left <= 0) return;
          io.out(printable(JSON.stringify(line)));
          if (isItem && --left === 0) stop.abort();
        };
        const edges = wantedEdges(await daemon.read(), options);
        await Promise.all(
          edges.map(async (edge) => {
            const { pipeline, from, to } = edge;
            const place = { pipeline, from: endOf(from), to: endOf(to) };
            for await (const { name, data } of daemon.tap(edge, stop.signal))
              if (name === 'tap' || name === 'lost')
                show({ ...place, ...(name === 'tap' ? (data as object) : { lost: data }) }, name === 'tap');
          }),
        );
        if (!stop.signal.aborted)
          throw new Error('The daemon ended the stream: it stopped, or the key was revoked.');
      } finally {
        stop.abort();
        leave();
        await daemon.close();
      }
    });
}

/** @throws UsageError if no edge, or too many, are named */
function wantedEdges({ edges }: DaemonJson, { pipeline, from, to }: Options): readonly Edge[] {
  const isNamed = from !== undefined || to !== undefined;
  const wanted = edges.filter(
    (edge) =>
      (pipeline === undefined || edge.pipeline === pipeline) &&
      (from === undefined || endOf(edge.from) === from) &&
      (to === undefined || endOf(edge.to) === to) &&
      (isNamed || edge.from.kind === 'receiver'),
  );
  const list = (isNamed && wanted.length === 0 ? edges : wanted)
    .map((edge) => `  --pipeline ${edge.pipeline} --from ${endOf(edge.from)} --to ${endOf(edge.to)}`)
    .join('\n');
  if (wanted.length === 0) throw new UsageError(`there is no such edge; the daemon has\n${list}`);
  if (wanted.length > MOST_EDGES)
    throw new UsageError(
      `${wanted.length} edges match, but at most ${MOST_EDGES} can be shown: choose among\n${list}`,
    );
  return wanted;
}
