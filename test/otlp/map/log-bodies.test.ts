import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { isUuid } from '../../../src/signal/ids.js';
import { decodeJson } from '../../../src/otlp/decode/json.js';
import { logsToRecords } from '../../../src/otlp/map/logs-to-records.js';
import { requestTypes } from '../../../src/otlp/wire/messages.js';
import type { Log } from '../../../src/otlp/wire/requests.js';
import { itemAt } from '../../../src/signal/checked.js';
import type { LogRecord } from '../../../src/signal/log-record.js';
import { startApi } from '../../support/api.js';
import { without } from '../../storage/duckdb/shown-spans.js';
import { projectFolder, readProjectFile } from '../../support/project-file.js';

const FOLDER = 'test/testdata/otlp-logs';
const NOON = Date.UTC(2026, 0, 15, 12) * 1000;

/** A request in OTLP/JSON and the expected API response. */
interface Golden {
  readonly request: object;
  /** In full detail except ids, newest first. */
  readonly records: readonly object[];
}

interface Found {
  readonly count: number;
  readonly items: readonly (object & { readonly id: string })[];
}

void t.test('the API returns the sent bodies in both encodings', async (t) => {
  const api = await startApi(t);
  for (const file of readdirSync(join(projectFolder(), FOLDER))) {
    const golden = JSON.parse(readProjectFile(join(FOLDER, file))) as Golden;
    const request = decodeJson('logs', structuredClone(golden.request));
    for (const [encoding, body] of [
      ['json', JSON.stringify(golden.request)],
      ['x-protobuf', new Uint8Array(requestTypes.logs.encode(request).finish())],
    ] as const) {
      const { key } = await api.createUser(`${file}@${encoding}`, ['read', 'write']);
      await fetch(`${api.url}/api/v1/otlp/v1/logs`, {
        method: 'POST',
        headers: { 'content-type': `application/${encoding}`, authorization: `Bearer ${key}` },
        body,
      });
      const found = await api.get<Found>('/dashboard/logs/search?details=true', key);
      t.equal(found.count, golden.records.length, `${file} in ${encoding}`);
      t.ok(found.items.every(({ id }) => isUuid(id)));
      t.strictSame(
        found.items.map((record) => without(record, 'id')),
        golden.records,
      );
    }
  }
});

void t.test('a record without time gets its arrival time, and an empty record is kept', (t) => {
  const { batch, rejected } = logsToRecords(
    { resourceLogs: [{ scopeLogs: [{ logRecords: [{}, { observedTimeUnixNano: '0' }] }] }, {}] },
    { tenant: 'a-user', receivedAt: NOON },
  );
  t.strictSame(rejected, []);
  t.equal(batch.items.length, 2);
  for (const record of batch.items) {
    t.match(record, {
      timestamp: NOON,
      observed_at: null,
      severity: 'info',
      body: null,
      trace_id: null,
      attributes: {},
      origin: { resource: {}, scope: null, serviceName: '' },
    });
  }
  t.end();
});

void t.test('ids follow the order of records in a request', (t) => {
  const logRecords = Array.from({ length: 10_000 }, () => ({}));
  const { batch } = logsToRecords(
    { resourceLogs: [{ scopeLogs: [{ logRecords }] }] },
    { tenant: 'a-user', receivedAt: NOON },
  );
  const ids = batch.items.map(({ id }) => id);
  t.strictSame(ids, [...ids].sort());
  t.equal(new Set(ids).size, ids.length);
  t.ok(ids.every((id) => isUuid(id) && id[14] === '7'));
  t.end();
});

void t.test('knows the severity names of other loggers', (t) => {
  const expected = {
    trace: ['FINEST', 'T', 'TRC', '10'],
    debug: ['FINER', 'FINE', 'CONFIG', 'D', 'dbg', 'DEBUG5', 'DEBUG-4', '20', '7'],
    info: ['I', 'N', 'notice', 'Informational', 'INFO+2', '30', '5', '6', 'unheard of', '99', '-3'],
    warn: ['W', 'wrn', ' warning ', '40', '4'],
    error: ['SEVERE', 'E', 'err', '50', '3', 'ERROR3'],
    fatal: ['F', 'crit', 'emerg', 'alert', 'panic', 'FTL', '60', '0', '1', '2'],
  };
  for (const [severity, texts] of Object.entries(expected))
    for (const severityText of texts) t.equal(recordOf({ severityText }).severity, severity, severityText);
  t.equal(recordOf({ severityText: 'SEVERE', severityNumber: 9 }).severity, 'info', 'the number counts');
  t.end();
});

void t.test('trace context in attributes fills empty fields', (t) => {
  const [trace, span] = ['b0b0000000000017a000000000000017', '0000001700000001'];
  const uuids = {
    trace_id: 'b0b00000-0000-0017-a000-000000000017',
    span_id: 'a0000000-0000-0017-0000-001700000001',
  };
  const none = { trace_id: null, span_id: null };
  const cases: readonly (readonly [Record<string, string>, object])[] = [
    [
      { trace_id: trace, span_id: span, trace_flags: '01' },
      { ...uuids, flags: 1 },
    ],
    [
      { traceId: trace.toUpperCase(), spanId: span },
      { ...uuids, flags: 0 },
    ],
    [{ 'trace.id': uuids.trace_id }, { ...none, trace_id: uuids.trace_id }],
    [
      { trace_id: 'a request', span_id: span, trace_flags: 'ff00' },
      { ...none, flags: 0 },
    ],
    [{ trace_id: '0'.repeat(32), span_id: span }, none],
  ];
  for (const [attributes, expected] of cases)
    t.match(
      recordOf({ attributes: pairs(attributes) }),
      { ...expected, attributes },
      JSON.stringify(attributes),
    );
  const own = { traceId: Buffer.alloc(16, 1), spanId: Buffer.alloc(8, 2), flags: 0 };
  t.match(recordOf({ ...own, attributes: pairs({ trace_id: trace, span_id: span, trace_flags: '01' }) }), {
    trace_id: '01010101-0101-0101-0101-010101010101',
    span_id: '01010101-0101-0101-0202-020202020202',
    flags: 0,
  });
  t.end();
});

function pairs(attributes: Record<string, string>) {
  return Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } }));
}

/** The record of an OTLP log record. */
function recordOf(log: Log): LogRecord {
  const { batch } = logsToRecords(
    { resourceLogs: [{ scopeLogs: [{ logRecords: [log] }] }] },
    { tenant: 'a-user', receivedAt: NOON },
  );
  return itemAt(batch.items, 0);
}
