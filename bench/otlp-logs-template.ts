import type { Log } from '../src/otlp/wire/requests.js';
import type { BodyTemplate, RefreshContext } from './body-template.js';
import type { SampledTrace } from './load-plan.js';
import { attributes, encode, Placeholders, type Placeholder } from './otlp-body.js';
import { Random } from './random.js';

/** One request in this many contains the rare word. */
const RARE_EVERY = 100;
const SERVICES = ['checkout', 'billing', 'search', 'catalog', 'identity', 'mailer', 'agents', 'gateway'];
/** Severities with their share in percent. */
const SEVERITIES = [
  { number: 5, text: 'DEBUG', share: 15 },
  { number: 9, text: 'INFO', share: 70 },
  { number: 13, text: 'WARN', share: 10 },
  { number: 17, text: 'ERROR', share: 5 },
] as const;
/** Every fourth record ends with a unique id; every third belongs to a span. */
const WITH_REQUEST_ID = 4;
const WITH_SPAN = 3;

interface RecordPlaceholders {
  readonly time: Placeholder;
  readonly observed: Placeholder;
  readonly requestId: Placeholder | undefined;
  readonly traceId: Placeholder | undefined;
  readonly spanId: Placeholder | undefined;
}

/** An OTLP logs request in protobuf: several services, bodies of about 120 characters. */
export class OtlpLogsTemplate implements BodyTemplate {
  readonly bytes: Buffer;
  readonly items: number;
  readonly #records: RecordPlaceholders[] = [];
  /** Offset of the rare or usual word. */
  readonly #wordOffset: number;

  constructor(seed: string, records: number) {
    const random = new Random(seed);
    const placeholders = new Placeholders();
    const size = Math.ceil(records / SERVICES.length);
    const resourceLogs = SERVICES.flatMap((service, index) => {
      const [from, to] = [index * size, Math.min(records, (index + 1) * size)];
      if (from >= to) return [];
      const logRecords = Array.from({ length: to - from }, (_, at) =>
        this.#record(random, placeholders, from + at),
      );
      return [
        {
          resource: { attributes: attributes({ 'service.name': service, 'service.version': '3.2.0' }) },
          scopeLogs: [{ scope: { name: `${service}.logger` }, logRecords }],
        },
      ];
    });
    this.bytes = encode('logs', { resourceLogs });
    placeholders.locate(this.bytes);
    this.#wordOffset = this.bytes.indexOf(USUAL_WORD);
    this.items = records;
  }

  get units(): number {
    return this.items;
  }

  refresh(fresh: RefreshContext): void {
    const { ids, nanos } = fresh;
    this.bytes.write(fresh.number % RARE_EVERY === 0 ? RARE_WORD : USUAL_WORD, this.#wordOffset, 'latin1');
    this.#records.forEach(({ time, observed, requestId, traceId, spanId }, index) => {
      const ms = fresh.startMs(index / this.items, 0);
      nanos.write(this.bytes, time.offset, ms);
      nanos.write(this.bytes, observed.offset, ms);
      if (requestId) ids.writeHex(this.bytes, requestId, REQUEST_ID_DIGITS);
      if (traceId) ids.writeBytes(this.bytes, [traceId], 16);
      if (spanId) ids.writeBytes(this.bytes, [spanId], 8);
    });
  }

  sample(): SampledTrace | undefined {
    return undefined;
  }

  /** Creates a record and its placeholders, in the order of the protobuf fields. */
  #record(random: Random, placeholders: Placeholders, number: number): Log {
    const severity = random.weighted(SEVERITIES, ({ share }) => share);
    const time = placeholders.fixed64();
    const requestId = number % WITH_REQUEST_ID === 1 ? placeholders.text(REQUEST_ID_DIGITS) : undefined;
    const traceId = number % WITH_SPAN === 0 ? placeholders.bytes(16) : undefined;
    const spanId = traceId && placeholders.bytes(8);
    const observed = placeholders.fixed64();
    this.#records.push({
      time: time.placeholder,
      observed: observed.placeholder,
      requestId: requestId?.placeholder,
      traceId: traceId?.placeholder,
      spanId: spanId?.placeholder,
    });
    const line =
      number === 3 ? `the ${USUAL_WORD} was seen; ${logLine(random, number)}` : logLine(random, number);
    return {
      timeUnixNano: time.value,
      observedTimeUnixNano: observed.value,
      severityNumber: severity.number,
      severityText: severity.text,
      body: { stringValue: requestId ? `${line} [${requestId.value}]` : line },
      attributes: attributes({
        'code.function.name': 'handle',
        'thread.id': random.integer(1, 16),
        'app.tenant': `tenant-${random.integer(1, 50)}`,
        'http.route': `/v1/items/${random.integer(1, 9)}`,
      }),
      ...(traceId && { traceId: traceId.value }),
      ...(spanId && { spanId: spanId.value }),
    };
  }
}

/** A word in every tenth record. */
export const FREQUENT_WORD = 'timeout';
/** A word in one record of every hundredth request. It replaces {@link USUAL_WORD}, which is as long. */
export const RARE_WORD = 'quokka';
const USUAL_WORD = 'walrus';
/** Length of the request id at the end of some lines, in hex digits. */
const REQUEST_ID_DIGITS = 16;

const SUBJECTS = [
  'order',
  'payment',
  'invoice',
  'session',
  'shipment',
  'customer',
  'document',
  'ticket',
  'report',
];
const VERBS = [
  'accepted',
  'rejected',
  'queued',
  'loaded',
  'stored',
  'updated',
  'expired',
  'retried',
  'delivered',
];
const PLACES = [
  'cache',
  'database',
  'gateway',
  'scheduler',
  'worker',
  'broker',
  'index',
  'ledger',
  'archive',
];
const REASONS = [
  'because the upstream answered slowly',
  'after validation of the payload',
  'while the connection was being opened',
  'as the policy for this tenant says',
  'on behalf of the nightly batch',
  'since the model returned no tool call',
  'with the settings of the last release',
];
const OUTCOMES = [
  'nothing is left to do',
  'it will be tried again',
  'an operator was told',
  'the caller was answered',
];

/** Creates a line of about 120 characters. @param number position of the record in its request */
function logLine(random: Random, number: number): string {
  const subject = `${random.pick(SUBJECTS)} ${random.integer(1000, 99_999)}`;
  const word = number % 10 === 0 ? ` (${FREQUENT_WORD} of ${random.integer(1, 30)} s)` : '';
  const text = `${subject} ${random.pick(VERBS)} by ${random.pick(PLACES)}-${random.integer(1, 40)}${word} ${random.pick(REASONS)}`;
  return `${text}; ${random.pick(OUTCOMES)} in ${random.integer(1, 900)} ms`;
}
