import { endpointOfQuery } from '../../api/support/api.js';
import { isFeedbackOnly } from '../../auth/scopes.js';
import type { Component } from '../../component/component.js';
import type { Consumer, Receipt } from '../../component/consumer.js';
import type { Outputs, Settings } from '../../component/factory.js';
import type { Host } from '../../component/host.js';
import { HttpProblem } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import type { Counter } from '../../component/telemetry.js';
import { validationProblem } from '../../http/field-errors.js';
import { InFlight } from '../../http/in-flight.js';
import { createRouteBuilder } from '../../http/operation.js';
import { quotaHeaders, QUOTA_HEADERS } from '../../http/quota-headers.js';
import type { LogsBatch } from '../../signal/batch.js';
import { itemAt } from '../../signal/checked.js';
import type { ScoresConfig } from './config.js';
import { brokenRules, scoreRecords, ScoresReplySchema, ScoresSchema } from './wire-format.js';

const NOTHING_TAKEN: Receipt = { accepted: 0, refused: [] };
const ENDPOINT = '127.0.0.1:4319';
const RETRY_AFTER_SECONDS = '1';

/** Receiver `scores`: see README.md. */
export class ScoresReceiver implements Component {
  readonly #settings: Settings<ScoresConfig>;
  readonly #next: Consumer<LogsBatch> | undefined;
  readonly #inFlight: InFlight;
  readonly #refusedRequests: Counter;
  #isDraining = false;

  constructor(settings: Settings<ScoresConfig> & { readonly outputs: Outputs }) {
    const { config, meter, outputs } = settings;
    this.#settings = settings;
    this.#next = outputs.logs;
    this.#inFlight = new InFlight({ requests: config.max_requests_in_flight, bytes: Infinity });
    this.#refusedRequests = meter.counter('scores_refused_requests_total', {
      description:
        'Requests refused because max_requests_in_flight was reached or the daemon was shutting down.',
      labelNames: ['receiver', 'code'],
    });
  }

  async start(host: Host): Promise<void> {
    const { config, clock } = this.#settings;
    const listener = host.listener(config.endpoint ?? endpointOfQuery(host) ?? ENDPOINT);
    this.#inFlight.shareOut(host.userLimits.share);
    listener.route(
      createRouteBuilder(host)
        .route(sendScores)
        .to(async ({ identity: { userId, keyId, scopes }, body: { scores }, request }) => {
          this.#refuseWhenBusy(userId);
          const isPublic = isFeedbackOnly(scopes);
          const receivedAt = clock.now();
          const errors = brokenRules(scores, isPublic, receivedAt);
          if (errors.length > 0) throw validationProblem('body', errors);
          const { records, ids } = scoreRecords(scores, receivedAt, isPublic ? keyId : null);
          const leave = this.#inFlight.enter(userId, 0);
          try {
            const { refused, usage } =
              records.length === 0 || this.#next === undefined
                ? NOTHING_TAKEN
                : await this.#next.consume(
                    { tenant: userId, items: [...records] },
                    { receivedAt, keyId, abort: request.abort },
                  );
            const rejected = refused.map(({ index, reason }) => ({ id: itemAt(ids, index), error: reason }));
            const json = {
              accepted: ids.length - rejected.length,
              rejected: rejected.length,
              ids: [...ids],
              errors: rejected,
            };
            return { status: 200, json, headers: isPublic ? {} : quotaHeaders(usage) };
          } finally {
            leave();
          }
        }),
    );
  }

  async shutdown(deadline: AbortSignal): Promise<void> {
    this.#isDraining = true;
    await this.#inFlight.idle(deadline);
  }

  #refuseWhenBusy(userId: string): void {
    if (this.#isDraining)
      this.#refuse('shutting_down', 'The daemon is shutting down; send the request again.');
    if (this.#inFlight.isFull(userId, 0))
      this.#refuse('overloaded', 'Too many requests are waiting for the store; send this one again later.');
  }

  #refuse(code: 'shutting_down' | 'overloaded', detail: string): never {
    this.#refusedRequests.add(1, { receiver: this.#settings.id, code });
    throw new HttpProblem(503, code, detail, { headers: { 'retry-after': RETRY_AFTER_SECONDS } });
  }
}

const sendScores = {
  id: 'sendScores',
  method: 'POST',
  path: '/api/v1/scores',
  tag: 'scores',
  summary: 'Send scores of runs, spans, responses or sessions',
  description:
    'A score may arrive before the run that it judges. It is stored as a log record of the event `gen_ai.evaluation.result`, so it passes ' +
    'the processors of its pipeline and counts for the quota. A repeat changes nothing; a score with the id of an earlier one replaces ' +
    `it. A key of scope \`feedback\` can do nothing else and may be part of a web page: its scores have the source \`user\`, replace only its own, and cannot be named \`success\`.`,
  access: 'feedback',
  audit: { none: 'Data intake.' },
  body: ScoresSchema,
  headers: { response: QUOTA_HEADERS },
  responses: { 200: ScoresReplySchema },
  errors: [429],
} as const satisfies Operation;
