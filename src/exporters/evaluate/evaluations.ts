import { setTimeout as sleep } from 'node:timers/promises';
import { messagesOf } from '../../api/support/prompt-template.js';
import { ConsumeError } from '../../component/consume-error.js';
import type { Clock, Counter, Logger, Meter } from '../../component/telemetry.js';
import type { Refusal } from '../../component/consumer.js';
import type { PassOn } from '../../component/factory.js';
import type { Expression } from '../../expressions/expression.js';
import type { Batches } from '../../signal/batch.js';
import { itemAt } from '../../signal/checked.js';
import type { NanoUsd } from '../../signal/money.js';
import { declaredContext } from '../../signal/run-context.js';
import { scoreRecord, type NewScore } from '../../signal/score.js';
import { LATEST, type PromptLabels, type WantedVersion } from '../../storage/contracts/prompt-labels.js';
import type { Runs } from '../../storage/contracts/runs.js';
import { SparseLog } from '../../telemetry/sparse-log.js';
import { waitFor } from '../../telemetry/wait-for.js';
import type { EvaluatorConfig } from './config.js';
import {
  EvaluatedRun,
  judgementOf,
  type Evaluator,
  type Judgement,
  type RunEvaluator,
  type Target,
} from './evaluator.js';
import { rubricOf, type Judge, type Messages, type Rubric, type Verdict } from './judge.js';
import { renderPrompt, unknownVariables } from './prompt.js';
import { evaluationId, evaluationScore, isJudgeRun, judgeRun, type Version } from './records.js';
import { readRun } from './stored-run.js';

/** How an evaluation ended. Only `scored` and `failed` leave something at the run; `postponed` evaluations are repeated. */
export const RESULTS = [
  'scored',
  'failed',
  'refused',
  'unscored',
  'over_budget',
  'no_price',
  'no_prompt',
  'postponed',
  'existing',
  'matched',
] as const;
type Result = (typeof RESULTS)[number];

/** An evaluation of a run or a span. */
interface Evaluation {
  readonly evaluator: string;
  readonly span_id: string | null;
  result: Result;
  /** For people; null if the result says enough. */
  reason: string | null;
}

/** Why a run has no evaluations, or `evaluated`. */
export const STATES = [
  'evaluated',
  'not_found',
  'running',
  'judge_run',
  'not_selected',
  'too_large',
] as const;

/** The evaluations of a run. */
export interface RunResult {
  readonly state: (typeof STATES)[number];
  readonly evaluations: readonly Evaluation[];
  /** The cost of the calls that were made. */
  readonly cost: NanoUsd;
  /** Why some evaluations are to be repeated. */
  readonly postponed: ConsumeError | null;
}

/** What to evaluate. */
export interface Wanted {
  /** Names of evaluators; absent: all. */
  readonly evaluators?: readonly string[] | undefined;
  /** A condition on the run, in addition to those of the evaluators. */
  readonly where?: Expression | undefined;
  /** Only finds out what matches and has no score yet. */
  readonly isDryRun?: boolean | undefined;
  /** Also repeats evaluations that failed. */
  readonly repeatsFailed?: boolean | undefined;
  /** Leaves out runs that have not ended. */
  readonly onlyEnded?: boolean | undefined;
}

export interface EvaluationTools {
  readonly exporter: string;
  /** In the order of evaluation. */
  readonly evaluators: readonly Evaluator[];
  readonly runs: Pick<Runs, 'read' | 'scores'>;
  readonly passOn: PassOn;
  /** Names of the pipelines for scores, and for the runs of judges. */
  readonly pipelines: Readonly<Record<Sent, readonly string[]>>;
  /** Null: no evaluator has a judge. */
  readonly judge: Judge | null;
  readonly maxVariableLength: number;
  /** Null: no evaluator has a stored prompt. */
  readonly prompts: Pick<PromptLabels, 'find'> | null;
  /** By id, the extensions that evaluators name. */
  readonly extensions: ReadonlyMap<string, RunEvaluator>;
  /** Time limit for one run with all its evaluators. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: Meter;
}

type Sent = 'logs' | 'traces';

/** Wait before items that a pipeline could not take are sent again. */
const RESEND_MS = 1000;

/** A judge's prompt, before its variables are replaced. */
interface FoundPrompt {
  readonly messages: Messages;
  /** Of a stored prompt. */
  readonly version: number | null;
}

type JudgeSection = NonNullable<EvaluatorConfig['judge']>;

/** An evaluator, as it applies to the runs of one user. */
interface How {
  readonly evaluator: Evaluator;
  readonly versioned: Version;
  /** Null: it has no judge, or the user has no such prompt. */
  readonly prompt: FoundPrompt | null;
}

/** How the evaluation of a target ended. */
type Outcome =
  | Verdict
  | { readonly result: 'existing' | 'matched' | 'unscored' }
  | { readonly result: 'no_prompt'; readonly reason: string }
  | { readonly result: 'postponed'; readonly reason: string; readonly error: ConsumeError };

/** A verdict with a score, or a failure that is recorded as one. */
type Given = Extract<Verdict, { readonly result: 'scored' | 'failed' }>;

/** The evaluation of one run. */
interface Job {
  readonly run: EvaluatedRun;
  readonly wanted: Wanted;
  readonly abort: AbortSignal;
  /** Ids of the scores that need no evaluation. */
  readonly existing: ReadonlySet<string>;
  readonly evaluations: Evaluation[];
  /** Scores that are not sent yet, with their evaluations. */
  readonly given: { readonly score: NewScore; readonly evaluation: Evaluation }[];
  cost: NanoUsd;
  postponed: ConsumeError | null;
}

/** Evaluates runs of the store and sends their scores to pipelines. */
export class Evaluations {
  readonly #tools: EvaluationTools;
  readonly #rubrics: ReadonlyMap<Evaluator, Rubric>;
  readonly #count: Counter;
  readonly #log: SparseLog;
  /** By user and run. */
  readonly #underWay = new Map<string, Promise<RunResult>>();

  constructor(tools: EvaluationTools) {
    const { exporter, evaluators, meter, logger, clock } = tools;
    this.#tools = tools;
    this.#rubrics = new Map(
      evaluators.flatMap((evaluator) => {
        const { judge } = evaluator.config;
        return judge === undefined ? [] : [[evaluator, rubricOf(judge)] as const];
      }),
    );
    this.#count = meter.counter('evaluations_total', {
      description: 'Evaluations of runs and spans by evaluator and result.',
      labelNames: ['exporter', 'evaluator', 'result'],
    });
    for (const { config } of evaluators)
      this.#count.add(0, { exporter, evaluator: config.name, result: 'scored' });
    this.#log = new SparseLog(logger, clock);
  }

  /** Of the evaluators. */
  get names(): readonly string[] {
    return this.#tools.evaluators.map(({ config }) => config.name);
  }

  /**
   * Evaluates a run once at a time, so that an event and a command do not ask the judge twice.
   *
   * @throws ConsumeError if the store fails
   */
  async evaluate(userId: string, traceId: string, wanted: Wanted, abort: AbortSignal): Promise<RunResult> {
    const { clock, timeoutMs } = this.#tools;
    const key = `${userId} ${traceId}`;
    const before = this.#underWay.get(key) ?? Promise.resolve();
    const timeout = new AbortController();
    const cancel = clock.after(timeoutMs, () => {
      timeout.abort();
    });
    const end = AbortSignal.any([abort, timeout.signal]);
    const work = waitFor(before, end).then(async () => {
      if (end.aborted) throw late('Another evaluation of the run has not ended in time');
      return this.#evaluate(userId, traceId, wanted, end);
    });
    this.#underWay.set(key, work);
    try {
      return await work;
    } finally {
      cancel();
      if (this.#underWay.get(key) === work) this.#underWay.delete(key);
    }
  }

  async #evaluate(userId: string, traceId: string, wanted: Wanted, abort: AbortSignal): Promise<RunResult> {
    const { evaluators, runs } = this.#tools;
    const selected = evaluators.filter(
      (evaluator) =>
        evaluator.samples(traceId) && wanted.evaluators?.includes(evaluator.config.name) !== false,
    );
    if (selected.length === 0) return nothing('not_selected');
    const found = await readRun(runs, userId, traceId, abort);
    if (found === null) return nothing('not_found');
    if (found === 'too_large') {
      this.#log.warn(1, {}, 'Did not evaluate a run with more than 10 000 spans or 32 MiB');
      return nothing('too_large');
    }
    if (wanted.onlyEnded === true && found.trace.status === 'running') return nothing('running');
    if (isJudgeRun(found.trace)) return nothing('judge_run');
    const run = new EvaluatedRun(userId, found);
    if (wanted.where !== undefined && !isTrue(wanted.where, run)) return nothing('not_selected');
    const existing = await this.#existing(userId, traceId, wanted, abort);
    const job: Job = { run, wanted, abort, existing, evaluations: [], given: [], cost: 0, postponed: null };
    for (const evaluator of selected) {
      const targets = evaluator.targetsIn(run);
      if (targets.length > 0) await this.#evaluateAll(job, evaluator, targets);
    }
    await this.#flush(job);
    const { evaluations, cost, postponed } = job;
    return { state: 'evaluated', evaluations, cost, postponed };
  }

  async #existing(
    userId: string,
    traceId: string,
    { repeatsFailed = false }: Wanted,
    abort: AbortSignal,
  ): Promise<ReadonlySet<string>> {
    const scores = await this.#tools.runs.scores(userId, traceId, abort);
    const final = scores.filter(({ error_type }) => !repeatsFailed || error_type === null);
    return new Set(final.map(({ id }) => id));
  }

  async #evaluateAll(job: Job, evaluator: Evaluator, targets: readonly Target[]): Promise<void> {
    const { judge, expression, name, version } = evaluator.config;
    // What the expressions gave does not wait for slower evaluators.
    if (expression === undefined) await this.#flush(job);
    const prompt = judge === undefined ? null : await this.#promptOf(judge, job.run);
    const suffix = prompt === null || prompt.version === null ? '' : `, prompt ${prompt.version}`;
    const versioned = { name, version: `${version}${suffix}` };
    for (const target of targets) {
      const how = { evaluator, versioned, prompt };
      const outcome = await this.#outcome(job, how, target);
      const { result } = outcome;
      const reason = 'reason' in outcome ? outcome.reason : null;
      const evaluation = { evaluator: name, span_id: target.span?.span_id ?? null, result, reason };
      job.evaluations.push(evaluation);
      if (result === 'existing' || result === 'matched') continue;
      if (outcome.result === 'scored' || outcome.result === 'failed') {
        job.given.push({ score: await this.#scoreOf(job, how, target, outcome), evaluation });
        if (judge !== undefined) await this.#flush(job);
      } else this.#note(evaluation);
    }
  }

  #note({ evaluator, result, reason }: Evaluation): void {
    this.#count.add(1, { exporter: this.#tools.exporter, evaluator, result });
    if (reason !== null && result !== 'postponed')
      this.#log.warn(1, { evaluator, result, reason }, 'An evaluation gave no score');
  }

  /** Evaluates a target, unless it has its score. */
  async #outcome(job: Job, how: How, target: Target): Promise<Outcome> {
    if (job.existing.has(evaluationId(how.versioned, target))) return { result: 'existing' };
    if (job.wanted.isDryRun === true) return { result: 'matched' };
    const outcome = await this.#ask(job, how, target);
    if (outcome.result === 'postponed') job.postponed ??= outcome.error;
    return outcome;
  }

  /** The score of a verdict. A call of the judge is sent before it. @throws ConsumeError */
  async #scoreOf(job: Job, { versioned }: How, target: Target, verdict: Given): Promise<NewScore> {
    let call = null;
    if (verdict.call !== null) {
      const run = judgeRun(versioned, target, verdict.call);
      job.cost += verdict.call.cost?.total ?? 0;
      call = { model: verdict.call.model, traceId: run.trace.trace_id };
      const [refusal] = await this.#send('traces', { tenant: target.userId, items: [run] }, job.abort);
      if (refusal !== undefined)
        this.#log.warn(1, { reason: refusal.reason }, 'A pipeline refused the run of a call of the judge');
    }
    const result =
      verdict.result === 'scored'
        ? verdict.judgement
        : { error_type: verdict.error, comment: verdict.reason };
    return evaluationScore(versioned, target, result, call);
  }

  /** Sends the scores that were given. @throws ConsumeError */
  async #flush({ run, given, abort }: Job): Promise<void> {
    if (given.length === 0) return;
    const sent = given.splice(0);
    const receivedAt = this.#tools.clock.now();
    const items = sent.map(({ score }, index) => scoreRecord(score, index, receivedAt));
    for (const { index, reason } of await this.#send('logs', { tenant: run.userId, items }, abort)) {
      const { evaluation } = itemAt(sent, index);
      evaluation.result = 'refused';
      evaluation.reason = reason;
    }
    for (const { evaluation } of sent) this.#note(evaluation);
  }

  /**
   * Sends items to their pipelines, again while these are busy: the judge would have to be asked again otherwise.
   *
   * @throws ConsumeError
   */
  async #send<S extends Sent>(
    signal: S,
    batch: Batches[S],
    abort: AbortSignal,
  ): Promise<readonly Pick<Refusal, 'index' | 'reason'>[]> {
    const { passOn, pipelines, clock } = this.#tools;
    const positions = [...batch.items.keys()];
    const way = { parts: [{ pipelines: pipelines[signal], positions }], refused: [] };
    for (;;) {
      try {
        // Processors change what they get.
        const { refused } = await passOn(signal, structuredClone(batch), way, { receivedAt: clock.now() });
        return refused;
      } catch (error) {
        if (!(error instanceof ConsumeError)) throw error;
        if (error.code === 'quota_exceeded' || error.code === 'storage_exceeded')
          return positions.map((index) => ({ index, reason: error.message }));
        if (!error.retryable || abort.aborted) throw error;
        await sleep(error.retryAfterMs ?? RESEND_MS, undefined, { signal: abort }).catch(() => {
          throw error;
        });
      }
    }
  }

  async #ask(job: Job, { evaluator, prompt }: How, target: Target): Promise<Outcome> {
    const { judge, maxVariableLength } = this.#tools;
    const { extension } = evaluator.config;
    const rubric = this.#rubrics.get(evaluator);
    try {
      if (rubric !== undefined && judge !== null) {
        if (prompt === null)
          return { result: 'no_prompt', reason: 'The user of the run has no such prompt, version or label.' };
        const unknown = prompt.messages.flatMap(({ content }) => unknownVariables(content));
        if (unknown.length > 0)
          return { result: 'no_prompt', reason: `The prompt has unknown variables: ${unknown.join(', ')}` };
        // The other evaluators of the run would have to wait for the same failure.
        if (job.postponed !== null) return postponed(job.postponed);
        const messages = prompt.messages.map(({ role, content }) => ({
          role,
          content: renderPrompt(content, target.run, target.span, maxVariableLength),
        }));
        return await judge.ask(messages, rubric, job.abort);
      }
      const judgement =
        extension === undefined
          ? evaluator.scoreOf(target)
          : await this.#askPlugin(extension, target, job.abort);
      return judgement ? { result: 'scored', judgement, call: null } : { result: 'unscored' };
    } catch (error) {
      if (error instanceof ConsumeError && error.retryable) return postponed(error);
      const reason = error instanceof Error ? error.message : String(error);
      return { result: 'failed', error: 'evaluator_failed', reason, call: null };
    }
  }

  /** Does not wait for a plugin that ignores `abort`. @throws ConsumeError retryable */
  async #askPlugin(extension: string, target: Target, abort: AbortSignal): Promise<Judgement | null> {
    const given = Promise.resolve(this.#tools.extensions.get(extension)?.evaluateRun(target, abort));
    await waitFor(given, abort);
    if (abort.aborted) {
      // The queue logs its own time limit and does not know the extension.
      this.#log.warn(1, { extension }, 'An extension gave no answer in time');
      throw late(`Extension "${extension}" gave no answer in time`);
    }
    return checked(await given);
  }

  /** @returns null if the user of the run has no such prompt */
  async #promptOf(
    { prompt, stored_prompt }: JudgeSection,
    { userId, run }: EvaluatedRun,
  ): Promise<FoundPrompt | null> {
    if (prompt !== undefined) return { messages: asUser(prompt), version: null };
    if (stored_prompt === undefined) return null;
    const { name, version, label = LATEST } = stored_prompt;
    const sessionId = declaredContext(run.trace).session_id;
    const wanted: WantedVersion =
      version === undefined ? { kind: 'label', label, sessionId } : { kind: 'version', version };
    const found = await this.#tools.prompts?.find(userId, name, wanted);
    if (found?.kind !== 'found') return null;
    const { prompt: stored } = found;
    return { messages: messagesOf(stored) ?? asUser(stored.template_text), version: stored.version };
  }
}

function asUser(content: string): Messages {
  return [{ role: 'user', content }];
}

/** @throws TypeError for a value of a plugin that is no score */
function checked(given: Judgement | null | undefined): Judgement | null {
  const judgement = judgementOf(given ? { ...given } : null);
  if (judgement === undefined) throw new TypeError('The extension gave neither a score nor null.');
  return judgement;
}

function late(problem: string): ConsumeError {
  return new ConsumeError(problem, { code: 'overloaded', retryable: true });
}

function postponed(error: ConsumeError): Outcome {
  return { result: 'postponed', reason: error.message, error };
}

function isTrue(condition: Expression, { scope }: EvaluatedRun): boolean {
  try {
    return condition.evaluate(scope) === true;
  } catch {
    return false;
  }
}

function nothing(state: RunResult['state']): RunResult {
  return { state, evaluations: [], cost: 0, postponed: null };
}
