import { printSetup, type Print } from './report.js';
import { throughput, type ThroughputStats, type ThroughputOptions } from './throughput.js';

const SPANS_PER_REQUEST = 100;

export interface IngestOptions extends Omit<ThroughputOptions, 'kind' | 'itemsPerRequest' | 'items'> {
  readonly spans?: number;
}

/** `npm run bench -- ingest`: spans per second that the batch route acknowledges. */
export async function ingest(options: IngestOptions, print: Print): Promise<ThroughputStats> {
  printSetup(print, 'ingest', { loop: options.rate === undefined ? 'closed' : 'open', ...options });
  const { spans: items, ...rest } = options;
  return throughput({ ...rest, items, kind: 'batch', itemsPerRequest: SPANS_PER_REQUEST }, print);
}
