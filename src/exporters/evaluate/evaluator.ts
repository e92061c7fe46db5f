import { createHash } from 'node:crypto';
import { compile, compileCondition, type Expression } from '../../expressions/expression.js';
import { jsonOf } from '../../expressions/json-value.js';
import {
  identityView,
  spanScope,
  traceScope,
  traceView,
  type Scope,
} from '../../expressions/scope/scopes.js';
import type { JsonValue } from '../../signal/attributes.js';
import type { SpanRecord } from '../../signal/span.js';
import type { TraceRecord } from '../../signal/trace.js';
import type { EvaluatorConfig } from './config.js';

/** What an evaluator gives: at least one field is set. */
export interface Judgement {
  readonly value?: number | null;
  readonly label?: string | null;
  readonly comment?: string | null;
}

/** A run or one of its spans. */
export interface Evaluated {
  readonly userId: string;
  readonly run: TraceRecord;
  /** Null: the run as a whole. */
  readonly span: SpanRecord | null;
}

/** What an evaluator evaluates, with the variables of its expressions. */
export interface Target extends Evaluated {
  readonly scope: Scope;
}

/** A run as expressions see it; shared by its evaluators, so that its spans are prepared once. */
export class EvaluatedRun {
  readonly userId: string;
  readonly run: TraceRecord;
  readonly trace: ReturnType<typeof traceView>;
  readonly identity: ReturnType<typeof identityView>;

  constructor(userId: string, run: TraceRecord) {
    this.userId = userId;
    this.run = run;
    this.trace = traceView(run);
    this.identity = identityView({ tenant: userId, items: [] }, { receivedAt: 0 });
  }

  get scope(): Scope {
    return traceScope(this.trace, this.identity);
  }
}

/** The capability of extensions that evaluators of exporter `evaluate` name: code of a plugin that gives scores. */
export interface RunEvaluator {
  /**
   * May be called again for the same run, also after it returned.
   *
   * @returns null for no score
   * @throws ConsumeError retryable: the run is evaluated again later; any other error is recorded as a failed evaluation
   */
  evaluateRun(evaluated: Evaluated, abort: AbortSignal): Promise<Judgement | null>;
}

/** Whether an extension is a {@link RunEvaluator}. */
export function isRunEvaluator(candidate: unknown): candidate is RunEvaluator {
  return typeof candidate === 'object' && candidate !== null && 'evaluateRun' in candidate;
}

/** More matching spans of a run are not evaluated. */
const MAX_SPANS = 100;

/** Receives a failed expression: its key, and the error. */
export type OnFailure = (key: string, error: unknown) => void;

/** One of `evaluators`, compiled. */
export class Evaluator {
  readonly config: EvaluatorConfig;
  readonly expression: Expression | null;
  readonly #when: Expression;
  readonly #onFailure: OnFailure;

  /** @throws ExpressionError for what `checkEvaluate` finds */
  constructor(config: EvaluatorConfig, onFailure: OnFailure) {
    const { item, when, expression } = config;
    this.config = config;
    this.#when = compileCondition(when, item);
    this.expression = expression === undefined ? null : compile(expression, item);
    this.#onFailure = onFailure;
  }

  /** Whether the sample of runs contains this one. */
  samples(traceId: string): boolean {
    return isSampled(traceId, this.config.percentage);
  }

  /** The run, or those of its spans, for which `when` is true. */
  targetsIn({ userId, run, trace, identity }: EvaluatedRun): readonly Target[] {
    const candidates = this.config.item === 'trace' ? [null] : run.spans;
    const targets: Target[] = [];
    for (const span of candidates) {
      if (targets.length === MAX_SPANS) break;
      const scope = span === null ? traceScope(trace, identity) : spanScope(span, trace, identity);
      if (this.#evaluate(this.#when, 'when', scope) === true) targets.push({ userId, run, span, scope });
    }
    return targets;
  }

  /** The score by the expression; null for none, because it is null or failed. */
  scoreOf({ scope }: Target): Judgement | null {
    if (this.expression === null) return null;
    const value = this.#evaluate(this.expression, 'expression', scope);
    const score = value === undefined ? null : judgementOf(value);
    if (score === undefined) this.#onFailure('expression', failure('no_score'));
    return score ?? null;
  }

  /** @returns undefined if it fails */
  #evaluate(expression: Expression, key: string, scope: Scope): JsonValue | undefined {
    try {
      const value = expression.evaluate(scope);
      // As JSON it is a text, which would count as a label.
      if (typeof value === 'number' && !Number.isFinite(value)) throw failure('not_finite');
      return jsonOf(value);
    } catch (error) {
      this.#onFailure(key, error);
      return undefined;
    }
  }
}

/**
 * The score in a value: a number, a boolean as 1 or 0, a text as label, or a map with `value`, `label` and `comment`.
 *
 * @returns null for null; undefined for a value that is no score
 */
export function judgementOf(value: JsonValue): Judgement | null | undefined {
  if (value === null) return null;
  if (typeof value === 'boolean') return { value: value ? 1 : 0 };
  if (typeof value === 'number') return { value };
  if (typeof value === 'string') return value.trim() === '' ? null : { label: value };
  if (typeof value !== 'object' || Array.isArray(value)) return undefined;
  const { value: number, label, comment } = value;
  const isFit = [number, label, comment].some((field) => field !== undefined && field !== null);
  if (!isFit || !isEither(number, 'number', 'boolean') || !isEither(label, 'string')) return undefined;
  if (!isEither(comment, 'string')) return undefined;
  if (typeof number === 'number' && !Number.isFinite(number)) return undefined;
  const score = typeof number === 'boolean' ? Number(number) : number;
  return { value: score as number, label: label as string, comment: comment as string };
}

/** @param code named in the log */
function failure(code: 'no_score' | 'not_finite'): Error {
  return Object.assign(new Error('The expression gave no score.'), { code });
}

function isEither(value: JsonValue | undefined, ...types: readonly string[]): boolean {
  return value === undefined || value === null || types.includes(typeof value);
}

const HASH_DIGITS = 8;

/**
 * Selects runs by their id, but independently of processor `sample`: of the runs that it keeps, this share is selected. A larger
 * percentage selects all runs of a smaller one.
 */
function isSampled(traceId: string, percentage: number): boolean {
  const hash = createHash('sha256').update(`evaluate ${traceId.toLowerCase()}`).digest('hex');
  return parseInt(hash.slice(0, HASH_DIGITS), 16) < (percentage / 100) * 16 ** HASH_DIGITS;
}
