import type { JsonObject } from '../../signal/attributes.js';
import type { SpanType } from '../../signal/span.js';
import type { Conditions } from './conditions.js';
import { MODEL_DEFECTS, modelFault, RunStopped, serviceFault, StepFailed, type Fault } from './faults.js';
import type { Model } from './models.js';
import type { OpenSpan } from './open-span.js';
import type { Random } from './random.js';

/** Below the 100 spans of one request, so that every run fits in one. */
const MAX_STEPS = 60;
const MAX_RUN_MS = 150_000;
/** Share of model calls with an answer that is of no use. */
const DEFECT_RATE = 0.009;
const CHARACTERS_PER_TOKEN = 4;
const BACKOFF_MS = 900;

export interface ModelCall {
  readonly model: Model;
  /** Tried when the first model keeps failing. */
  readonly fallback?: Model;
  readonly name?: string;
  readonly system?: string;
  readonly prompt: string;
  readonly completion: string;
  /** Tokens that the recorded messages leave out: tool schemas, retrieved documents, earlier turns. */
  readonly contextTokens?: number;
  /** Tokens of hidden reasoning, billed as output. */
  readonly reasoningTokens?: number;
}

export interface HttpCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  readonly url: string;
  /** Median latency. */
  readonly ms: number;
  readonly request?: JsonObject;
  readonly response?: JsonObject;
  readonly status?: number;
}

export interface DatabaseCall {
  readonly system: string;
  readonly namespace: string;
  readonly name: string;
  readonly statement: string;
  readonly ms: number;
  readonly output?: JsonObject;
  /** The database's refusal of the statement itself. */
  readonly error?: string;
}

/**
 * Records the steps of one run, as an SDK would, on a clock of its own: every step moves the clock on by the time it
 * takes. Calls to others fail as often as the conditions say; they are tried again, and each attempt is a span.
 */
export class Recorder {
  readonly random: Random;
  readonly conditions: Conditions;
  /** When the run began, in milliseconds since the epoch. */
  readonly startMs: number;
  readonly #spans: OpenSpan[] = [];
  readonly #open: OpenSpan[] = [];
  #nowMs: number;

  constructor(random: Random, conditions: Conditions, startMs: number) {
    this.random = random;
    this.conditions = conditions;
    this.startMs = startMs;
    this.#nowMs = startMs;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** In the order in which they began. */
  get spans(): readonly OpenSpan[] {
    return this.#spans;
  }

  /** Lets time pass. @param medianMs half of all waits are shorter */
  pass(medianMs: number, sigma = 0.35): void {
    this.#nowMs += Math.max(1, Math.round(this.random.logNormal(medianMs, sigma)));
  }

  agent<T>(name: string, input: JsonObject, work: (span: OpenSpan) => T): T {
    return this.#span('agent', name, { input, metadata: { 'gen_ai.agent.name': name } }, work);
  }

  /** A tool that the model called; what happens in `work` hangs under it. @param work gives the tool's result */
  tool(name: string, input: JsonObject, work: () => JsonObject): JsonObject {
    return this.#span('tool', name, { input }, (span) => {
      this.pass(6);
      const output = work();
      span.output = output;
      return output;
    });
  }

  /** A step of the agent's own code. */
  custom<T>(name: string, input: JsonObject | undefined, work: (span: OpenSpan) => T): T {
    return this.#span('custom', name, { input }, work);
  }

  /** A model call with its retries. @throws StepFailed when all attempts, the fallback's included, failed. */
  model(call: ModelCall): void {
    if (call.fallback === undefined) {
      this.#retry(4, () => {
        this.#chat(call, call.model);
      });
      return;
    }
    try {
      this.#retry(2, () => {
        this.#chat(call, call.model);
      });
    } catch (error) {
      if (!(error instanceof StepFailed) || error.isPermanent) throw error;
      this.#chat(call, call.fallback);
    }
  }

  /** @throws StepFailed when all attempts failed. */
  http(call: HttpCall): void {
    const host = new URL(call.url).host;
    this.#retry(3, () => {
      this.#span(
        'http',
        `${call.method} ${host}`,
        { input: { method: call.method, url: call.url, ...call.request } },
        (span) => {
          this.#meet(span, host, (random) => serviceFault(random, host));
          this.pass(call.ms * this.conditions.slowdown(host));
          span.output = { status: call.status ?? 200, ...call.response };
        },
      );
    });
  }

  /** @throws StepFailed when the database refused the statement (`call.error`), or all attempts failed. */
  database(call: DatabaseCall): void {
    const target = `${call.system}/${call.namespace}`;
    const attempt = () => {
      const metadata = { 'db.system.name': call.system, 'db.namespace': call.namespace };
      this.#span('db', call.name, { input: { statement: call.statement }, metadata }, (span) => {
        if (call.error === undefined) this.#meet(span, target, (random) => serviceFault(random, target));
        this.pass(call.ms * this.conditions.slowdown(target));
        if (call.error !== undefined) throw new StepFailed(call.error);
        if (call.output) span.output = call.output;
      });
    };
    if (call.error === undefined) this.#retry(3, attempt);
    else attempt();
  }

  /** Does work that may fail. @returns false where it did. */
  survives(work: () => void): boolean {
    try {
      work();
      return true;
    } catch (error) {
      if (error instanceof StepFailed) return false;
      throw error;
    }
  }

  /** Branches that begin together; time goes on when the last has ended. The first failure is thrown after all have ended. */
  parallel(branches: readonly (() => void)[]): void {
    const startMs = this.#nowMs;
    let endMs = startMs;
    let failure: unknown;
    for (const [index, branch] of branches.entries()) {
      this.#nowMs = startMs + index * this.random.integer(1, 12);
      try {
        branch();
      } catch (error) {
        failure ??= error;
      }
      endMs = Math.max(endMs, this.#nowMs);
    }
    this.#nowMs = endMs;
    if (failure !== undefined) throw failure as Error;
  }

  #span<T>(
    type: SpanType,
    name: string,
    details: Pick<OpenSpan, 'input' | 'metadata'>,
    work: (span: OpenSpan) => T,
  ): T {
    if (this.#spans.length >= MAX_STEPS) throw new RunStopped(`Stopped after ${MAX_STEPS} steps`, false);
    if (this.#nowMs - this.startMs > MAX_RUN_MS) {
      throw new RunStopped(`Run exceeded its time limit of ${MAX_RUN_MS / 1000} s`, true);
    }
    const span: OpenSpan = {
      id: this.random.uuid(),
      parentId: this.#open.at(-1)?.id,
      type,
      name,
      startMs: this.#nowMs,
      endMs: this.#nowMs,
      status: 'completed',
      ...details,
    };
    this.#spans.push(span);
    this.#open.push(span);
    try {
      return work(span);
    } catch (error) {
      if (error instanceof StepFailed || error instanceof RunStopped) {
        span.error = error.message;
        if (span.status === 'completed') {
          span.status = error instanceof RunStopped && error.isTimeout ? 'timed_out' : 'failed';
        }
      }
      throw error;
    } finally {
      this.#open.pop();
      span.endMs = this.#nowMs;
    }
  }

  #chat(call: ModelCall, model: Model): void {
    const messages = [
      ...(call.system === undefined ? [] : [{ role: 'system', content: call.system }]),
      { role: 'user', content: call.prompt },
    ];
    this.#span('llm', call.name ?? 'chat', { input: { messages } }, (span) => {
      span.metadata = { 'gen_ai.provider.name': model.provider };
      this.#meet(span, model.provider, (random) => modelFault(random, model));
      const sent = (call.system?.length ?? 0) + call.prompt.length;
      const context = (call.contextTokens ?? 0) * this.conditions.contextGrowth;
      const inputTokens = Math.ceil(sent / CHARACTERS_PER_TOKEN + this.random.logNormal(context + 12, 0.25));
      const written = Math.ceil(call.completion.length / CHARACTERS_PER_TOKEN);
      const outputTokens = written + Math.round(this.random.logNormal((call.reasoningTokens ?? 0) + 1, 0.4));
      this.pass(
        (model.firstTokenMs + (outputTokens * 1000) / model.tokensPerSecond) *
          this.conditions.slowdown(model.provider),
      );
      span.usage = {
        model: model.name,
        inputTokens,
        outputTokens,
        costMicros:
          model.inputPrice === null || model.outputPrice === null
            ? null
            : Math.round(inputTokens * model.inputPrice + outputTokens * model.outputPrice),
      };
      if (this.random.chance(DEFECT_RATE * (3 - 2 * this.conditions.quality))) {
        throw new StepFailed(this.random.pick(MODEL_DEFECTS), true);
      }
      span.output = { role: 'assistant', content: call.completion, finish_reason: 'stop' };
    });
  }

  /** Fails the call if the other end does. */
  #meet(span: OpenSpan, target: string, fault: (random: Random) => Fault): void {
    if (!this.random.chance(this.conditions.faultRate(target))) return;
    const { message, ms, isTimeout, status } = fault(this.random);
    this.#nowMs += ms;
    if (isTimeout) span.status = 'timed_out';
    if (status !== undefined) span.output = { status };
    throw new StepFailed(message);
  }

  #retry(attempts: number, work: () => void): void {
    for (let attempt = 1; ; attempt += 1) {
      try {
        work();
        return;
      } catch (error) {
        if (!(error instanceof StepFailed) || error.isPermanent || attempt === attempts) throw error;
        this.pass(BACKOFF_MS * 2 ** (attempt - 1), 0.2);
      }
    }
  }
}
