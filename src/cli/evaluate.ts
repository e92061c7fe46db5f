import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import type { Static } from 'typebox';
import { listTraces } from '../api/resources/run-list.js';
import { parseDuration } from '../config/duration.js';
import { evaluateRuns } from '../exporters/evaluate/route.js';
import { ApiClient, withApiOptions, type ApiOptions } from './api-client.js';
import { counted } from '../api/support/counted.js';
import { EXIT } from './exit-codes.js';
import type { ProcessIo } from './io.js';
import { showJson } from './table.js';
import { TransferProgress } from './transfer-progress.js';

/** Runs of a request: few, so that progress is visible and Ctrl-C does not wait long. */
const RUNS = 5;
const PAGE = 100;
/** Attempts for runs whose evaluation was postponed, and the wait before the second. */
const ATTEMPTS = 5;
const WAIT_MS = 1000;
const LONGEST_WAIT_MS = 60_000;
const BAR = 20;

interface Options extends ApiOptions {
  readonly since: number;
  readonly evaluator?: readonly string[];
  readonly where?: string;
  readonly exporter: string;
  readonly dryRun?: boolean;
  readonly repeatFailed?: boolean;
  readonly json?: boolean;
}

type Reply = Static<ReturnType<typeof evaluateRuns>['responses'][200]>;
type Result = Reply['runs'][number]['evaluations'][number]['result'];

const HELP = `
Runs that already have the scores are not evaluated again: after an interrupt, or when the daily budget of the judge is
used up, run the same command again. The newest runs come first.

Exit codes:
  0    done, or stopped after Ctrl-C
  1    some evaluations failed or were skipped, or the command failed`;

/**
 * `jackdaw evaluate`: uses the API of a running daemon.
 *
 * @param exit sets the exit code
 * @param now the time, in milliseconds since the epoch
 */
export function evaluateCommand(
  io: ProcessIo,
  exit: (code: number) => void,
  now: () => number = Date.now,
): Command {
  const command = new Command('evaluate').description(
    'Score stored runs with the evaluators of exporter evaluate, as if they had just ended.',
  );
  return withApiOptions(command)
    .requiredOption('--since <duration>', 'runs that started within this time, such as 7d', readDuration)
    .option('--evaluator <name...>', 'only these evaluators')
    .option('--where <condition>', 'only runs for which a condition in CEL is true: trace.agent == "support"')
    .option('--exporter <id>', 'exporter with the evaluators', readExporter, 'evaluate')
    .option('--dry-run', 'only count what would be evaluated; ask no judge')
    .option('--repeat-failed', 'also repeat evaluations that failed')
    .option('--json', 'print JSON')
    .addHelpText('after', HELP)
    .action(async (options: Options) => {
      const client = await ApiClient.open(options, io);
      const interrupt = new AbortController();
      const endSignals = io.onSignal((name) => {
        if (interrupt.signal.aborted) io.exitNow(name === 'SIGINT' ? EXIT.secondSigint : EXIT.secondSigterm);
        interrupt.abort();
      });
      const work = new BackFill(client, options, new TransferProgress(io), interrupt.signal);
      try {
        await work.run(new Date(now() - options.since).toISOString());
      } finally {
        endSignals();
        work.progress.clear();
      }
      if (options.json === true) showJson(io, work.summary);
      else for (const line of work.lines) io.out(line);
      if (work.isIncomplete) exit(EXIT.failure);
    });
}

/** The evaluation of a list of runs. */
class BackFill {
  readonly progress: TransferProgress;
  readonly #client: ApiClient;
  readonly #options: Options;
  readonly #interrupt: AbortSignal;
  readonly #results = new Map<Result, number>();
  /** One reason for each result with reasons. */
  readonly #reasons = new Map<Result, string>();
  #done = 0;
  #total = 0;
  /** Runs of judges, which are not to be evaluated. */
  #judged = 0;
  #cost = 0;

  constructor(client: ApiClient, options: Options, progress: TransferProgress, interrupt: AbortSignal) {
    this.#client = client;
    this.#options = options;
    this.progress = progress;
    this.#interrupt = interrupt;
  }

  /** @param since RFC 3339 */
  async run(since: string): Promise<void> {
    const query = { start_time: since, kind: 'all', page_size: PAGE } as const;
    let cursor: string | null = null;
    do {
      const page: Static<(typeof listTraces.responses)[200]> = await this.#client.call(listTraces, {
        query: cursor === null ? query : { ...query, cursor },
      });
      this.#total = page.count ?? this.#total;
      const ids = page.items.map(({ trace_id }) => trace_id);
      for (let from = 0; from < ids.length; from += RUNS) {
        if (this.#interrupt.aborted) return;
        await this.#evaluate(ids.slice(from, from + RUNS));
      }
      cursor = page.next_cursor;
    } while (cursor !== null);
  }

  async #evaluate(ids: readonly string[]): Promise<void> {
    let rest = [...ids];
    for (let attempt = 1; rest.length > 0; attempt++) {
      const reply = await this.#ask(rest);
      const isLast = attempt === ATTEMPTS || this.#interrupt.aborted;
      rest = [];
      for (const { trace_id, state, evaluations } of reply.runs) {
        if (state === 'judge_run') this.#judged++;
        const isPostponed = evaluations.some(({ result }) => result === 'postponed');
        if (isPostponed && !isLast) rest.push(trace_id);
        for (const { result, reason } of evaluations) {
          // Repeated evaluations are counted when they end.
          if (isPostponed && !isLast && (result === 'postponed' || result === 'existing')) continue;
          this.#results.set(result, (this.#results.get(result) ?? 0) + 1);
          if (reason !== null) this.#reasons.set(result, reason);
        }
      }
      this.#cost += reply.cost;
      this.progress.text(() => this.#progressText());
      if (rest.length > 0) await this.#wait(reply.retry_after_ms, attempt);
    }
    this.#done += ids.length;
    this.progress.text(() => this.#progressText());
  }

  async #ask(ids: readonly string[]): Promise<Reply> {
    const { exporter, evaluator, where, dryRun = false, repeatFailed = false } = this.#options;
    const call = this.#client.call(evaluateRuns(exporter), {
      body: {
        trace_ids: [...ids],
        ...(evaluator !== undefined && { evaluators: [...evaluator] }),
        ...(where !== undefined && { where }),
        dry_run: dryRun,
        repeat_failed: repeatFailed,
      },
      isLong: true,
    });
    return await call.catch((error: unknown) => {
      if (!(error instanceof Error) || error.message !== NO_ROUTE) throw error;
      throw new Error(
        `The daemon has no exporter "${exporter}": list it in a pipeline of events, or name another one with --exporter.`,
        { cause: error },
      );
    });
  }

  async #wait(requestedMs: number | null, attempt: number): Promise<void> {
    const ms = Math.min(Math.max(requestedMs ?? 0, WAIT_MS * 2 ** (attempt - 1)), LONGEST_WAIT_MS);
    await sleep(ms, undefined, { signal: this.#interrupt }).catch(() => undefined);
  }

  #progressText(): string {
    const share = this.#total === 0 ? 1 : Math.min(1, this.#done / this.#total);
    const done = Math.floor(share * BAR);
    const bar = `[${'#'.repeat(done)}${'.'.repeat(BAR - done)}]`;
    const scores = counted(this.#results.get('scored') ?? 0, 'score');
    return `${bar} ${this.#runs} of ${counted(this.#total - this.#judged, 'run')}, ${scores}, $${this.#cost.toFixed(4)}`;
  }

  get #runs(): number {
    return this.#done - this.#judged;
  }

  get isIncomplete(): boolean {
    return INCOMPLETE.some((result) => this.#results.has(result));
  }

  get summary() {
    return { runs: this.#runs, results: Object.fromEntries(this.#results), cost: this.#cost };
  }

  get lines(): readonly string[] {
    const runs = `${counted(this.#runs, 'run')}${this.#interrupt.aborted ? ', then stopped' : ''}`;
    const results = [...this.#results].map(([result, count]) => {
      const reason = this.#reasons.get(result);
      return `  ${LABELS[result]}: ${count}${reason === undefined ? '' : ` (${reason})`}`;
    });
    return [`Looked at ${runs}; the judge cost $${this.#cost.toFixed(4)}.`, ...results];
  }
}

/** The answer to unknown paths. */
const NO_ROUTE = 'There is nothing at this path.';

/** Evaluations that may be made up later. */
const INCOMPLETE: readonly Result[] = [
  'failed',
  'refused',
  'over_budget',
  'no_price',
  'no_prompt',
  'postponed',
];

const LABELS: Readonly<Record<Result, string>> = {
  scored: 'scored',
  failed: 'failed',
  refused: 'refused by a pipeline',
  unscored: 'without a score',
  over_budget: 'skipped, daily budget reached',
  no_price: 'skipped, model without a price',
  no_prompt: 'skipped, prompt not usable',
  postponed: 'not done, run the command again',
  existing: 'already scored',
  matched: 'to be scored',
};

function readExporter(text: string): string {
  if (!/^evaluate(\/.+)?$/.test(text)) throw new InvalidArgumentError('write evaluate or evaluate/NAME.');
  return text;
}

function readDuration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError('write a duration such as 12h or 7d.');
  return ms;
}
