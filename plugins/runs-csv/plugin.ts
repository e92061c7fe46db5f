import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  Type,
  type Static,
  choice,
  deliveryKeys,
  filePath,
  section,
  type ConsumeContext,
  type Exporter,
  type ExporterFactory,
  type Plugin,
  type Receipt,
  type Settings,
  type TraceRecord,
  type TracesBatch,
} from 'jackdaw';

/** The columns, and how a run fills them. Money is in US dollars. */
const COLUMNS = {
  started_at: ({ trace }) => new Date(trace.started_at / 1000).toISOString(),
  trace_id: ({ trace }) => trace.trace_id,
  agent: ({ trace }) => trace.agent,
  status: ({ trace }) => trace.status,
  outcome: ({ trace }) => trace.outcome,
  duration_ms: ({ trace }) => trace.duration_ms,
  spans: ({ spans }) => spans.length,
  total_tokens: ({ trace, spans }) => trace.total_tokens ?? sumOf(spans.map((span) => span.total_tokens)),
  total_cost_usd: ({ trace, spans }) =>
    dollars(trace.total_cost_usd ?? sumOf(spans.map((span) => span.cost_usd))),
  models: ({ spans }) => [...new Set(spans.flatMap(({ model }) => model ?? []))].sort().join(' '),
  error_message: ({ trace }) => trace.error_message,
} as const satisfies Record<string, (run: TraceRecord) => string | number | bigint | null>;

type Column = keyof typeof COLUMNS;
const ALL = Object.keys(COLUMNS) as Column[];

const configSchema = section({
  path: filePath({ default: './data/runs.csv', description: 'Path of the CSV file. Lines are appended.' }),
  columns: Type.Array(Type.Enum(ALL), {
    default: ALL,
    minItems: 1,
    uniqueItems: true,
    description: 'Columns to write, in this order.',
  }),
  separator: choice([',', ';', '\t'], { default: ',', description: 'Separator between values.' }),
  running: Type.Boolean({ default: false, description: 'Whether to also write runs that have not ended.' }),
  ...deliveryKeys({ concurrency: 1, batchWait: '1s' }),
});

type Config = Static<typeof configSchema>;

/** Appends a line for each run to a CSV file. It writes one batch at a time, so that lines do not mix. */
class RunsCsv implements Exporter {
  readonly inputs = {
    traces: { consume: (batch: TracesBatch, context: ConsumeContext) => this.#take(batch, context) },
  };
  readonly #config: Config;
  #last: Promise<unknown> = Promise.resolve();

  constructor({ config }: Settings<Config>) {
    this.#config = config;
  }

  /** Fails early if the file is not writable. */
  async start(): Promise<void> {
    await mkdir(dirname(this.#config.path), { recursive: true });
    await this.#append('');
  }

  async shutdown(): Promise<void> {
    await this.#last;
  }

  async #take(batch: TracesBatch, { abort }: ConsumeContext): Promise<Receipt> {
    const count = batch.items.length;
    const runs = batch.items.filter(({ trace }) => this.#config.running || trace.status !== 'running');
    const text = runs
      .map((run) => this.#line(this.#config.columns.map((column) => COLUMNS[column](run))))
      .join('');
    const turn = this.#last.then(async () => {
      // The batch timed out and is sent again: do not write it twice.
      if (abort?.aborted !== true) await this.#append(text);
    });
    this.#last = turn.catch(() => undefined);
    await turn;
    return { accepted: count, refused: [] };
  }

  async #append(text: string): Promise<void> {
    const file = await open(this.#config.path, 'a', 0o600);
    try {
      const isEmpty = (await file.stat()).size === 0;
      await file.appendFile(`${isEmpty ? this.#line(this.#config.columns) : ''}${text}`);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  #line(values: readonly (string | number | bigint | null)[]): string {
    return `${values.map((value) => cell(value, this.#config.separator)).join(this.#config.separator)}\r\n`;
  }
}

/**
 * A cell by RFC 4180. Text that a spreadsheet would read as a formula gets an apostrophe, because names and errors are untrusted.
 */
function cell(value: string | number | bigint | null, separator: string): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return text.includes('"') || text.includes(separator) || /[\r\n]/.test(text)
    ? `"${text.replaceAll('"', '""')}"`
    : text;
}

function sumOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}

/** Converts nano-USD to dollars. */
function dollars(nano: number | null): number | null {
  return nano === null ? null : nano / 1e9;
}

const runsCsv: ExporterFactory<typeof configSchema> = {
  kind: 'exporter',
  type: 'runs_csv',
  description: 'Appends a line for each run to a CSV file.',
  stability: 'beta',
  signals: ['traces'],
  delivery: 'queued',
  configSchema,
  resources: ({ path }) => [{ kind: 'writable_file', path }],
  create: (settings) => new RunsCsv(settings),
};

const plugin: Plugin = { name: 'runs-csv', apiVersion: 1, factories: [runsCsv] };
export default plugin;
