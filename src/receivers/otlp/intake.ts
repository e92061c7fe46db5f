import { isOwnersError, Tenants, type Sender } from '../../auth/tenants.js';
import type { Outputs, Settings } from '../../component/factory.js';
import { ConsumeError } from '../../component/consume-error.js';
import { HttpProblem } from '../../component/http.js';
import type { ConsumeContext, QuotaUsage, Receipt, Refusal } from '../../component/consumer.js';
import type { Host } from '../../component/host.js';
import type { Copies, IntakeThreads, Original, Outcome, RequestInThread } from '../../component/intake.js';
import type { Rejections } from '../../component/rejections.js';
import type { Clock, Counter } from '../../component/telemetry.js';
import { durationMs } from '../../config/duration.js';
import type { Rejection } from '../../otlp/wire/export-response.js';
import { OtlpDecodeError } from '../../otlp/decode/decode-error.js';
import { AgentNames } from '../../otlp/map/agent-names.js';
import { loggedRuns } from './logged-runs.js';
import { logsToRecords } from '../../otlp/map/logs-to-records.js';
import { metricsToPoints } from '../../otlp/map/metrics-to-points.js';
import { SpanMapper } from '../../otlp/map/span-record.js';
import { decoderOf } from '../../otlp/map/decode-raw.js';
import { spansToTraces } from '../../otlp/map/spans-to-traces.js';
import type { Provenance } from '../../otlp/map/provenance.js';
import type { Mapped } from '../../otlp/wire/requests.js';
import type { Batches, TelemetrySignal } from '../../signal/batch.js';
import type { DecodeRequest, RawBatch } from '../../signal/raw-batch.js';
import type { Micros } from '../../signal/time.js';
import type { OtlpConfig } from './config.js';
import { bufferOf, unpack, type PackedRequest, type Received, type ReceivedRequests } from './decode.js';
import { problemOf } from './failure.js';
import { Owners } from './owners.js';
import { Remembered, type Memory } from './remembered.js';
import { BATCH_ID_HEADER, batchIdProblem } from '../../otlp/wire/batch-id.js';

/** Maximum number of reasons in a response; further ones are only counted. */
const MAX_REASONS = 5;

type Mappers = {
  readonly [S in TelemetrySignal]: (
    request: ReceivedRequests[S],
    about: { readonly tenant: string; readonly receivedAt: Micros },
  ) => Mapped<Batches[S]>;
};

interface IntakeSettings extends Settings<OtlpConfig> {
  readonly outputs: Outputs;
  readonly provenance?: Provenance;
}

/** A request for an intake thread. */
interface PackedTake {
  readonly packed: PackedRequest;
  readonly userId: string;
  readonly context: ConsumeContext;
}

/** The outcome of an accepted request. */
export interface Taken {
  /** Undefined if everything was accepted; without items, a warning. */
  readonly rejection: Rejection | undefined;
  /** The sender's quota usage, if it has a quota. */
  readonly usage: QuotaUsage | undefined;
}

/** Turns decoded requests into records, and hands them to the pipelines. */
export class Intake {
  readonly #id: string;
  readonly #outputs: Outputs;
  readonly #clock: Clock;
  readonly #rejected: Counter;
  readonly #mappers: Mappers;
  readonly #decode: DecodeRequest;
  readonly #remembered: Remembered;
  #rejections: Pick<Rejections, 'note'> | undefined;
  #threads: IntakeThreads | undefined;
  #copies: Copies | undefined;
  readonly #tenants: Tenants | undefined;
  readonly #owners: Owners | undefined;

  /** @param settings.provenance records how spans are mapped, to explain the stored values */
  constructor({ id, config, clock, meter, outputs, provenance }: IntakeSettings) {
    this.#id = id;
    this.#outputs = outputs;
    this.#clock = clock;
    this.#tenants = config.tenant && new Tenants(config.tenant, id, clock);
    this.#owners = this.#tenants && new Owners(this.#tenants);
    this.#rejected = meter.counter('otlp_rejected_items_total', {
      description:
        'Spans, metric points and log records rejected by the mapping, before they reach a pipeline.',
      labelNames: ['receiver', 'signal'],
    });
    const waits = {
      idleTimeoutMs: durationMs(config.idle_timeout) || null,
      orphanWaitMs: durationMs(config.orphan_wait) || null,
    };
    const mapper = new SpanMapper(new AgentNames(config.agent_names), provenance);
    this.#decode = decoderOf(waits, mapper);
    this.#remembered = new Remembered(mapper.failedParts);
    this.#mappers = {
      traces: (request, about) => spansToTraces(request, { ...about, ...waits }, mapper),
      metrics: metricsToPoints,
      logs: logsToRecords,
    };
  }

  /** @throws Error if `tenant` needs a control store that does not run */
  start(host: Host): void {
    this.#rejections = host.rejections;
    this.#threads = host.intake;
    this.#copies = host.copies;
    this.#remembered.share((learned) => {
      host.copies?.send(learned);
    });
    this.#tenants?.start(host);
  }

  startCopy(original: Original): void {
    this.#rejections = original.rejections;
    this.#remembered.share((learned) => {
      original.call(learned).catch(() => undefined);
    });
  }

  /** On the main thread: adds what a copy has learned. */
  answerCopy(message: object): void {
    const learned = message as Memory;
    this.#remembered.add(learned);
    // Otherwise, only the copy that sent them needs the traced runs.
    const traced = this.#copies?.areExchanged === true ? learned.traced : [];
    if (learned.failures.length + traced.length > 0) this.#copies?.send({ ...learned, traced });
  }

  stateForCopy(): object {
    return this.#remembered.all();
  }

  onMessage(message: object): void {
    this.#remembered.add(message as Memory);
  }

  close(): void {
    this.#tenants?.close();
  }

  /** @throws HttpProblem 404 for a signal that no pipeline takes from this receiver */
  require(signal: TelemetrySignal): void {
    if (this.#outputs[signal]) return;
    throw new HttpProblem(
      404,
      'not_found',
      `No pipeline takes ${signal} from this receiver: list "${this.#id}" under receivers in a pipeline for ${signal}.`,
    );
  }

  /**
   * Resolves when the pipeline has accepted the items that were not rejected.
   *
   * @param request decoded synchronously, so that its memory can be freed while waiting for the response; only checked if the
   *   pipeline forwards it unchanged
   * @param about.begin called when processing begins; throws to refuse the request
   * @param about.abort aborted when the client disconnects
   * @param about.batchId the client's id of the batch; a repeat adds nothing
   * @throws HttpProblem 404 without a pipeline; ConsumeError if the pipeline accepted nothing
   */
  async take<S extends TelemetrySignal>(
    signal: S,
    request: Received<S>,
    sender: Sender,
    about: {
      readonly abort: AbortSignal;
      readonly batchId?: string | undefined;
      readonly begin?: () => void;
    },
  ): Promise<Taken> {
    const { abort, batchId, begin = () => undefined } = about;
    const { userId, keyId } = sender;
    this.require(signal);
    const named = batchId !== undefined && { batch: { id: batchId } };
    const context = { receivedAt: this.#clock.now(), keyId, ...named };
    if (this.#owners !== undefined) {
      begin();
      return await this.#takeForOwners(this.#owners, signal, {
        request,
        sender,
        context: { ...context, abort },
      });
    }
    const { pack } = request;
    if (pack === undefined || this.#threads === undefined || !this.#isTaken(signal, this.#threads)) {
      begin();
      return await this.#takeHere(signal, request, userId, { ...context, abort });
    }
    const packed = pack();
    const buffer = bufferOf(packed);
    const message: PackedTake = { packed, userId, context };
    // The runs of log events depend on earlier events.
    const task = { signal, userId, keyId, abort, bytes: buffer.byteLength, begin };
    return await this.#threads.run<Taken>({
      ...task,
      isPinned: signal === 'logs',
      message,
      transfer: [buffer],
    });
  }

  /** Each user's part is a request of its own: one user's limit does not stop another's data. */
  async #takeForOwners<S extends TelemetrySignal>(
    owners: Owners,
    signal: S,
    {
      request,
      sender,
      context,
    }: { readonly request: Received<S>; readonly sender: Sender; readonly context: ConsumeContext },
  ): Promise<Taken> {
    const { owned, rejected } = await owners.split<S>(request.decode(), sender, context);
    this.#noteRejected(signal, sender.userId, rejected);
    const taking = owned.map((part) =>
      this.#takeHere(signal, { decode: () => part.request }, part.userId, part.context),
    );
    const results = await Promise.allSettled(taking);
    const [only] = results;
    if (only !== undefined && results.length === 1 && rejected.length === 0) {
      if (only.status === 'rejected') throw only.reason;
      return only.value;
    }
    return mergeOwned(
      results.map((result, at) => ({ result, items: owned[at]?.items ?? 0 })),
      rejected,
    );
  }

  /** In an intake thread: takes a request of the intake on the main thread. @throws HttpProblem, ConsumeError */
  async work(message: object, request: RequestInThread): Promise<Taken> {
    const { packed, userId, context } = message as PackedTake;
    const { trail } = request;
    try {
      return await this.#takeHere(packed.signal, unpack(packed), userId, { ...context, trail }, request);
    } catch (error) {
      // The class of other errors is lost on the way.
      throw error instanceof OtlpDecodeError ? problemOf(error).problem : error;
    }
  }

  /** The answer to a request whose thread has ended. @param draft from there */
  respondFor(draft: object, outcome: Outcome): Taken {
    return takenOf(draft as Draft, outcome);
  }

  /** Log events become traces, so they go where traces go. */
  #isTaken(signal: TelemetrySignal, threads: IntakeThreads): boolean {
    const isAlone = signal !== 'logs' || this.#outputs.traces === undefined;
    return threads.takes(signal) && (isAlone || threads.takes('traces'));
  }

  async #takeHere<S extends TelemetrySignal>(
    signal: S,
    request: Received<S>,
    userId: string,
    context: ConsumeContext,
    steps: Steps = HERE,
  ): Promise<Taken> {
    const { rejected, weights, runs, answer } = this.#send(signal, request, userId, { ...context, steps });
    const outcome = (await answer) ?? NOTHING_REFUSED;
    return takenOf({ rejected, weights, made: await runs }, outcome);
  }

  /** Sends the raw request to the pipeline if it is forwarded, else its records. Keeps neither while the pipeline works. */
  #send<S extends TelemetrySignal>(
    signal: S,
    request: Received<S>,
    tenant: string,
    { steps, ...context }: ConsumeContext & { readonly steps: Steps },
  ): Sent {
    const output = this.#outputs[signal];
    const passthrough = output?.passthrough;
    const raw = passthrough && this.#rawOf(request, tenant);
    if (raw) {
      const { items, spans } = raw.request;
      const answer = items === 0 ? undefined : passthrough.consume(raw, context);
      return { rejected: [], weights: spans, answer };
    }
    const { batch, rejected } = this.#mappers[signal](request.decode(), { ...context, tenant });
    this.#noteRejected(signal, tenant, rejected);
    if (batch.items.length === 0 || output === undefined)
      return { rejected, weights: weightsOf(signal, batch), answer: undefined };
    const weights = weightsOf(signal, batch);
    const runs = signal === 'logs' ? this.#runsIn(batch as Batches['logs'], context) : undefined;
    const send = async (made?: RunsOfEvents): Promise<Receipt> => {
      steps.draft({ rejected, weights, made } satisfies Draft);
      return output.consume(batch, context);
    };
    const answer = runs === undefined ? send() : runs.then((made) => steps.resume(async () => send(made)));
    return { rejected, weights, runs, answer };
  }

  #noteRejected(signal: TelemetrySignal, tenant: string, rejected: readonly string[]): void {
    if (rejected.length === 0) return;
    this.#rejected.add(rejected.length, { receiver: this.#id, signal });
    const items = rejected.map((error) => ({ trace_id: null, error }));
    this.#rejections?.note(tenant, { receiver: this.#id, signal, code: 'validation_failed', items });
  }

  /**
   * Sends the runs in log events to the pipelines of traces. They come before the records: if they cannot be stored, the
   * client repeats both, and a repeated span adds nothing. If they are refused for good, the records are stored without them.
   *
   * @returns undefined if there are none, or no pipeline takes them
   */
  #runsIn({ tenant, items }: Batches['logs'], context: ConsumeContext): Promise<RunsOfEvents> | undefined {
    const { traces } = this.#outputs;
    const request = traces && loggedRuns(items, this.#remembered.tracedRuns(tenant));
    if (traces === undefined || request === undefined) return undefined;
    const { batch, rejected } = this.#mappers.traces(request, { ...context, tenant });
    this.#noteRejected('traces', tenant, rejected);
    const refusalOf = (reason: string): string => `runs of log events: ${reason}`;
    if (batch.items.length === 0) return Promise.resolve({ warnings: rejected.map(refusalOf) });
    // The id of the batch names the log records.
    const { receivedAt, keyId, abort } = context;
    const sent = traces.consume(batch, {
      receivedAt,
      ...(keyId !== undefined && { keyId }),
      ...(abort && { abort }),
    });
    return sent.then(
      ({ refused, usage }) => {
        const reasons = [...rejected, ...firstRefusals(refused).values()];
        return { warnings: reasons.map(refusalOf), usage };
      },
      (error: unknown) => {
        if (!(error instanceof ConsumeError) || error.retryable) throw error;
        return {
          warnings: [...rejected, problemOf(error).problem.message].map(refusalOf),
          usage: error.usage,
        };
      },
    );
  }

  /** @returns undefined if the request has to be decoded to be checked */
  #rawOf({ plain }: Received<TelemetrySignal>, tenant: string): RawBatch | undefined {
    const found = plain?.() ?? null;
    if (found === null) return undefined;
    const { bytes, spans } = found;
    const mostSpans = spans.reduce((most, count) => Math.max(most, count), 0);
    const totalSpans = spans.reduce((sum, count) => sum + count, 0);
    const request = { form: 'plain', bytes, items: spans.length, spans, totalSpans, mostSpans } as const;
    return { kind: 'raw', tenant, request, decode: this.#decode };
  }
}

/** The steps in which a request is processed. */
type Steps = Pick<RequestInThread, 'draft' | 'resume'>;

/** On the main thread. */
const HERE: Steps = { draft: () => undefined, resume: async (step) => step() };
const NOTHING_REFUSED: Outcome = { refused: [] };

/** What is known of a response before the answer of the pipeline. */
interface Draft {
  /** The items rejected by the mapping. */
  readonly rejected: readonly string[];
  /** Weight of each item if it is refused; null: one each. */
  readonly weights: readonly number[] | null;
  readonly made?: RunsOfEvents | undefined;
}

function takenOf({ rejected, weights, made }: Draft, outcome: Outcome): Taken {
  const refused = [...firstRefusals(outcome.refused)];
  const count = refused.reduce((sum, [index]) => sum + (weights?.[index] ?? 1), rejected.length);
  const reasons = [...rejected, ...refused.map(([, reason]) => reason), ...(made?.warnings ?? [])];
  return {
    rejection: reasons.length === 0 ? undefined : { count, reason: summarize(reasons) },
    usage: outcome.usage ?? made?.usage,
  };
}

/** A request that was sent to a pipeline. */
interface Sent extends Pick<Draft, 'rejected' | 'weights'> {
  /** The runs made of log events, if there are any. */
  readonly runs?: Promise<RunsOfEvents> | undefined;
  /** Undefined if no item was left for the pipeline. */
  readonly answer: Promise<Receipt> | undefined;
}

/** The outcome of the runs made of log events. */
interface RunsOfEvents {
  /** Why some or all were refused; the log records count as accepted. */
  readonly warnings: readonly string[];
  readonly usage?: QuotaUsage | undefined;
}

/** The number of spans in each item of a batch of traces, at least 1; null for other signals. */
function weightsOf(signal: TelemetrySignal, batch: Batches[TelemetrySignal]): readonly number[] | null {
  if (signal !== 'traces') return null;
  return (batch as Batches['traces']).items.map(({ spans }) => Math.max(1, spans.length));
}

/** If several exporters refuse an item, the first reason counts. */
function firstRefusals(refused: readonly Refusal[]): ReadonlyMap<number, string> {
  const reasons = new Map<number, string>();
  for (const { index, id, reason } of refused)
    if (!reasons.has(index)) reasons.set(index, id === undefined ? reason : `${id}: ${reason}`);
  return reasons;
}

/**
 * The answer to a request with data of several users. What exceeds a limit of its user, or is refused for good, is rejected alone.
 *
 * @throws the first other error, after which the sender repeats the request; the first error if nothing was accepted
 */
function mergeOwned(
  parts: readonly { readonly result: PromiseSettledResult<Taken>; readonly items: number }[],
  rejected: readonly string[],
): Taken {
  let count = rejected.length;
  const reasons = [...rejected];
  const errors: unknown[] = [];
  for (const { result, items } of parts) {
    if (result.status === 'fulfilled') {
      const { rejection } = result.value;
      if (rejection === undefined) continue;
      count += rejection.count;
      reasons.push(rejection.reason);
      continue;
    }
    const error: unknown = result.reason;
    if (!isOwnersError(error)) throw error;
    errors.push(error);
    count += items;
    reasons.push(problemOf(error).problem.message);
  }
  if (errors.length > 0 && errors.length === parts.length && rejected.length === 0) throw errors[0];
  // No usage: the sender may not see the quotas of others.
  return {
    rejection: reasons.length === 0 ? undefined : { count, reason: summarize(reasons) },
    usage: undefined,
  };
}

function summarize(reasons: readonly string[]): string {
  const distinct = [...new Set(reasons)];
  const shown = distinct.slice(0, MAX_REASONS).join('; ');
  const more = distinct.length - MAX_REASONS;
  return more > 0 ? `${shown}; and ${more} more` : shown;
}

/** The client's id of a batch; undefined if missing. @throws HttpProblem 400 for an invalid id */
export function batchIdOf(request: {
  readonly header: (name: string) => string | undefined;
}): string | undefined {
  const header = request.header(BATCH_ID_HEADER);
  if (header === undefined) return undefined;
  const problem = batchIdProblem(header);
  if (problem !== undefined) throw new HttpProblem(400, 'invalid_request', `${problem}.`);
  return header;
}
