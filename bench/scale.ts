import { ms, printSetup, lines, type Print } from './report.js';
import { scaleReads } from './scale-reads.js';
import { onScaleStores, type ScaleStores, type ScaleStoresOptions } from './scale-stores.js';
import { throughput, type ThroughputStats, type ThroughputOptions } from './throughput.js';

/** What `POST /api/v1/traces/batch` takes at most. */
const SPANS_PER_REQUEST = 100;

export interface ScaleOptions
  extends
    ScaleStoresOptions,
    Omit<
      ThroughputOptions,
      'kind' | 'itemsPerRequest' | 'items' | 'config' | 'without' | 'daemons' | 'isDiscarded'
    > {
  /** How many share the load. */
  readonly gateways: number;
  /** Sizes of stores whose read routes are measured afterwards, beside DuckDB's; none where absent. */
  readonly readSpans?: readonly number[];
  /** Where filled stores of DuckDB are kept. */
  readonly data?: string;
}

/**
 * `npm run bench -- scale`: spans per second that gateways take into ClickHouse, acknowledged after what follows from them is stored, with
 * both engines on the same machine, and what each process takes for a span; then how long each read route takes.
 *
 * @returns the figures of writing; null where nothing was written, as `seconds` is 0
 */
export async function scale(options: ScaleOptions, print: Print): Promise<ThroughputStats | null> {
  const { readSpans = [], data, ...settings } = options;
  printSetup(print, 'scale', { loop: options.rate === undefined ? 'closed' : 'open', ...options });
  const written =
    options.seconds === 0
      ? null
      : await onScaleStores(options, async (stores) => await write(settings, stores, print));
  for (const spans of readSpans) await scaleReads({ spans, data, control: options.control }, print);
  return written;
}

async function write(
  { gateways, ...options }: Omit<ScaleOptions, 'readSpans' | 'data'>,
  stores: ScaleStores,
  print: Print,
): Promise<ThroughputStats> {
  const stats = await throughput(
    {
      ...options,
      kind: 'batch',
      itemsPerRequest: SPANS_PER_REQUEST,
      config: stores.config,
      daemons: gateways,
      isDiscarded: options.discard === true,
      otherCpu: stores.cpu,
    },
    print,
  );
  const { acknowledged, measured } = stats.load;
  const each = (seconds: number | undefined): string =>
    seconds === undefined ? 'unknown' : `${((seconds / measured.items) * 1e6).toFixed(1)} µs a span`;
  const main = stats.mainThreadSeconds;
  const discarded = stores.proxy?.discarded();
  print(
    lines([
      ['gateways', `${gateways}: ${each(stats.daemonCpuSeconds)}`],
      [
        'their main threads',
        `${each(main)}${main === undefined ? '' : `: with a core of its own one gateway takes ${(measured.items / main).toFixed(0)} spans/s at most`}`,
      ],
      ...Object.entries(stats.otherCpuSeconds).map(([name, seconds]) => [name, each(seconds)] as const),
      discarded === undefined
        ? ['on disk', `${((await stores.bytesOnDisk()) / acknowledged.items).toFixed(0)} bytes a span`]
        : [
            'discarded',
            `${discarded.inserts} inserts, ${(discarded.bytes / acknowledged.items).toFixed(0)} bytes a span`,
          ],
      ['load generator', `${ms((measured.cpuSeconds / measured.items) * 1e6)} µs a span`],
    ]),
  );
  return stats;
}
