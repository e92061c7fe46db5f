import { Command, InvalidArgumentError } from 'commander';
import type { Factory } from '../component/factory.js';
import { prepare } from '../pipeline/prepare.js';
import { isUuid } from '../signal/ids.js';
import type { LogRecord } from '../signal/log-record.js';
import { configSources, withConfigOption, type ConfigOptions } from './config-files.js';
import { counted } from '../api/support/counted.js';
import { explainedRun } from './explain/explained-run.js';
import type { ExplainedRun } from './explain/explained.js';
import { GroundsOfSpans } from '../otlp/map/grounds.js';
import { formatRun, formatSpan } from './explain/format-run.js';
import { readFile, readPieces } from './explain/read-input.js';
import { readRequests } from './explain/read-requests.js';
import { UnreadableInput, type TelemetryRequest } from './explain/request.js';
import { StoredRuns } from './explain/stored-runs.js';
import { Taking, type Taken } from './explain/taking.js';
import type { CliIo } from './io.js';
import { readTraceId } from './read-id.js';
import { printable, showJson } from './table.js';

const STANDARD_INPUT = '-';
const CONFIG_DESCRIPTION =
  'configuration whose receiver otlp (agent_names) and processors validation and cost (prices) are used; may be repeated. Without it: the built-in configuration';

const HELP = `
Reads OTLP/JSON, as one document or one request per line (the format of the Collector's file exporter and of Jackdaw's
exporter file), and protobuf; plain, gzip or zstd. Several files are processed together, so that log records with prompts and
completions are joined with their spans. Without a file, or for -, reads standard input. Nothing is stored or sent.

Each value is followed by its source: an attribute key, or the description of a rule.`;

interface Options extends ConfigOptions {
  readonly run?: string;
  readonly span?: string;
  readonly json?: boolean;
}

/** `jackdaw explain`: how a recording would be shown, and why. It needs no daemon. */
export function explainCommand(io: CliIo, builtin: readonly Factory[]): Command {
  const command = new Command('explain')
    .description('Show how Jackdaw maps recorded telemetry, and which attribute or rule gives each value.')
    .argument('[files...]', 'recorded OTLP files')
    .option('--run <id>', 'only this run: UUID, or trace id in hexadecimal digits', readTraceId)
    .option(
      '--span <id>',
      'only this span, with full payloads: UUID, or span id in hexadecimal digits',
      spanId,
    )
    .option('--json', 'print JSON')
    .addHelpText('after', HELP);
  return withConfigOption(command, CONFIG_DESCRIPTION).action(
    async (files: readonly string[], options: Options) => {
      const { sources, environment } = configSources(options, io);
      const { plan } = await prepare(sources, environment, builtin);
      const grounds = new GroundsOfSpans();
      const taking = new Taking(plan, grounds);
      const requests: TelemetryRequest[] = [];
      for (const file of files.length === 0 ? [STANDARD_INPUT] : files)
        requests.push(...(await readOne(file, io)));
      const taken = await taking.take(requests);
      for (const rejection of taken.rejections) io.err(`rejected: ${printable(rejection)}`);
      for (const id of taking.leftOut) io.err(`skipped processor ${id} of the configuration`);
      const runs = narrowed(runsOf(taken, grounds), options);
      if (options.json === true) showJson(io, { items: taken.counts, rejections: taken.rejections, runs });
      else print(io, runs, taken, options);
    },
  );
}

async function readOne(file: string, io: CliIo): Promise<readonly TelemetryRequest[]> {
  const isFile = file !== STANDARD_INPUT;
  try {
    return await readRequests(await (isFile ? readFile(file) : readPieces(io.input())));
  } catch (error) {
    if (!(error instanceof UnreadableInput)) throw error;
    throw new Error(`${isFile ? file : 'standard input'} ${error.message}`, { cause: error });
  }
}

function runsOf({ traces, logs }: Taken, grounds: GroundsOfSpans): readonly ExplainedRun[] {
  const stored = new StoredRuns();
  for (const batch of traces) stored.add(batch);
  const logsOf = new Map<string, LogRecord[]>();
  for (const record of logs.flatMap(({ items }) => items)) {
    const { trace_id: id } = record;
    if (id === null) continue;
    const known = logsOf.get(id);
    if (known === undefined) logsOf.set(id, [record]);
    else known.push(record);
  }
  return stored.finish().map((run) => explainedRun(run, grounds, logsOf.get(run.traceId) ?? []));
}

/** The requested runs; for a span, its run with only that span. @throws Error if there are none */
function narrowed(runs: readonly ExplainedRun[], { run, span }: Options): readonly ExplainedRun[] {
  const wanted = run === undefined ? runs : runs.filter(({ trace_id: id }) => id === run);
  if (run !== undefined && wanted.length === 0) throw new Error(`the input has no run ${run}`);
  if (span === undefined) return wanted;
  const found = wanted.flatMap((each) => {
    const spans = each.spans.filter(({ span_id: id }) => id.endsWith(span));
    return spans.length === 0 ? [] : [{ ...each, spans }];
  });
  if (found.length === 0) throw new Error(`the input has no span ${span}`);
  return found;
}

function print(io: CliIo, runs: readonly ExplainedRun[], { counts }: Taken, { run, span }: Options): void {
  if (run === undefined && span === undefined)
    io.out(
      `${counted(runs.length, 'run')} of ${counted(counts.traces, 'span')}; ${counted(counts.logs, 'log record')}, ${counted(counts.metrics, 'metric point')}`,
    );
  const printed = runs.flatMap((each) =>
    span === undefined ? [formatRun(each)] : each.spans.map((one) => formatSpan(each, one)),
  );
  for (const lines of printed) io.out(`\n${lines.join('\n')}`);
}

/** A UUID, or the end of the UUIDs of all spans with this id. */
function spanId(text: string): string {
  const id = text.toLowerCase();
  if (isUuid(id)) return id;
  if (!/^[0-9a-f]{16}$/.test(id))
    throw new InvalidArgumentError('It must be a UUID, or 16 hexadecimal digits.');
  return `${id.slice(0, 4)}-${id.slice(4)}`;
}
